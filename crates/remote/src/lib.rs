//! Agents that call each other: envelopes, transports, and nodes that run elsewhere.
//!
//! Two graphs are never wired together. One of them has a [`RemoteNode`]: a name in the graph, the
//! id of the agent, and a binding, which makes a request from the state and an update from the
//! reply. A [`Transport`] carries the request and returns the reply. [`serve`] turns a graph into
//! an agent. The state holds business fields only. The [`AgentEnvelope`]s say who asked whom, and
//! match replies with requests.
//!
//! ```
//! use std::sync::Arc;
//! use langgraph::prelude::*;
//! use langgraph_remote::prelude::*;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Clone, Default, Serialize, Deserialize)]
//! struct MailRequest {
//!     to: String,
//! }
//!
//! #[derive(Clone, Default)]
//! struct Assistant {
//!     user_message: String,
//!     mail_request: Option<MailRequest>,
//!     mail_result: Option<String>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // The mail agent, a graph of its own.
//! let mut mail = StateGraph::<Plain<MailRequest>>::new();
//! mail.add_node("send", |_: &Plain<MailRequest>| {}).add_sequence(&["send"]);
//! let mail = serve(
//!     mail.compile()?,
//!     |request: MailRequest| Plain(request),
//!     |state| format!("sent to {}", state.to),
//! );
//!
//! // The assistant, which knows the mail agent by name only.
//! let mut assistant = StateGraph::<Plain<Assistant>>::new();
//! assistant
//!     .add_node("parse", |state: Plain<Assistant>| {
//!         let to = state.user_message.strip_prefix("mail ").map(str::to_owned);
//!         Plain(Assistant { mail_request: to.map(|to| MailRequest { to }), ..state.0 })
//!     })
//!     .add_remote_node(
//!         "mail_agent",
//!         "mail",
//!         |state: &Plain<Assistant>| state.mail_request.clone(),
//!         |result: String| Plain(Assistant { mail_result: Some(result), ..Assistant::default() }),
//!     )
//!     .add_sequence(&["parse", "mail_agent"]);
//! let assistant = assistant.compile()?;
//!
//! let network = LocalNetwork::new();
//! network.register("mail", mail);
//! let network: Arc<dyn Transport> = Arc::new(network);
//!
//! let input = Assistant { user_message: "mail Ann".to_owned(), ..Assistant::default() };
//! let state = assistant.run(Plain(input)).resource(network).await?.finished()?;
//! assert_eq!(state.mail_result.as_deref(), Some("sent to Ann"));
//! # Ok(())
//! # }
//! ```
//!
//! # Transports
//!
//! [`LocalNetwork`] connects agents inside a process. A transport over a network writes [`Frame`]s
//! or envelopes and tracks its open requests in a [`Correlator`]; [`StreamAssembler`] reassembles
//! streamed messages.
//!
//! # Features
//!
//! - `otel` (off by default): traces of OpenTelemetry that span processes.

mod assemble;
mod bill;
mod boundary;
mod content;
mod correlate;
mod deadline;
mod envelope;
mod error;
mod ext;
mod frame;
mod id;
mod interrupt;
mod local;
mod node;
#[cfg(feature = "otel")]
pub mod otel;
mod propagate;
mod recent;
mod reply;
mod serve;
mod trace;
mod transport;

/// The attribute for an `impl` of [`Transport`], whose methods are `async fn`.
pub use async_trait::async_trait;

pub use langgraph_budget::{Allotment, Allowance, Amounts};
#[doc(no_inline)]
#[doc(hidden)]
pub use langgraph_core::debug_is_message;

pub use assemble::{Assembled, StreamAssembler, StreamError, StreamLimits};
pub use boundary::InvokeBoundary;
pub use content::StreamContent;
pub use correlate::{CorrelationError, Correlator};
pub use deadline::Deadline;
pub use envelope::{AgentEnvelope, EnvelopeBody, ErrorCode};
pub use error::RemoteError;
pub use ext::RemoteExt;
pub use frame::{Frame, FrameError, FrameKind};
pub use id::{AgentId, ConversationId, RequestId, StreamId};
pub use interrupt::{OpenInterrupt, RemotePause};
pub use local::{AgentHandler, LocalNetwork};
pub use node::{BoundRemoteNode, RemoteNode};
pub use propagate::{Propagation, set_propagation};
pub use reply::{Replies, ReplyEnding, ReplyStream};
pub use serve::{ServedGraph, serve};
pub use trace::TraceContext;
pub use transport::Transport;

/// What most programs import: `use langgraph_remote::prelude::*;`, beside that of `langgraph`.
///
/// It holds the remote nodes, the network inside a process, and [`serve`].
pub mod prelude {
    pub use crate::{
        AgentId, InvokeBoundary, LocalNetwork, RemoteExt, RemoteNode, Transport, serve,
    };
}
