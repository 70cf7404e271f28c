//! The open interrupts of a checkpoint, without its graph.

use super::{Stored, TaskOutcome, TaskSpec, fold_tasks};
use crate::interrupt::Interrupt;

/// Returns the interrupts of a checkpoint's tasks that have no answer yet, in task order. It decodes
/// no value, so it needs no graph.
pub fn open_interrupts(stored: &Stored) -> Vec<Interrupt> {
    let base = stored.checkpoint.id.to_string();
    let mut specs: Vec<&TaskSpec> = stored.checkpoint.tasks.iter().collect();
    for entry in &stored.entries {
        specs.extend(&entry.tasks);
    }
    let mut open = Vec::new();
    for (index, (spec, task)) in specs.iter().zip(fold_tasks(stored)).enumerate() {
        let Some(TaskOutcome::Interrupted(interrupts)) = task.outcome else {
            continue;
        };
        let is_open = |key: &str| task.answers.iter().all(|answer| answer.key != key);
        let mut unanswered = interrupts.clone();
        unanswered.own = unanswered.own.filter(|own| is_open(&own.key));
        unanswered.inner.retain(|inner| is_open(&inner.id));
        open.extend(unanswered.interrupts(&base, index, &spec.node, &[]));
    }
    open
}
