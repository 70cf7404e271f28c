//! What happens in a simulation.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use super::fault::Fault;

/// Something that happened in a simulation. As text it is one line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SimulationEvent {
    /// The time since the start, by the simulated clock.
    pub at: Duration,
    /// The number of the process, from 1; a crash ends a process and starts the next.
    pub process: u32,
    /// The thread; empty if it concerns the process.
    pub thread: String,
    /// The node, if one did it.
    pub node: Option<String>,
    /// What happened.
    pub kind: SimulationEventKind,
}

/// The kinds of [`SimulationEvent`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SimulationEventKind {
    /// A client started a run.
    Called {
        /// The number of the call.
        call: u32,
        /// What was called: `run`, `proceed`, or `resume` with its answer.
        what: String,
    },
    /// A run returned.
    Returned {
        /// The number of the call.
        call: u32,
        /// The outcome or the error.
        outcome: String,
    },
    /// A node started.
    Started {
        /// The call whose run it belongs to.
        call: u32,
    },
    /// A node ended.
    Ended {
        /// Its error.
        error: Option<String>,
    },
    /// A node had an effect.
    Effect(Effect),
    /// A batch was stored.
    Written {
        /// Its records.
        records: String,
        /// True if the run knows.
        acknowledged: bool,
    },
    /// A model was called.
    ModelCalled {
        /// The answer or the error.
        answer: String,
    },
    /// A node interrupted.
    Interrupted {
        /// The key of the interrupt.
        key: String,
        /// What the node asks.
        payload: Value,
    },
    /// An answer was sent.
    Answered {
        /// The key of the interrupt.
        key: String,
        /// The answer.
        value: Value,
    },
    /// A fault.
    Fault {
        /// Its kind.
        fault: Fault,
        /// Where, or what.
        what: String,
    },
    /// The state at the end.
    State {
        /// The fields as JSON.
        fields: Value,
    },
}

/// An effect on the world outside the graph, as [`effect`](super::effect) records it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Effect {
    /// The name of the effect.
    pub name: String,
    /// Its details.
    pub detail: Value,
    /// The key by which the service recognises a repetition.
    pub key: Option<String>,
    /// True if the service had an effect with this key already: nothing happened.
    pub repeated: bool,
}

impl fmt::Display for SimulationEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, milliseconds) = (self.at.as_secs(), self.at.subsec_millis());
        write!(f, "{seconds}.{milliseconds:03} s, process {}", self.process)?;
        if !self.thread.is_empty() {
            write!(f, ", {}", self.thread)?;
        }
        if let Some(node) = &self.node {
            write!(f, ", `{node}`")?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl fmt::Display for SimulationEventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Called { call, what } => write!(f, "call {call}, {what}"),
            Self::Returned { call, outcome } => write!(f, "call {call} returns: {outcome}"),
            Self::Started { call } => write!(f, "starts in call {call}"),
            Self::Ended { error: None } => f.write_str("ends"),
            Self::Ended { error: Some(error) } => write!(f, "fails: {error}"),
            Self::Effect(effect) => write!(f, "{effect}"),
            Self::Written {
                records,
                acknowledged,
            } => {
                let known = if *acknowledged {
                    ""
                } else {
                    ", not acknowledged"
                };
                write!(f, "stored: {records}{known}")
            }
            Self::ModelCalled { answer } => write!(f, "model: {answer}"),
            Self::Interrupted { key, payload } => write!(f, "interrupt `{key}`: {payload}"),
            Self::Answered { key, value } => write!(f, "answer to `{key}`: {value}"),
            Self::Fault { fault, what } => write!(f, "{fault}: {what}"),
            Self::State { fields } => write!(f, "state: {fields}"),
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "effect `{}` {}", self.name, self.detail)?;
        if self.repeated {
            f.write_str(", recognised as a repetition")?;
        }
        Ok(())
    }
}
