//! Invalidates tasks whose subgraph was changed.

use std::collections::HashSet;
use std::sync::Arc;

use super::resolve::{OuterTask, Resolved};
use crate::checkpoint::{
    AskedQuestions, Batch, CheckpointError, Checkpointer, Stored, TaskOutcome, TaskRecord,
    fold_tasks,
};
use crate::error::AgentError;
use crate::node::Questions;

/// The number of attempts to store a record while other runs write first.
const ATTEMPTS: usize = 3;

impl Resolved {
    /// Removes the interrupts of the changed graph from its parent tasks. These tasks run again,
    /// whether their other interrupts are answered or not.
    pub(in crate::thread) async fn run_again(
        &self,
        saver: &Arc<dyn Checkpointer>,
    ) -> Result<(), AgentError> {
        if self.pending().is_none() {
            return Ok(());
        }
        let mut gone = None;
        for outer in self.outer.iter().rev() {
            gone = Some(mark(&**saver, outer, gone).await?);
        }
        Ok(())
    }
}

/// Lets a task run again without the subgraph's interrupts: all of them, or those with these ids.
/// Returns the ids of the removed interrupts.
async fn mark(
    saver: &dyn Checkpointer,
    outer: &OuterTask,
    gone: Option<HashSet<String>>,
) -> Result<HashSet<String>, AgentError> {
    let mut attempt = 0;
    loop {
        let chain = saver.load(&outer.key, None).await?;
        let Some((head, stored)) =
            chain.and_then(|mut chain| Some((chain.head, chain.records.pop()?)))
        else {
            return Ok(HashSet::new());
        };
        // Another run has continued in the meantime.
        if stored.checkpoint.id != outer.checkpoint {
            return Err(CheckpointError::Conflict {
                thread: outer.key.thread.clone(),
                known: Some(outer.head),
                head: Some(head),
            }
            .into());
        }
        let Some(asked) = open(&stored, outer.task) else {
            // It runs again anyway.
            return Ok(HashSet::new());
        };
        let (dropped, inner) = asked.inner.into_iter().partition(|question| match &gone {
            None => true,
            Some(gone) => gone.contains(&question.id),
        });
        let dropped: Vec<_> = dropped;
        let questions = Questions {
            own: asked.own,
            inner,
            again: true,
        };
        let record = TaskRecord {
            checkpoint: outer.checkpoint,
            task: outer.task,
            outcome: Some(TaskOutcome::Asked(AskedQuestions(questions))),
            answers: Vec::new(),
            once: Vec::new(),
        };
        let batch = Batch {
            head: Some(head),
            tasks: vec![record],
            ..Batch::default()
        };
        attempt += 1;
        match saver.put(&outer.key, batch).await {
            Ok(()) => return Ok(dropped.into_iter().map(|question| question.id).collect()),
            Err(CheckpointError::Conflict { .. }) if attempt < ATTEMPTS => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Returns a task's interrupts without an answer, if the task ended with them.
fn open(stored: &Stored, task: usize) -> Option<Questions> {
    let folded = fold_tasks(stored).into_iter().nth(task)?;
    let Some(TaskOutcome::Asked(AskedQuestions(questions))) = folded.outcome else {
        return None;
    };
    let mut open = questions.clone();
    let answered = |key: &str| folded.answers.iter().any(|answer| answer.key == *key);
    open.own = open.own.filter(|own| !answered(&own.key));
    open.inner.retain(|question| !answered(&question.id));
    Some(open)
}
