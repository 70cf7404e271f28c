//! The end of a reply.

use crate::EnvelopeBody;

/// Detects the end of a reply; see [`ReplyStream`](crate::ReplyStream). A transport shows it each part.
///
/// # Examples
///
/// ```
/// use langgraph_remote::{EnvelopeBody, ReplyEnding};
///
/// let mut ending = ReplyEnding::default();
/// let stream_id = || "s".into();
/// let start = EnvelopeBody::StreamStart { stream_id: stream_id(), metadata: "text".into() };
/// assert!(!ending.see(&start));
/// assert!(ending.see(&EnvelopeBody::StreamEnd { stream_id: stream_id() }));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ReplyEnding {
    open: usize,
    answered: bool,
    over: bool,
}

impl ReplyEnding {
    /// Observes the next part; returns true if it is the last one.
    pub fn see(&mut self, body: &EnvelopeBody) -> bool {
        match body {
            EnvelopeBody::Complete(_) => self.answered = true,
            EnvelopeBody::StreamStart { .. } => self.open += 1,
            EnvelopeBody::StreamEnd { .. } => {
                self.open = self.open.saturating_sub(1);
                self.answered = true;
            }
            EnvelopeBody::Error { .. } | EnvelopeBody::Interrupt(_) => self.over = true,
            EnvelopeBody::StreamChunk { .. } | EnvelopeBody::Cancel | EnvelopeBody::Resume(_) => {}
        }
        self.over |= self.answered && self.open == 0;
        self.over
    }
}
