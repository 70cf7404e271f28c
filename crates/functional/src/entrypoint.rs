//! Entrypoints: graphs that are functions.

use std::future::Future;

use langgraph::graph::{ConfiguredNode, IntoNode, NodeExt, StateGraph};
use langgraph::node::{IntoOutput, Output};
use langgraph::prelude::*;

use crate::keys::Keys;

/// A graph that is a function; [`#[entrypoint]`](macro@crate::entrypoint) implements it.
pub trait Entrypoint: Sized + Send + Sync + 'static {
    /// The name, as threads, events and pictures show it.
    const NAME: &'static str;

    /// The arguments, a tuple.
    type Arguments;

    /// The state: the arguments, the result, and what the thread keeps for the next run.
    type State: State + Default;

    /// Returns the update that a run begins with: the arguments.
    fn begin(arguments: Self::Arguments) -> <Self::State as State>::Update;

    /// Runs the function.
    fn run(
        state: &Self::State,
        cx: &Context,
    ) -> impl Future<Output = Result<<Self::State as State>::Update, NodeError>> + Send;

    /// Adds what threads remember of it by a key, as far as it is known: its tasks, and its interrupts and theirs.
    #[doc(hidden)]
    fn keys(_: &mut Keys) {}

    /// Adds the options of the entrypoint.
    fn configure(node: ConfiguredNode<Self::State>) -> ConfiguredNode<Self::State>;
}

/// The input of a run: what the function returns when it is called with its arguments.
#[must_use = "an entrypoint does nothing until its graph runs: pass the call to `run` or `invoke`"]
pub struct EntrypointCall<E: Entrypoint>(E::Arguments);

impl<E: Entrypoint> EntrypointCall<E> {
    #[doc(hidden)]
    pub fn new(arguments: E::Arguments) -> Self {
        Self(arguments)
    }
}

impl<E: Entrypoint> std::fmt::Debug for EntrypointCall<E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("EntrypointCall").field(&E::NAME).finish()
    }
}

impl<E: Entrypoint> IntoOutput<E::State> for EntrypointCall<E> {
    fn into_output(self) -> Result<Output<E::State>, NodeError> {
        Ok(Output::update(E::begin(self.0)))
    }
}

/// Compiles entrypoints.
pub trait EntrypointExt<A, E: Entrypoint> {
    /// Makes the function a graph.
    ///
    /// # Errors
    ///
    /// As [`StateGraph::compile`].
    fn compile(&self) -> Result<CompiledStateGraph<E::State>, CompilationErrors> {
        let mut graph = StateGraph::new();
        let mut keys = Keys::default();
        E::keys(&mut keys);
        let node = E::configure(perform::<E>.into_node()).keys(keys.found);
        graph.add_node(E::NAME, node).add_sequence(&[E::NAME]);
        graph.compile()
    }
}

async fn perform<E: Entrypoint>(
    state: &E::State,
    cx: &Context,
) -> Result<<E::State as State>::Update, NodeError> {
    E::run(state, cx).await
}

macro_rules! functions {
    ($(($($argument:ident),*))*) => {$(
        impl<F, E, $($argument),*> EntrypointExt<($($argument,)*), E> for F
        where
            E: Entrypoint,
            F: Fn($($argument),*) -> EntrypointCall<E>,
        {
        }
    )*};
}

functions!(()(A)(A, B)(A, B, C)(A, B, C, D)(A, B, C, D, G)(
    A, B, C, D, G, H
));
