//! Nodes: the trait, the context, and the types that nodes take and return.

mod agent;
mod annotated;
pub(crate) mod cancel;
mod catch;
mod command;
mod context;
mod each_item;
mod finished_calls;
mod future;
mod graph_path;
mod heartbeat;
mod id;
mod input;
mod needed_resource;
#[allow(clippy::module_inception)] // the trait has the name of the module
mod node;
mod once;
mod once_key;
mod output;
mod overwriting;
pub(crate) mod persistence;
mod recorded;
pub(crate) mod report;
mod resources;
mod router;
mod run_bounds;
mod scope;
mod send;
mod step;
mod stored;
mod subgraph;
mod target;
mod worker;
mod worker_node;

pub use agent::{Agent, AgentGraph};
#[doc(hidden)]
pub use annotated::{Checked, Returns, ReturnsNoAnswer};
pub use command::{Command, Next};
pub use context::{Context, ContextOptions, DetachedContext};
pub use each_item::EachItem;
pub use future::{NodeFuture, NodeMeta, NodeRun, OwnedFuture};
pub use input::IntoInput;
pub use needed_resource::NeededResource;
pub use node::Node;
pub use once_key::OnceKey;
pub use output::{IntoOutput, Output};
#[doc(hidden)]
pub use output::{NamesTargets, Targets};
pub use overwriting::Overwriting;
pub use resources::Resources;
pub use router::{IntoRouter, RouterRun};
pub use send::{Item, Send, WorkerRef};
pub use target::{IntoTargets, Target};
pub use worker::Worker;
pub use worker_node::WorkerNode;

pub(crate) use annotated::Annotated;
pub(crate) use cancel::CancelToken;
pub(crate) use catch::{Catch, catch, caught};
pub(crate) use command::{Jump, ParentCommand};
pub(crate) use each_item::{EachStep, Items};
pub(crate) use finished_calls::{FinishedCall, FinishedCalls};
pub(crate) use graph_path::GraphPath;
pub(crate) use heartbeat::Heartbeat;
pub(crate) use id::NodeId;
pub(crate) use persistence::{OnlyCall, Persistence};
pub(crate) use report::{Reporter, TaskReport};
pub(crate) use run_bounds::{Exit, PlanBound, RunBounds};
pub(crate) use scope::{Metadata, Scope, Shared};
pub(crate) use send::{Argument, ErasedItem, StoredItem, item};
pub(crate) use step::{Call, Step};
pub(crate) use stored::{state, whole};
pub(crate) use subgraph::{
    AnyState, Fork, ForkFuture, FoundTask, GraphNode, InnerFuture, InnerGraph, InnerLog, NeededBy,
    SnapshotQuery, TaskChoice, TaskQuery,
};
