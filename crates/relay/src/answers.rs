//! The replies of a serving agent, kept for requesters that ask again.

use std::collections::{HashMap, HashSet, VecDeque};

use langgraph_remote::{AgentEnvelope, AgentId, EnvelopeBody, ErrorCode, Frame, RequestId};
use tokio::task::AbortHandle;

use crate::pieces::apart;

/// The number of requests that an agent works at, and of finished replies that it keeps.
const RUNNING: usize = 256;
const KEPT: usize = 1_024;
/// The bytes of all kept replies.
const KEPT_BYTES: usize = 64 << 20;
/// The ids of requests whose replies are no longer kept.
const FORGOTTEN: usize = 16_384;
/// The parts of one reply that are written in a row.
const TURN: usize = 16;
/// The number and the run of a part, in its frame.
const BESIDE: usize = 128;

pub(crate) type Key = (AgentId, RequestId);

#[derive(Default)]
pub(crate) struct Answers {
    max_frame: usize,
    max_message: usize,
    known: HashMap<Key, Answer>,
    finished: VecDeque<Key>,
    forgotten: HashSet<Key>,
    forgotten_order: VecDeque<Key>,
    running: usize,
    bytes: usize,
    /// The replies with parts to write.
    ready: VecDeque<Key>,
}

#[derive(Default)]
struct Answer {
    /// Names the run, in each part: another life of the agent answers by another.
    run: String,
    parts: Vec<String>,
    /// The next part to write.
    cursor: usize,
    done: bool,
    /// It has ended with an error, whatever the agent still says.
    failed: bool,
    ready: bool,
    work: Option<AbortHandle>,
}

/// What to do with a request.
pub(crate) enum Begin {
    /// It is new.
    Run,
    /// It is known: its reply is written again, from the part that is missing.
    Repeated,
    /// It cannot be answered.
    Refused(ErrorCode, &'static str),
}

impl Answers {
    pub(crate) fn new(max_frame: usize, max_message: usize) -> Self {
        Self {
            max_frame,
            max_message,
            ..Self::default()
        }
    }

    /// Decides about a request whose requester has the parts before `from_part`, of `run`.
    pub(crate) fn begin(&mut self, key: &Key, from_part: u64, run: Option<&str>) -> Begin {
        const LOST: &str = "the agent has started anew, and the rest of the reply is lost";
        if let Some(answer) = self.known.get_mut(key) {
            // The requester has parts of an earlier life, so it can use none of this one.
            if run.is_some_and(|run| run != answer.run) {
                if let Some(work) = answer.work.take() {
                    work.abort();
                }
                return Begin::Refused("lost".into(), LOST);
            }
            let from_part = usize::try_from(from_part).unwrap_or(usize::MAX);
            answer.cursor = from_part.min(answer.parts.len());
            self.make_ready(key);
            return Begin::Repeated;
        }
        if self.forgotten.contains(key) {
            return Begin::Refused("forgotten".into(), "the reply is no longer kept");
        }
        if from_part > 0 {
            return Begin::Refused("lost".into(), LOST);
        }
        if self.running >= RUNNING {
            return Begin::Refused(ErrorCode::Overloaded, "the agent is busy");
        }
        self.running += 1;
        let answer = Answer {
            run: uuid::Uuid::new_v4().simple().to_string(),
            ..Answer::default()
        };
        self.known.insert(key.clone(), answer);
        Begin::Run
    }

    pub(crate) fn working(&mut self, key: &Key, work: AbortHandle) {
        if let Some(answer) = self.known.get_mut(key) {
            answer.work = Some(work);
        }
    }

    /// Adds a part to a reply. A whole one that is larger than a frame is added in pieces; any other such part
    /// ends the reply with an error.
    pub(crate) fn add(&mut self, key: &Key, envelope: AgentEnvelope) {
        let (max_frame, max_message) = (self.max_frame, self.max_message);
        let Some(answer) = self.known.get_mut(key) else {
            return;
        };
        if answer.done || answer.failed {
            return;
        }
        let size = Frame::reply(envelope.clone()).to_json();
        let size = size.map_or(0, |text| text.len() + BESIDE);
        if size <= max_frame {
            return self.add_one(key, envelope);
        }
        if size <= max_message
            && let Some(pieces) = apart(&envelope, max_frame)
        {
            for piece in pieces {
                self.add_one(key, piece);
            }
            return;
        }
        answer.failed = true;
        let message = format!(
            "a part of the reply has {size} bytes; a frame has at most {max_frame}, and all pieces of a message {max_message}"
        );
        let mut error = envelope;
        error.body = EnvelopeBody::error("too_large".into(), message);
        self.add_one(key, error);
    }

    fn add_one(&mut self, key: &Key, envelope: AgentEnvelope) {
        let Some(answer) = self.known.get_mut(key) else {
            return;
        };
        let seq = answer.parts.len() as u64;
        let write = |envelope: AgentEnvelope| {
            let frame = Frame::reply(envelope).numbered(seq);
            frame.of_run(answer.run.clone()).to_json()
        };
        let text = write(envelope.clone());
        let text = text.or_else(|error| {
            let body = EnvelopeBody::error(ErrorCode::Failed, error.to_string());
            let mut envelope = envelope;
            envelope.body = body;
            write(envelope)
        });
        if let Ok(text) = text {
            self.bytes += text.len();
            answer.parts.push(text);
        }
        self.make_ready(key);
    }

    /// The reply is complete.
    pub(crate) fn finish(&mut self, key: &Key) {
        let Some(answer) = self.known.get_mut(key).filter(|answer| !answer.done) else {
            return;
        };
        answer.done = true;
        answer.work = None;
        self.running = self.running.saturating_sub(1);
        self.finished.push_back(key.clone());
        while (self.finished.len() > KEPT || self.bytes > KEPT_BYTES) && self.forget_oldest() {}
    }

    fn forget_oldest(&mut self) -> bool {
        let Some(key) = self.finished.pop_front() else {
            return false;
        };
        if let Some(answer) = self.known.remove(&key) {
            let bytes: usize = answer.parts.iter().map(String::len).sum();
            self.bytes = self.bytes.saturating_sub(bytes);
        }
        self.forgotten.insert(key.clone());
        self.forgotten_order.push_back(key);
        if self.forgotten_order.len() > FORGOTTEN
            && let Some(oldest) = self.forgotten_order.pop_front()
        {
            self.forgotten.remove(&oldest);
        }
        true
    }

    /// Stops the work at a request, because nobody waits for it.
    pub(crate) fn cancel(&mut self, key: &Key) {
        if let Some(work) = self
            .known
            .get_mut(key)
            .and_then(|answer| answer.work.take())
        {
            work.abort();
        }
    }

    /// Stops the work at all requests of an agent that left.
    pub(crate) fn cancel_all_of(&mut self, requester: &AgentId) {
        for ((from, _), answer) in &mut self.known {
            if from == requester
                && let Some(work) = answer.work.take()
            {
                work.abort();
            }
        }
    }

    pub(crate) fn cancel_all(&mut self) {
        for answer in self.known.values_mut() {
            if let Some(work) = answer.work.take() {
                work.abort();
            }
        }
    }

    fn make_ready(&mut self, key: &Key) {
        if let Some(answer) = self.known.get_mut(key)
            && !answer.ready
        {
            answer.ready = true;
            self.ready.push_back(key.clone());
        }
    }

    /// Returns some parts to write; the replies take turns.
    pub(crate) fn next_parts(&mut self) -> Vec<String> {
        let Some(key) = self.ready.pop_front() else {
            return Vec::new();
        };
        let Some(answer) = self.known.get_mut(&key) else {
            return Vec::new();
        };
        answer.ready = false;
        let parts: Vec<String> = answer
            .parts
            .iter()
            .skip(answer.cursor)
            .take(TURN)
            .cloned()
            .collect();
        answer.cursor += parts.len();
        if answer.cursor < answer.parts.len() {
            self.make_ready(&key);
        }
        parts
    }

    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_request_is_answered_from_what_is_there() {
        let request = AgentEnvelope::request("a", "b", "hi").unwrap();
        let key = ("a".into(), request.request_id.clone().unwrap());
        let mut answers = Answers::new(1 << 20, 1 << 24);
        assert!(matches!(answers.begin(&key, 0, None), Begin::Run));
        for number in 0..3 {
            let body = EnvelopeBody::complete(&number).unwrap();
            answers.add(&key, request.reply(body));
        }
        assert_eq!(answers.next_parts().len(), 3);
        answers.finish(&key);
        assert!(answers.next_parts().is_empty());
        assert!(matches!(answers.begin(&key, 1, None), Begin::Repeated));
        let parts = answers.next_parts();
        assert_eq!(parts.len(), 2);
        assert!(parts[0].contains(r#""seq":1"#), "{parts:?}");
        let unknown = ("a".into(), "r-0".into());
        assert!(matches!(
            answers.begin(&unknown, 1, None),
            Begin::Refused(..)
        ));
    }
    #[test]
    fn who_has_parts_of_an_earlier_life_gets_none_of_this_one() {
        let request = AgentEnvelope::request("a", "b", "hi").unwrap();
        let key = ("a".into(), request.request_id.clone().unwrap());
        let mut answers = Answers::new(1 << 20, 1 << 24);
        answers.begin(&key, 0, None);
        answers.add(&key, request.reply(EnvelopeBody::complete(&1).unwrap()));
        let parts = answers.next_parts();
        let run = Frame::from_json(&parts[0]).unwrap().run;
        assert!(matches!(
            answers.begin(&key, 1, run.as_deref()),
            Begin::Repeated
        ));
        let other = answers.begin(&key, 1, Some("of an earlier life"));
        assert!(matches!(other, Begin::Refused(code, _) if code.as_str() == "lost"));
        assert!(answers.next_parts().is_empty());
    }
}
