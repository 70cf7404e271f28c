//! Updates that also set fields without their reducers.

use super::{Command, IntoOutput, Output};
use crate::error::NodeError;
use crate::state::{State, Write, Writes};

/// An update that also sets fields without their reducers.
///
/// `FooUpdate::overwrite_x(..)` returns it, for each field `x` with a reducer. A node that returns it
/// follows its edges; [`Command`] also names targets.
///
/// # Examples
///
/// ```
/// use langgraph::node::Overwriting;
/// use langgraph::prelude::*;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Rag {
///     question: String,
///     #[reducer(append)]
///     documents: Vec<String>,
///     #[reducer(append)]
///     log: Vec<String>,
/// }
///
/// /// Asks anew, without the documents of the last question.
/// #[node]
/// async fn rewrite(state: &Rag) -> Overwriting<Rag> {
///     RagUpdate::default()
///         .question(format!("{}?", state.question))
///         .log(vec![format!("dropped {}", state.documents.len())])
///         .overwrite_documents(vec![])
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let graph = graph! { START => rewrite => END }.compile()?;
/// let state = graph.invoke(RagUpdate::default().documents(vec!["a".to_owned()])).await?;
/// assert!(state.documents.is_empty());
/// assert_eq!(state.log, ["dropped 1"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "an update changes nothing until a node returns it"]
pub struct Overwriting<S: State> {
    writes: Writes<S>,
}

impl<S: State> Overwriting<S> {
    /// Merges `update`, if there is one, then sets the fields of `overwrite`.
    pub fn new(update: impl Into<Option<S::Update>>, overwrite: S::Update) -> Self {
        let mut writes = Writes::None;
        if let Some(update) = update.into() {
            writes.push(Write::Update(update));
        }
        writes.push(Write::Overwrite(overwrite));
        Self { writes }
    }

    /// Also merges `update`, after what is there.
    pub fn and_update(mut self, update: S::Update) -> Self {
        self.writes.push(Write::Update(update));
        self
    }

    /// Also sets the fields of `overwrite`, after what is there.
    pub fn and_overwrite(mut self, overwrite: S::Update) -> Self {
        self.writes.push(Write::Overwrite(overwrite));
        self
    }
}

impl_debug!([S: State] Overwriting<S>, |update| writes = update.writes.len());

impl<S: State> IntoOutput<S> for Overwriting<S> {
    fn into_output(self) -> Result<Output<S>, NodeError> {
        Ok(Output::writing(self.writes))
    }
}

impl<S: State> From<Overwriting<S>> for Command<S> {
    fn from(update: Overwriting<S>) -> Self {
        Self::writing(update.writes)
    }
}
