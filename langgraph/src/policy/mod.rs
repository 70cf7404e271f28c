//! Policies of nodes, and how they stack.
//!
//! From the outside in, the layers around a node are: its cache, its error handler, its retries,
//! its middleware and its time limits. A node without policies runs without these layers.

mod cache;
mod error_handler;
mod in_memory_cache;
mod limits;
mod middleware;
mod policies;
mod retry;
mod stack;
mod surrounded;
#[cfg(feature = "tracing")]
mod trace;

pub(crate) use cache::Cached;
pub use cache::{CacheKey, CachePolicy, CachedOutput, NodeCache};
pub use error_handler::{ErrorHandler, NodeFailure};
pub use in_memory_cache::InMemoryCache;
pub use middleware::{FnMiddleware, Middleware, NodeCall, middleware};
pub use policies::NodeDefaults;
pub(crate) use policies::Policies;
pub use retry::RetryPolicy;
pub(crate) use stack::Stack;
pub(crate) use surrounded::Surrounded;
#[cfg(feature = "tracing")]
pub use trace::TraceNodes;
