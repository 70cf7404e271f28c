//! Remote nodes, on the builder.

use langgraph::graph::StateGraph;
use langgraph::node::IntoOutput;
use langgraph::state::State;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{AgentId, RemoteNode};

/// Adds remote nodes to a [`StateGraph`].
///
/// The prelude brings it: `use langgraph_remote::prelude::*;`.
pub trait RemoteExt<S: State>: sealed::Sealed {
    /// Adds a remote node. It calls `agent` through the `dyn Transport` among the resources.
    /// `extract` makes the request from the state; `apply` makes the node's output from the reply.
    ///
    /// For a transport of its own, a time limit or retries, add a [`RemoteNode`] with
    /// [`add_node`](StateGraph::add_node).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::graph::NodeKind;
    /// use langgraph::prelude::*;
    /// use langgraph_remote::prelude::*;
    /// use langgraph_remote::{AgentEnvelope, EnvelopeBody};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut graph = StateGraph::<String>::new();
    /// graph
    ///     .add_remote_node("shout", "shouter", |s: &String| Some(s.clone()), |s: String| s)
    ///     .add_sequence(&["shout"]);
    /// assert_eq!(
    ///     graph.topology().nodes[0].kind,
    ///     NodeKind::Remote { agent: "shouter".to_owned() }
    /// );
    ///
    /// let network = LocalNetwork::new();
    /// network.register("shouter", |request: AgentEnvelope| async move {
    ///     let text: String = request.payload().unwrap_or_default();
    ///     EnvelopeBody::Complete(text.to_uppercase().into())
    /// });
    /// graph.resource::<dyn Transport>(Arc::new(network));
    /// assert_eq!(graph.compile()?.invoke("hi".to_owned()).await?, "HI");
    /// # Ok(())
    /// # }
    /// ```
    fn add_remote_node<Q, R, O>(
        &mut self,
        name: impl AsRef<str>,
        agent: impl Into<AgentId>,
        extract: impl Fn(&S) -> Option<Q> + Send + Sync + 'static,
        apply: impl Fn(R) -> O + Send + Sync + 'static,
    ) -> &mut Self
    where
        Q: Serialize,
        R: DeserializeOwned,
        O: IntoOutput<S>;
}

mod sealed {
    pub trait Sealed {}
}

impl<S: State> sealed::Sealed for StateGraph<S> {}

impl<S: State> RemoteExt<S> for StateGraph<S> {
    fn add_remote_node<Q, R, O>(
        &mut self,
        name: impl AsRef<str>,
        agent: impl Into<AgentId>,
        extract: impl Fn(&S) -> Option<Q> + Send + Sync + 'static,
        apply: impl Fn(R) -> O + Send + Sync + 'static,
    ) -> &mut Self
    where
        Q: Serialize,
        R: DeserializeOwned,
        O: IntoOutput<S>,
    {
        self.add_node(name, RemoteNode::by_resource(agent).bind(extract, apply))
    }
}
