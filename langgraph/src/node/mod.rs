//! Nodes: the trait, the context, and the types that nodes take and return.

mod agent;
mod annotated;
mod cancel;
mod command;
mod context;
mod each_item;
mod future;
mod heartbeat;
mod id;
mod input;
#[allow(clippy::module_inception)] // the trait has the name of the module
mod node;
mod once;
mod output;
mod persistence;
mod report;
mod resources;
mod router;
mod scope;
mod send;
mod step;
mod stored;
mod subgraph;
mod worker;

pub use crate::error::{Interrupted, NodeError, Panicked};
pub(crate) use crate::error::{catch, caught};
pub use crate::state::write::Write;
pub use agent::{Agent, AgentGraph};
#[doc(hidden)]
pub use annotated::{Checked, KnowsAnswer, Returns, ReturnsNoAnswer};
pub use cancel::CancelToken;
pub use command::{Command, IntoTargets, Next, Target};
pub use context::{Context, ContextOptions, DetachedContext};
pub use each_item::EachItem;
pub use future::{NodeFuture, NodeMeta, NodeRun, OwnedFuture};
pub use input::IntoInput;
pub use langgraph_core::checkpoint::{Answer, Interrupt, OnceRecord, UnfilledJoin};
pub use node::Node;
pub use once::OnceKey;
pub use output::{IntoOutput, Output};
pub use persistence::Persistence;
pub use report::{Reported, Reporter, TaskReport};
pub use resources::{MissingResource, Resources};
pub use router::{IntoRouter, RouterRun};
pub use send::{Item, Send, WorkerRef};
pub use worker::Worker;

pub(crate) use crate::checkpoint::Questions;
pub(crate) use crate::state::write::Writes;
pub(crate) use annotated::Annotated;
pub(crate) use command::{Jump, ParentCommand};
pub(crate) use each_item::{EachStep, Items};
pub(crate) use heartbeat::Heartbeat;
pub(crate) use id::NodeId;
pub(crate) use persistence::OnlyCall;
pub(crate) use scope::{Scope, Shared};
pub(crate) use send::{Argument, ErasedItem, StoredItem, item};
pub(crate) use step::{Call, Step};
pub(crate) use stored::{state, whole};
pub(crate) use subgraph::{
    AnyState, Fork, ForkFuture, FoundTask, GraphNode, InnerFuture, InnerGraph, InnerLog,
    SnapshotQuery, TaskQuery,
};
