//! Changes a subgraph from outside.

use std::sync::Arc;

use super::copy::copy_logs;
use crate::checkpoint::CheckpointId;
use crate::error::AgentError;
use crate::error::SubgraphError;
use crate::log::RunGuard;
use crate::state::State;
use crate::thread::update::Change;
use crate::thread::{SubgraphPlace, Thread};

impl<S: State> Thread<S> {
    /// Applies a change to a subgraph. If the thread would not continue this call, it changes a
    /// copy of the parent's checkpoint.
    pub(in crate::thread) async fn change_inside(
        &self,
        inside: &SubgraphPlace,
        change: Change<S>,
        guard: &Arc<RunGuard>,
    ) -> Result<CheckpointId, AgentError> {
        let saver = self.saver()?;
        let (thread, path) = (self.id.clone(), inside.path.to_string());
        let mut way = self.resolve(inside).await?;
        let Some(found) = way.found.take() else {
            return Err(SubgraphError::NotStarted { thread, path }.into());
        };
        let log = self.open_inside(inside, found)?;
        if !self.is_kept() && saver.head(&log.key).await?.is_none() {
            return Err(SubgraphError::NotStarted { thread, path }.into());
        }
        let resources = std::mem::take(&mut way.resources);
        if self.is_kept() || way.pending().is_some() {
            let made = log
                .change((&log.key, self.at), resources, change, guard)
                .await?;
            way.run_again(saver).await?;
            return Ok(made);
        }
        if !inside.path.names_checkpoint() {
            return Err(SubgraphError::Ended { thread, path }.into());
        }
        let copied = copy_logs(saver, &way, &inside.path, &log.key, self.at).await?;
        let Some(copied) = copied else {
            return Err(SubgraphError::Ended { thread, path }.into());
        };
        // The thread comes last: until then the logs below its copy are not visible.
        let made = async {
            let made = log
                .change((copied.key(), self.at), resources, change, guard)
                .await?;
            inside.root.fork(saver, &self.id, copied.fork).await?;
            Ok(made)
        };
        let made = made.await;
        if made.is_err() {
            copied.remove(saver).await;
        }
        made
    }
}
