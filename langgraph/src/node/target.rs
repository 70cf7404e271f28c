//! Where a router or a jump can lead.

use std::fmt;

use super::Send;
use crate::state::State;
use langgraph_topology::NodeName;

/// One target of a jump.
#[derive(Clone)]
pub enum Target<S: State> {
    /// A node, or [`END`](crate::END).
    Node(NodeName),
    /// A new task.
    Send(Send<S>),
}

impl<S: State> fmt::Debug for Target<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Node(name) => write!(f, "{name}"),
            Self::Send(send) => fmt::Debug::fmt(send, f),
        }
    }
}

/// A type that a router or a `goto` may return: a node's name, [`END`](crate::END), a [`Send`], or a list of
/// these.
///
/// An empty list has no target.
#[diagnostic::on_unimplemented(
    message = "this does not say where to go",
    label = "expected a node's name, `END`, a `Send`, or a list of these"
)]
pub trait IntoTargets<S: State> {
    /// Returns the targets in order.
    fn into_targets(self) -> Vec<Target<S>>;
}

macro_rules! names {
    ($($ty:ty)*) => {$(
        impl<S: State> IntoTargets<S> for $ty {
            fn into_targets(self) -> Vec<Target<S>> {
                vec![Target::Node(AsRef::<str>::as_ref(&self).into())]
            }
        }
    )*};
}

names!(&str String &String NodeName &NodeName);

impl<S: State> IntoTargets<S> for Target<S> {
    fn into_targets(self) -> Vec<Target<S>> {
        vec![self]
    }
}

impl<S: State> IntoTargets<S> for Send<S> {
    fn into_targets(self) -> Vec<Target<S>> {
        vec![Target::Send(self)]
    }
}

impl<S: State, T: IntoTargets<S>> IntoTargets<S> for Vec<T> {
    fn into_targets(self) -> Vec<Target<S>> {
        self.into_iter()
            .flat_map(IntoTargets::into_targets)
            .collect()
    }
}

impl<S: State, T: IntoTargets<S>> IntoTargets<S> for Option<T> {
    fn into_targets(self) -> Vec<Target<S>> {
        self.map_or_else(Vec::new, IntoTargets::into_targets)
    }
}

impl<S: State, T: IntoTargets<S>, const N: usize> IntoTargets<S> for [T; N] {
    fn into_targets(self) -> Vec<Target<S>> {
        self.into_iter()
            .flat_map(IntoTargets::into_targets)
            .collect()
    }
}
