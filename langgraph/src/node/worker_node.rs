//! Workers with a type of their own.

use super::{Context, Item, NeededResource, NodeRun};
use crate::state::State;

/// A worker with a type of its own: it holds what it needs, such as a model.
///
/// `#[node]` on an `impl` block writes it, for a method that takes the item first.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Review {
///     files: Vec<String>,
///     #[reducer(append)]
///     remarks: Vec<String>,
/// }
///
/// struct Reviewer {
///     name: String,
/// }
///
/// #[node]
/// impl Reviewer {
///     async fn run(&self, file: String, _: &Review) -> ReviewUpdate {
///         ReviewUpdate::default().remarks(vec![format!("{}: {file} is fine", self.name)])
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let graph = graph! {
///     let review = Reviewer { name: "ada".into() };
///
///     START => for file in |review: &Review| review.files.clone() { review(file) } => END;
/// };
/// let files = ReviewUpdate::default().files(vec!["lib.rs".into()]);
/// assert_eq!(graph.compile()?.invoke(files).await?.remarks, ["ada: lib.rs is fine"]);
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "this is not a worker that takes `{T}` in a graph over `{S}`",
    label = "not a worker that takes `{T}`"
)]
pub trait WorkerNode<S: State, T: Item>: Send + Sync + 'static {
    /// Runs the worker on an item.
    fn run<'a>(&'a self, item: T, state: &'a S, cx: &'a Context) -> NodeRun<'a, S>;

    /// Returns true if the output can name the next node; as [`Node::may_goto`](super::Node::may_goto).
    fn may_goto(&self) -> bool {
        false
    }

    /// Returns a description of the worker, for drawings.
    fn docs(&self) -> Option<&str> {
        None
    }

    /// Returns the fields that the worker writes whenever it succeeds, if it declares them.
    fn writes(&self) -> Option<&[&str]> {
        None
    }

    /// Returns the resources that the worker always asks for; as [`Node::needs`](super::Node::needs).
    fn needs(&self) -> Vec<NeededResource> {
        Vec::new()
    }
}
