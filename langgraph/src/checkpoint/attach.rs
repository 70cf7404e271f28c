//! Which savers can store which states.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Checkpointer, MemorySaver};
use crate::state::{State, StateCodec};

/// A saver that a graph over `S` accepts:
/// [`graph.checkpointer(saver)`](crate::CompiledStateGraph::checkpointer).
///
/// A saver of bytes requires that the state's update is `Serialize` and `DeserializeOwned`; a saver
/// of values accepts any state. An `Arc<dyn Checkpointer>` counts as a saver of bytes.
///
/// # Examples
///
/// A saver of bytes; a saver of values omits the bounds and returns [`Attached::values`]:
///
/// ```
/// # use langgraph::checkpoint::*;
/// # use langgraph::error::CheckpointError;
/// use std::sync::Arc;
/// use langgraph::State;
/// use langgraph::checkpoint::{Attach, Attached};
/// use serde::{Serialize, de::DeserializeOwned};
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
/// impl<S> Attach<S> for Files
/// where
///     S: State,
///     S::Update: Serialize + DeserializeOwned,
/// {
///     fn attach(self: Arc<Self>) -> Attached<S> {
///         Attached::bytes(self)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a saver that a graph over `{S}` can take",
    label = "expected an `Arc` of a saver",
    note = "a saver implements `Checkpointer` and `Attach<S>`"
)]
pub trait Attach<S: State>: Checkpointer {
    /// Returns the saver, with how it stores the state.
    fn attach(self: Arc<Self>) -> Attached<S>;
}

/// A saver, with how it stores a state `S`: the result of [`Attach::attach`].
pub struct Attached<S: State> {
    pub(crate) saver: Arc<dyn Checkpointer>,
    pub(crate) codec: Option<StateCodec<S>>,
}

impl<S: State> Attached<S> {
    /// Attaches a saver of values.
    pub fn values(saver: Arc<dyn Checkpointer>) -> Self {
        Self { saver, codec: None }
    }

    /// Attaches a saver of bytes.
    pub fn bytes(saver: Arc<dyn Checkpointer>) -> Self
    where
        S::Update: Serialize + DeserializeOwned,
    {
        let codec = Some(StateCodec::serde());
        Self { saver, codec }
    }
}

impl_debug!([S: State] Attached<S>, |attached| as_bytes = attached.codec.is_some());

impl<S> Attach<S> for dyn Checkpointer
where
    S: State,
    S::Update: Serialize + DeserializeOwned,
{
    fn attach(self: Arc<Self>) -> Attached<S> {
        Attached::bytes(self)
    }
}

impl<S: State> Attach<S> for MemorySaver {
    fn attach(self: Arc<Self>) -> Attached<S> {
        Attached::values(self)
    }
}
