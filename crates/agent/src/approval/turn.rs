//! The approvals of one turn of a model.

use super::{ApprovalAnswer, ApprovalRequest, ToolDecision};
use langgraph::interrupt::Interrupt;

/// The open approvals of one turn of a model, for a person who decides about all of them at once.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::{ApprovalTurn, MessagesState, ToolDecision};
///
/// # async fn decide(thread: Thread<MessagesState>, outcome: Outcome<MessagesState>) -> Result<(), AgentError> {
/// for turn in ApprovalTurn::all(outcome.interrupts()) {
///     let answers = turn.decide(|_, request| request.answer(ToolDecision::Approve).by("ada"));
///     thread.resume_all(answers).await?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ApprovalTurn {
    /// The id of the message that requests the calls.
    pub turn: Option<String>,
    /// The ids of the interrupts, with their requests.
    pub requests: Vec<(String, ApprovalRequest)>,
}

impl ApprovalTurn {
    /// Returns the approvals among these interrupts, by turn.
    pub fn all(interrupts: &[Interrupt]) -> Vec<Self> {
        let mut turns: Vec<Self> = Vec::new();
        for interrupt in interrupts {
            let Some(request) = ApprovalRequest::of(interrupt) else {
                continue;
            };
            let entry = (interrupt.id.clone(), request);
            let turn = entry.1.turn.clone();
            match turns.iter_mut().find(|known| known.turn == turn) {
                Some(known) => known.requests.push(entry),
                None => turns.push(Self {
                    turn,
                    requests: vec![entry],
                }),
            }
        }
        turns
    }

    /// Returns an answer for each request, for
    /// [`Thread::resume_all`](langgraph::thread::Thread::resume_all). `decide` gets the number of
    /// the request in the turn, and the request.
    pub fn decide<A: Into<ApprovalAnswer>>(
        &self,
        decide: impl Fn(usize, &ApprovalRequest) -> A,
    ) -> Vec<(String, ApprovalAnswer)> {
        let answers = self.requests.iter().enumerate();
        let answers =
            answers.map(|(index, (id, request))| (id.clone(), decide(index, request).into()));
        answers.collect()
    }

    /// Returns the decision `decision` for each request.
    pub fn decide_all(&self, decision: &ToolDecision) -> Vec<(String, ApprovalAnswer)> {
        self.decide(|_, request| request.answer(decision.clone()))
    }
}
