//! The futures of this module.

use std::pin::Pin;

/// The future of work that does not depend on the state. Boxed, it is compiled once: what awaits it is compiled for each
/// state, and would be with all of it.
pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
