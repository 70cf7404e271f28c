//! How savers store values.

use std::sync::Arc;

use super::{Checkpointer, MemorySaver};

/// A saver that a graph accepts:
/// `graph.checkpointer(Arc::new(saver))`.
///
/// It says how it stores values. A saver of [`Bytes`] requires that the state's update is
/// `Serialize` and `DeserializeOwned`, which the compiler checks where the saver is attached; a
/// saver of [`Values`] accepts any state. An `Arc<dyn Checkpointer>` counts as a saver of bytes.
///
/// # Examples
///
/// ```
/// # use langgraph::checkpoint::*;
/// # use langgraph::error::CheckpointError;
/// use std::sync::Arc;
/// use langgraph::checkpoint::{Bytes, Checkpointer, Saver};
/// # use langgraph::async_trait;
/// # struct Files(Formats);
/// # #[async_trait]
/// # impl Checkpointer for Files {
/// #     fn formats(&self) -> Option<&Formats> { Some(&self.0) }
/// #     async fn put(&self, _: &ThreadKey, _: Batch) -> Result<(), CheckpointError> { Ok(()) }
/// #     async fn load(&self, _: &ThreadKey, _: Option<CheckpointId>)
/// #         -> Result<Option<Chain>, CheckpointError> { Ok(None) }
/// #     async fn head(&self, _: &ThreadKey) -> Result<Option<Head>, CheckpointError> { Ok(None) }
/// #     async fn list(&self, _: &ThreadKey, _: ListOptions)
/// #         -> Result<Vec<CheckpointId>, CheckpointError> { Ok(Vec::new()) }
/// # }
///
/// impl Saver for Files {
///     type Stores = Bytes;
///
///     fn into_dyn(self: Arc<Self>) -> Arc<dyn Checkpointer> {
///         self
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a saver",
    label = "expected an `Arc` of a saver",
    note = "a saver implements `Checkpointer` and `Saver`"
)]
pub trait Saver: Checkpointer {
    /// How it stores values: as [`Bytes`] or as [`Values`].
    type Stores;

    /// Returns `self`, without its type.
    fn into_dyn(self: Arc<Self>) -> Arc<dyn Checkpointer>;
}

/// Marks savers that store values as bytes: [`Checkpointer::formats`] returns their formats.
#[derive(Debug)]
pub enum Bytes {}

/// Marks savers that store values as they are: [`Checkpointer::formats`] returns `None`.
#[derive(Debug)]
pub enum Values {}

impl Saver for dyn Checkpointer {
    type Stores = Bytes;

    fn into_dyn(self: Arc<Self>) -> Arc<dyn Checkpointer> {
        self
    }
}

impl Saver for MemorySaver {
    type Stores = Values;

    fn into_dyn(self: Arc<Self>) -> Arc<dyn Checkpointer> {
        self
    }
}
