//! Graphs with input and output types of their own.

use std::marker::PhantomData;

use super::Run;
use crate::error::AgentError;
use crate::graph::CompiledStateGraph;
use crate::node::Output;
use crate::state::State;

/// A graph with input and output types of its own. The rest of its state is private.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Work {
///     question: String,
///     notes: Vec<String>, // private
///     answer: String,
/// }
///
/// struct Question(String);
/// struct Answer(String);
///
/// impl From<Question> for WorkUpdate {
///     fn from(question: Question) -> Self {
///         WorkUpdate::default().question(question.0)
///     }
/// }
///
/// impl From<Work> for Answer {
///     fn from(work: Work) -> Self {
///         Answer(work.answer)
///     }
/// }
///
/// #[node]
/// async fn think(work: &Work) -> WorkUpdate {
///     let note = format!("they ask: {}", work.question);
///     WorkUpdate::default().notes(vec![note]).answer("42".to_owned())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let graph = graph! { START => think => END }.compile()?.with_io::<Question, Answer>();
/// let Answer(text) = graph.invoke(Question("why?".to_owned())).await?;
/// assert_eq!(text, "42");
/// # Ok(())
/// # }
/// ```
pub struct IoGraph<S: State, I, O> {
    graph: CompiledStateGraph<S>,
    types: PhantomData<fn(I) -> O>,
}

impl<S: State> CompiledStateGraph<S> {
    /// Returns the graph with input and output types of its own.
    pub fn with_io<I, O>(&self) -> IoGraph<S, I, O>
    where
        I: Into<S::Update>,
        O: From<S>,
    {
        IoGraph {
            graph: self.clone(),
            types: PhantomData,
        }
    }
}

impl<S, I, O> IoGraph<S, I, O>
where
    S: State,
    I: Into<S::Update>,
    O: From<S>,
{
    /// Runs the graph on `input` and returns its output.
    ///
    /// # Errors
    ///
    /// As [`CompiledStateGraph::invoke`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the running nodes. Nothing continues in the background.
    pub async fn invoke(&self, input: I) -> Result<O, AgentError> {
        Ok(self.run(input).await?.finished()?.into())
    }

    /// Runs the graph on `input` with options. The outcome holds the whole state, and
    /// [`output`](Self::output) converts it to the output.
    pub fn run(&self, input: I) -> Run<S> {
        self.graph.run(Output::update(input.into()))
    }

    /// Converts a state to the output.
    pub fn output(&self, state: S) -> O {
        state.into()
    }

    /// Returns the graph with its whole state as input and output.
    pub fn graph(&self) -> &CompiledStateGraph<S> {
        &self.graph
    }
}

impl<S: State, I, O> Clone for IoGraph<S, I, O> {
    fn clone(&self) -> Self {
        Self {
            graph: self.graph.clone(),
            types: PhantomData,
        }
    }
}

impl_debug!([S: State, I, O] IoGraph<S, I, O>, |graph| graph = graph.graph);
