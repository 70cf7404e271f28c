//! What a served thread asks its requester.

use langgraph::error::AgentError;
use langgraph::run::Outcome;
use langgraph::state::State;
use langgraph::thread::Thread;

use crate::{AgentEnvelope, EnvelopeBody, OpenInterrupt};

/// Returns what the thread asks after a run: its interrupts, or again those whose answers it has refused.
pub(super) async fn asks<S: State>(
    thread: &Thread<S>,
    request: &AgentEnvelope,
    outcome: &Result<Outcome<S>, AgentError>,
) -> Option<Vec<OpenInterrupt>> {
    let error = match outcome {
        Ok(outcome) => {
            let open = outcome.interrupts().iter().map(OpenInterrupt::from);
            return Some(open.collect()).filter(|open: &Vec<_>| !open.is_empty());
        }
        Err(error) => error,
    };
    let refused = error.refused_answer()?;
    let EnvelopeBody::Resume(answers) = &request.body else {
        return None;
    };
    let snapshot = thread.state().await.ok()??;
    let mut open: Vec<_> = snapshot
        .interrupts
        .iter()
        .map(OpenInterrupt::from)
        .collect();
    for one in &mut open {
        if one.key == refused.key() && answers.contains_key(&one.id) {
            one.refused = Some(refused.to_string());
        }
    }
    open.iter().any(|one| one.refused.is_some()).then_some(open)
}
