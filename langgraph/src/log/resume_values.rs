//! Answers from outside, and their interrupts.

use langgraph_topology::NodeName;
use serde_json::Value;

use crate::interrupt::{Answer, Interrupt};
use langgraph_core::error::CheckpointError;

/// An answer from outside: the key or the id of an interrupt (`None`: the only one), and the value.
#[derive(Clone, Debug)]
pub(crate) struct ResumeValue {
    /// The key or the id of the interrupt.
    pub(crate) key: Option<String>,
    /// The answer.
    pub(crate) value: Value,
}

/// Returns the key under which a task finds the answer: the key of its own interrupt, or the id of
/// a subgraph's interrupt.
pub(crate) fn answer_key(interrupt: &Interrupt, namespace: &[NodeName]) -> String {
    if interrupt.namespace == namespace {
        interrupt.key.clone()
    } else {
        interrupt.id.clone()
    }
}

/// Lists interrupts for an error.
pub(crate) fn listed<'i>(interrupts: impl IntoIterator<Item = &'i (usize, Interrupt)>) -> String {
    let ids = interrupts
        .into_iter()
        .map(|(_, i)| format!("`{}` (`{}` of `{}`)", i.id, i.key, i.node));
    let ids: Vec<_> = ids.collect();
    if ids.is_empty() {
        "nothing".to_owned()
    } else {
        ids.join(", ")
    }
}

/// Finds the interrupt for each answer.
pub(crate) fn assign(
    thread: &str,
    open: &[(usize, Interrupt)],
    given: Vec<ResumeValue>,
) -> Result<Vec<(usize, Answer)>, CheckpointError> {
    let mut answers = Vec::with_capacity(given.len());
    for ResumeValue { key, value } in given {
        let fits: Vec<_> = open
            .iter()
            .filter(|(_, i)| key.as_ref().is_none_or(|key| i.id == *key || i.key == *key))
            .collect();
        let name = key.unwrap_or_default();
        match fits.as_slice() {
            [(task, interrupt)] => answers.push((
                *task,
                Answer {
                    key: answer_key(interrupt, &[]),
                    value,
                },
            )),
            [] => {
                let open = listed(open);
                return Err(CheckpointError::NothingToResume {
                    thread: thread.to_owned(),
                    key: name,
                    open,
                });
            }
            several => {
                let open = listed(several.iter().copied());
                return Err(CheckpointError::AmbiguousResume {
                    thread: thread.to_owned(),
                    key: name,
                    open,
                });
            }
        }
    }
    Ok(answers)
}
