//! Nodes: what runs in a graph, what it is given, and what it answers.

mod annotated;
mod cache;
mod cancel;
mod command;
mod configured;
mod context;
mod debug;
mod error;
mod function;
mod future;
mod guard;
mod handler;
mod id;
mod input;
mod interrupt;
mod middleware;
mod once;
mod output;
mod panic;
mod persistence;
mod policies;
mod policy;
mod pulse;
mod resources;
mod router;
mod scope;
mod send;
mod step;
mod stored;
mod subgraph;
#[cfg(feature = "tracing")]
mod trace;
mod unfilled_join;
mod worker;

#[doc(hidden)]
pub use annotated::{Checked, KnowsAnswer, Returns, ReturnsNoAnswer};
pub use cache::{CacheFuture, CacheKey, CachePolicy, CachedOutput, InMemoryCache, NodeCache};
pub use cancel::CancelToken;
pub use command::{Command, IntoTargets, Next, Target};
pub use configured::{ConfiguredNode, NodeExt};
pub use context::Context;
pub use debug::{DebugNode, StateLog};
pub use error::NodeError;
pub use function::{Agent, IntoNode, Node};
pub use future::{NodeFuture, NodeMeta, NodeRun, OwnedFuture};
pub use handler::{ErrorHandler, NodeFailure};
pub use input::IntoInput;
pub use interrupt::{Answer, Interrupt, Interrupted};
pub use middleware::{FnMiddleware, Middleware, NodeCall, middleware};
pub use once::{OnceKey, OnceRecord};
pub use output::{IntoOutput, Output, Write};
pub use persistence::Persistence;
pub use policies::NodeDefaults;
pub use policy::{NodeTimeout, RetryPolicy, TimeoutKind, is_transient};
pub use resources::{MissingResource, Resources};
pub use router::{IntoRouter, RouterRun};
pub use send::{Item, Send, WorkerRef};
#[cfg(feature = "tracing")]
pub use trace::TraceNodes;
pub use unfilled_join::UnfilledJoin;
pub use worker::{ConfiguredWorker, IntoWorker, Worker, worker};

pub(crate) use annotated::Annotated;
pub(crate) use command::{Jump, ParentCommand};
pub(crate) use function::{NodeRef, NodeRefCx, NodeVal, NodeValCx};
pub(crate) use id::NodeId;
pub(crate) use interrupt::Questions;
pub(crate) use output::Writes;
pub(crate) use panic::{Panicked, catch, caught, contained};
pub(crate) use persistence::OnlyCall;
pub(crate) use policies::{Around, Policies};
pub(crate) use scope::{Place, Scope, Shared, below, kept};
pub(crate) use send::{Argument, ErasedItem, StoredItem};
pub(crate) use step::{Call, Step};
pub(crate) use stored::{Lent, state, whole};
pub(crate) use subgraph::{
    AnyState, Fork, Forking, FoundTask, GraphNode, InnerGraph, InnerLog, Look, Looking, Wanted,
};
