//! Tasks that run again because the graph inside them was changed.

use std::collections::HashSet;
use std::sync::Arc;

use super::resolve::{Around, Resolved};
use crate::AgentError;
use crate::checkpoint::{
    AskedQuestions, Batch, CheckpointError, Checkpointer, Stored, TaskOutcome, TaskRecord,
    fold_tasks,
};
use crate::node::Questions;

/// How often a record is tried that another run is ahead of.
const ATTEMPTS: usize = 3;

impl Resolved {
    /// Takes back what the changed graph has asked from the tasks around it, and lets these run
    /// again, whether what else they wait for is answered or not.
    pub(in crate::thread) async fn run_again(
        &self,
        saver: &Arc<dyn Checkpointer>,
    ) -> Result<(), AgentError> {
        if self.pending().is_none() {
            return Ok(());
        }
        let mut gone = None;
        for around in self.around.iter().rev() {
            gone = Some(mark(&**saver, around, gone).await?);
        }
        Ok(())
    }
}

/// Lets a task run again without the questions that are gone: all that the graph inside has asked,
/// or those with these ids. Answers with the ids of what is gone.
async fn mark(
    saver: &dyn Checkpointer,
    around: &Around,
    gone: Option<HashSet<String>>,
) -> Result<HashSet<String>, AgentError> {
    let mut attempt = 0;
    loop {
        let chain = saver.load(&around.key, None).await?;
        let Some((head, stored)) =
            chain.and_then(|mut chain| Some((chain.head, chain.records.pop()?)))
        else {
            return Ok(HashSet::new());
        };
        // Another run has gone on meanwhile.
        if stored.checkpoint.id != around.checkpoint {
            return Err(CheckpointError::Conflict {
                thread: around.key.thread.clone(),
                known: Some(around.head),
                head: Some(head),
            }
            .into());
        }
        let Some(asked) = open(&stored, around.task) else {
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
            checkpoint: around.checkpoint,
            task: around.task,
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
        match saver.put(&around.key, batch).await {
            Ok(()) => return Ok(dropped.into_iter().map(|question| question.id).collect()),
            Err(CheckpointError::Conflict { .. }) if attempt < ATTEMPTS => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// What a task has asked and got no answer to, if that is how it has ended.
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
