//! Stream events as frames: one encoder for each protocol.

pub(crate) mod a2a;
pub(crate) mod ag_ui;
mod checkpoint;
pub(crate) mod openai;
mod tasks;
pub(crate) mod v1;
pub(crate) mod v2;

use langgraph_http::Frame;

use crate::stream::{OpenInterrupt, StreamEvent};

/// Makes the frames of a protocol out of the events of one run. The same events make the same
/// frames, with the same ids, in every process and on every replay.
pub(crate) trait Encoder: Send {
    /// Returns the frames of the next event, in order.
    fn encode(&mut self, event: &StreamEvent) -> Vec<Frame>;
}

/// Adds an open interrupt to those of a run. An attempt that goes on where another was cut off shows what is open again.
fn add_open(interrupts: &mut Vec<OpenInterrupt>, interrupt: &OpenInterrupt) {
    if !interrupts.iter().any(|open| open.id == interrupt.id) {
        interrupts.push(interrupt.clone());
    }
}
