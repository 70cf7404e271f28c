//! The answers of routers.

use crate::node::{Context, RouterRun, Target};
use crate::state::State;

/// The routes that a router's answer means.
#[derive(Clone)]
pub(crate) enum Routes<S: State> {
    /// The arm at that index of the branch.
    Arm(usize),
    /// These targets.
    Targets(Vec<Target<S>>),
    /// Several of these.
    Several(Vec<Routes<S>>),
}

/// The answers of a node's routers, in their order; most nodes have at most one.
#[derive(Clone, Default)]
pub(crate) enum Routed<S: State> {
    #[default]
    None,
    One(Routes<S>),
    Many(Vec<Routes<S>>),
}

impl<S: State> Routed<S> {
    /// The answer of an only router that picked an arm.
    pub(crate) const fn arm(arm: usize) -> Self {
        Self::One(Routes::Arm(arm))
    }

    /// Returns the arm that the only router picked.
    pub(crate) const fn only_arm(&self) -> Option<usize> {
        match self {
            Self::One(Routes::Arm(arm)) => Some(*arm),
            _ => None,
        }
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    pub(crate) fn as_slice(&self) -> &[Routes<S>] {
        match self {
            Self::None => &[],
            Self::One(routes) => std::slice::from_ref(routes),
            Self::Many(answers) => answers,
        }
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [Routes<S>] {
        match self {
            Self::None => &mut [],
            Self::One(routes) => std::slice::from_mut(routes),
            Self::Many(answers) => answers,
        }
    }

    pub(crate) fn into_vec(self) -> Vec<Routes<S>> {
        match self {
            Self::None => Vec::new(),
            Self::One(routes) => vec![routes],
            Self::Many(answers) => answers,
        }
    }
}

impl<S: State> From<Vec<Routes<S>>> for Routed<S> {
    fn from(mut answers: Vec<Routes<S>>) -> Self {
        match answers.len() {
            0 => Self::None,
            1 => answers.pop().map_or(Self::None, Self::One),
            _ => Self::Many(answers),
        }
    }
}

/// A router with its answer's type erased.
pub(crate) trait ErasedRouter<S: State>: Send + Sync {
    fn call<'a>(&'a self, state: &'a S, cx: &'a Context) -> RouterCall<'a, S>;
}

/// The result of a call of a router. It fits into two registers.
pub(crate) enum RouterCall<'a, S: State> {
    /// The arm that it picked. Most routers know it at once, so nothing has to be awaited,
    /// unwrapped or dropped.
    Arm(usize),
    /// Anything else.
    Run(Box<RouterRun<'a, Routes<S>>>),
}

impl<'a, S: State> RouterCall<'a, S> {
    /// Takes the arm, if it is known at once.
    #[inline]
    pub(super) fn of(run: RouterRun<'a, Routes<S>>) -> Self {
        // Inspected in place: reading as a whole what was just written in parts is slow.
        if let Some(Ok(Routes::Arm(arm))) = run.answer() {
            let arm = *arm;
            // The number of an arm owns nothing. Dropping it is a call that finds this out.
            std::mem::forget(run);
            return Self::Arm(arm);
        }
        Self::Run(Box::new(run))
    }
}
