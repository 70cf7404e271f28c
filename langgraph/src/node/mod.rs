//! Nodes: what runs in a graph, what it is given, and what it answers.

mod command;
mod configured;
mod context;
mod error;
mod function;
mod future;
mod guard;
mod interrupt;
mod output;
mod policy;
mod resources;
mod router;
mod scope;
mod send;
mod step;
mod worker;

pub use command::{Command, IntoTargets, Next, Target};
pub use configured::{ConfiguredNode, NodeExt};
pub use context::Context;
pub use error::NodeError;
pub use function::{Agent, IntoNode, Node};
pub use future::{NodeFuture, NodeMeta, NodeRun, OwnedFuture};
pub use interrupt::{Interrupt, Interrupted};
pub use output::{IntoOutput, Output, Write};
pub use policy::{NodeTimeout, RetryPolicy, TimeoutKind};
pub use resources::{MissingResource, Resources};
pub use router::{IntoRouter, RouterRun};
pub use send::{Item, Send, WorkerRef};
pub use worker::{ConfiguredWorker, IntoWorker, Worker, worker};

pub(crate) use command::{Jump, ParentCommand};
pub(crate) use interrupt::{Answer, Questions};
pub(crate) use output::Writes;
pub(crate) use scope::{Scope, Shared};
pub(crate) use send::{Argument, ErasedItem};
pub(crate) use step::{Call, Step};
