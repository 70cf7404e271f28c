//! Prunes a log.

use std::collections::HashSet;

use super::Keep;
use super::log_view::LogView;
use crate::checkpoint::{Administration, CheckpointId, ListOptions, Prune, ThreadKey};
use crate::error::{AgentError, CheckpointError};
use crate::log::{load_chain, load_list};
use crate::state::State;

/// How often a log is pruned anew when another run has changed it meanwhile.
const ATTEMPTS: usize = 10;

impl<S: State> LogView<S> {
    /// Removes old checkpoints of all branches of the log, and returns their number.
    pub(super) async fn prune(&self, keep: Keep) -> Result<usize, AgentError> {
        self.prune_before(keep, None).await
    }

    /// As [`prune`](Self::prune), for a graph under `PerThread`; all checkpoints of its pending call
    /// stay.
    pub(super) async fn prune_but(
        &self,
        keep: Keep,
        call: Option<&str>,
    ) -> Result<usize, AgentError> {
        let first = match call {
            None => None,
            Some(call) => self.first_of(call).await?,
        };
        self.prune_before(keep, first).await
    }

    /// Returns the first checkpoint of the call, if the head belongs to this call.
    async fn first_of(&self, call: &str) -> Result<Option<CheckpointId>, AgentError> {
        let (mut first, mut at) = (None, None);
        loop {
            let Some(chain) = load_chain(&*self.saver, &self.key, at).await? else {
                return Ok(first);
            };
            for stored in chain.records.iter().rev() {
                if stored.checkpoint.call.as_deref() != Some(call) {
                    return Ok(first);
                }
                first = Some(stored.checkpoint.id);
            }
            at = chain
                .records
                .first()
                .and_then(|stored| stored.checkpoint.parent);
            if at.is_none() {
                return Ok(first);
            }
        }
    }

    async fn prune_before(
        &self,
        keep: Keep,
        first: Option<CheckpointId>,
    ) -> Result<usize, AgentError> {
        let administration = self.saver.administration_for("pruning a thread")?;
        for _ in 1..ATTEMPTS {
            match self.try_prune(administration, keep, first).await {
                // Meanwhile a run has begun at a checkpoint that was to go.
                Err(AgentError::Checkpoint(CheckpointError::BaseGone { .. })) => {}
                pruned => return pruned,
            }
        }
        self.try_prune(administration, keep, first).await
    }

    async fn try_prune(
        &self,
        administration: &dyn Administration,
        keep: Keep,
        first: Option<CheckpointId>,
    ) -> Result<usize, AgentError> {
        let Some(head) = self.saver.head(&self.key).await? else {
            return Err(CheckpointError::UnknownThread(self.key.thread.clone()).into());
        };
        let all = load_list(&*self.saver, &self.key, ListOptions::default()).await?;
        let stays = |index: usize, id: CheckpointId| match keep {
            _ if id == head.id || first.is_some_and(|first| id >= first) => true,
            Keep::Newest(newest) => index < newest,
            Keep::Since(since) => id.created_at() >= since,
        };
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        for (index, id) in all.iter().enumerate() {
            let list = if stays(index, *id) {
                &mut kept
            } else {
                &mut gone
            };
            list.push(*id);
        }
        self.remove(administration, head.id, &kept, gone).await
    }

    /// Removes checkpoints; the bases of the remaining ones are folded into them.
    async fn remove(
        &self,
        administration: &dyn Administration,
        head: CheckpointId,
        kept: &[CheckpointId],
        gone: Vec<CheckpointId>,
    ) -> Result<usize, AgentError> {
        let deleted: HashSet<_> = gone.iter().copied().collect();
        let fold = self.folds(&self.cut_off(kept, &deleted).await?).await?;
        let prune = Prune { fold, delete: gone };
        administration.prune(&self.key, prune).await?;
        self.delete_logs_below(administration, head, kept).await?;
        Ok(deleted.len())
    }

    /// Returns the remaining checkpoints whose base is removed.
    async fn cut_off(
        &self,
        kept: &[CheckpointId],
        deleted: &HashSet<CheckpointId>,
    ) -> Result<Vec<CheckpointId>, AgentError> {
        let mut known = HashSet::new();
        let mut cut = Vec::new();
        for id in kept {
            if known.contains(id) {
                continue;
            }
            let chain = load_chain(&*self.saver, &self.key, Some(*id)).await?;
            for stored in chain.into_iter().flat_map(|chain| chain.records) {
                let checkpoint = stored.checkpoint;
                let based = checkpoint
                    .base
                    .is_some_and(|base| deleted.contains(&base.id));
                if known.insert(checkpoint.id)
                    && based
                    && checkpoint.snapshot.is_none()
                    && !deleted.contains(&checkpoint.id)
                {
                    cut.push(checkpoint.id);
                }
            }
        }
        Ok(cut)
    }

    /// Removes the logs of subgraphs of removed checkpoints, including those that an earlier call
    /// left when it failed half-way. Logs newer than `head` belong to another run.
    async fn delete_logs_below(
        &self,
        administration: &dyn Administration,
        head: CheckpointId,
        kept: &[CheckpointId],
    ) -> Result<(), AgentError> {
        let kept: HashSet<_> = kept.iter().collect();
        let above = &self.key.namespace;
        for key in administration.logs(&self.key.thread).await? {
            let Some(below) = key.namespace.strip_prefix(above.as_slice()) else {
                continue;
            };
            let place = below.first().map(String::as_str);
            let checkpoint = place.and_then(ThreadKey::checkpoint_of);
            if checkpoint.is_some_and(|id| id < head && !kept.contains(&id)) {
                administration.delete_log(&key).await?;
            }
        }
        Ok(())
    }
}
