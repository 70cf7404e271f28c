//! A model as the resource of a graph or a run.

use std::sync::Arc;

use langgraph::error::MissingResource;
use langgraph::graph::CompiledStateGraph;
use langgraph::node::Context;
use langgraph::run::Run;
use langgraph::state::State;

use crate::ChatModel;

/// Gives a graph, or one run, the model that its nodes ask for with [`cx.model()`](ContextModel::model).
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::prelude::*;
/// use langgraph_agent::{MessagesState, MessagesStateUpdate, ScriptedModel};
///
/// #[node]
/// async fn answer(state: &MessagesState, cx: &Context) -> Result<MessagesStateUpdate, NodeError> {
///     let reply = cx.model()?.invoke(&state.messages, cx).await?;
///     Ok(MessagesStateUpdate::default().messages(vec![reply]))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let graph = graph! { START => answer => END }.compile()?.model(ScriptedModel::new(["hello"]));
/// let state = graph.invoke(MessagesStateUpdate::default().messages(vec![Message::user("hi")])).await?;
/// assert_eq!(state.messages[1].text(), "hello");
/// # Ok(())
/// # }
/// ```
pub trait WithModel: Sized {
    /// Sets the model. That of a run takes precedence over that of its graph.
    #[must_use]
    fn model(self, model: impl ChatModel + 'static) -> Self;
}

impl<S: State> WithModel for CompiledStateGraph<S> {
    fn model(self, model: impl ChatModel + 'static) -> Self {
        self.resource::<dyn ChatModel>(Arc::new(model))
    }
}

impl<S: State> WithModel for Run<S> {
    fn model(self, model: impl ChatModel + 'static) -> Self {
        self.resource::<dyn ChatModel>(Arc::new(model))
    }
}

/// The model of a node's run.
pub trait ContextModel {
    /// Returns the model of the run or the graph; see [`WithModel`].
    ///
    /// # Errors
    ///
    /// [`MissingResource`] if neither has one.
    fn model(&self) -> Result<&dyn ChatModel, MissingResource>;
}

impl ContextModel for Context {
    fn model(&self) -> Result<&dyn ChatModel, MissingResource> {
        self.resource::<dyn ChatModel>()
    }
}
