//! Reads the parts of a state row by row.

use super::decode::one;
use super::text::{CheckpointText, TasksText, read};
use super::{Row, RowKind};
use langgraph_core::checkpoint::{CheckpointId, Encoded, StatePart, Stored};
use langgraph_core::error::CheckpointError;

/// Collects the parts of a state from rows, as they are read: for
/// [`Checkpointer::load_state`](langgraph_core::checkpoint::Checkpointer::load_state).
///
/// The rows of a checkpoint follow each other, and each checkpoint is based on the one before. Of
/// past checkpoints, it parses only what a state needs.
#[derive(Debug, Default)]
pub struct StateRows {
    first: Option<First>,
    rest: Vec<Row>,
    /// True if rows name their checkpoint only from the last one on.
    unnamed: bool,
    /// An empty buffer, whose allocation the next text reuses.
    spare: String,
}

/// The row of a checkpoint itself.
#[derive(Debug)]
struct First {
    id: CheckpointId,
    text: String,
    snapshot: Option<Encoded>,
}

impl First {
    /// Fails unless the checkpoint has as many tasks as have left their writes.
    fn has_tasks(&self, written: usize) -> Result<(), CheckpointError> {
        let text: Result<TasksText, _> = serde_json::from_str(&self.text);
        let id = self.id;
        match text {
            Ok(text) if text.tasks.len() == written => Ok(()),
            Ok(text) => Err(CheckpointError::Corrupt(format!(
                "checkpoint `{id}` has {} tasks, and {written} of them have left what they wrote",
                text.tasks.len()
            ))),
            Err(error) => Err(CheckpointError::Corrupt(format!(
                "checkpoint `{id}` cannot be read: {error}"
            ))),
        }
    }
}

impl StateRows {
    /// Creates a reader without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a reader of rows whose past checkpoints all have the same id, because the saver does
    /// not look them up.
    pub fn unnamed() -> Self {
        Self {
            unnamed: true,
            ..Self::default()
        }
    }

    /// Takes the next row. If it begins a checkpoint, the previous one is complete and goes to
    /// `see`.
    ///
    /// # Errors
    ///
    /// [`CheckpointError::Corrupt`] if rows are missing, or cannot be read.
    pub fn row(
        &mut self,
        row: Row,
        visit: &mut dyn FnMut(StatePart),
    ) -> Result<(), CheckpointError> {
        if row.kind != RowKind::Checkpoint {
            self.rest.push(row);
            return Ok(());
        }
        let text: CheckpointText = read(&row)?;
        let base = text.base();
        let before = self.first.as_ref().map(|first| first.id);
        if let (Some(base), None) = (base, &row.payload)
            && (before.is_none() || before != Some(base.id) && !self.unnamed)
        {
            return Err(CheckpointError::Corrupt(format!(
                "checkpoint `{}`, on which checkpoint `{}` is based, is missing",
                base.id, row.checkpoint
            )));
        }
        if before.is_some() || !self.rest.is_empty() {
            self.pass_on(base.is_some_and(|base| base.with_tasks), None, visit)?;
        }
        self.first = Some(First {
            id: row.checkpoint,
            text: row.text,
            snapshot: row.payload,
        });
        Ok(())
    }

    /// Takes a checkpoint without a snapshot, whose base is the previous one plus the update of
    /// that one's only task.
    ///
    /// # Errors
    ///
    /// As [`row`](Self::row).
    pub fn superstep(
        &mut self,
        checkpoint: CheckpointId,
        text: &str,
        written: Encoded,
        visit: &mut dyn FnMut(StatePart),
    ) -> Result<(), CheckpointError> {
        self.pass_on(true, Some(written), visit)?;
        let mut room = std::mem::take(&mut self.spare);
        room.push_str(text);
        self.first = Some(First {
            id: checkpoint,
            text: room,
            snapshot: None,
        });
        Ok(())
    }

    /// Returns the last checkpoint, with all its records.
    ///
    /// # Errors
    ///
    /// As [`row`](Self::row).
    pub fn finish(mut self) -> Result<Option<Stored>, CheckpointError> {
        if self.first.is_none() && self.rest.is_empty() {
            return Ok(None);
        }
        self.whole(None).map(Some)
    }

    /// Returns the part of a complete checkpoint that a state needs.
    fn pass_on(
        &mut self,
        with_tasks: bool,
        written: Option<Encoded>,
        visit: &mut dyn FnMut(StatePart),
    ) -> Result<(), CheckpointError> {
        // The row that a saver may store apart from the next checkpoint's row.
        let (written, apart) = match (written, self.rest.as_slice()) {
            (None, [only]) if only.is_finished() && self.first.is_some() => {
                (self.rest.pop().and_then(|row| row.payload), true)
            }
            (None, _) => (None, true),
            (written, _) => (written, false),
        };
        if !self.rest.is_empty() || self.first.is_none() {
            let stored = self.whole(written)?;
            if with_tasks {
                stored.all_written().map_err(CheckpointError::Corrupt)?;
            }
            StatePart::visit_each(&stored, with_tasks, visit);
            return Ok(());
        }
        if let (true, true, Some(first)) = (with_tasks, apart, &self.first) {
            first.has_tasks(usize::from(written.is_some()))?;
        }
        // A checkpoint with only its own row: nothing to parse.
        if let Some(mut first) = self.first.take() {
            first.text.clear();
            self.spare = first.text;
            if let Some(snapshot) = first.snapshot {
                visit(StatePart::Snapshot(snapshot.into()));
            }
        }
        if with_tasks && let Some(written) = written {
            visit(StatePart::Task(written.into()));
        }
        Ok(())
    }

    /// Returns the complete checkpoint.
    fn whole(&mut self, written: Option<Encoded>) -> Result<Stored, CheckpointError> {
        let first = self.first.take();
        let id = first.as_ref().map(|first| first.id);
        let id = id.or_else(|| Some(self.rest.first()?.checkpoint));
        let Some(id) = id else {
            return Err(CheckpointError::Corrupt("a checkpoint has no rows".into()));
        };
        let mut rows = Vec::with_capacity(self.rest.len() + 2);
        rows.extend(
            first.map(|first| Row::new(id, RowKind::Checkpoint, first.text, first.snapshot)),
        );
        rows.append(&mut self.rest);
        rows.extend(written.map(|written| Row::finished(id, written)));
        one(id, rows)
    }
}
