//! The replies of a serving agent, kept for requesters that repeat a request.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use langgraph_remote::{AgentEnvelope, AgentId, EnvelopeBody, ErrorCode, Frame, RequestId};
use tokio::task::AbortHandle;

use super::pieces::split;

/// The number of running requests.
const RUNNING: usize = 256;
/// One requester has at most so many, once half of all are running.
const RUNNING_OF_ONE: usize = RUNNING / 4;
/// The number of finished replies that are kept.
const KEPT: usize = 1_024;
/// The bytes of all kept replies.
const KEPT_BYTES: usize = 64 << 20;
/// The ids of requests whose replies are no longer kept.
const FORGOTTEN: usize = 16_384;
/// The parts of one reply that are written in a row.
const TURN: usize = 16;
/// The bytes of the number and the run of a part, at most.
const OVERHEAD: usize = 128;

pub(crate) type Key = (AgentId, RequestId);

#[derive(Default)]
pub(crate) struct Answers {
    max_frame: usize,
    max_message: usize,
    /// In the order of their keys, in which many are cancelled at a time.
    known: BTreeMap<Key, Answer>,
    finished: VecDeque<Key>,
    forgotten: HashSet<Key>,
    forgotten_order: VecDeque<Key>,
    running: usize,
    running_of: HashMap<AgentId, usize>,
    bytes: usize,
    /// The replies with parts to write.
    ready: VecDeque<Key>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReplyPhase {
    #[default]
    Open,
    /// It has ended with an error; later parts are dropped.
    Failed,
    Done,
}

#[derive(Default)]
struct Answer {
    /// Names the run, in each part: a restarted agent has another one.
    run: String,
    parts: Vec<String>,
    /// The next part to write.
    cursor: usize,
    phase: ReplyPhase,
    /// It is not sent: the request has no id.
    silent: bool,
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
        const LOST: &str = "the agent has restarted, and the rest of the reply is lost";
        if let Some(answer) = self.known.get_mut(key) {
            // The requester has parts of an earlier run, so it can use none of this one.
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
        if !self.has_room(&key.0) {
            return Begin::Refused(ErrorCode::Overloaded, "the agent is busy");
        }
        self.add_running(key, false);
        Begin::Run
    }

    /// Begins a request without a reply; returns false if the agent is busy.
    pub(crate) fn begin_silently(&mut self, key: &Key) -> bool {
        let has_room = self.has_room(&key.0);
        if has_room {
            self.add_running(key, true);
        }
        has_room
    }

    /// Returns true if one more request of this requester may run. One requester alone leaves half to the
    /// others, and has a quarter while they use it.
    fn has_room(&self, requester: &AgentId) -> bool {
        let own = self.running_of.get(requester).copied().unwrap_or(0);
        self.running < RUNNING && (self.running < RUNNING / 2 || own < RUNNING_OF_ONE)
    }

    fn add_running(&mut self, key: &Key, silent: bool) {
        self.running += 1;
        *self.running_of.entry(key.0.clone()).or_default() += 1;
        let answer = Answer {
            run: uuid::Uuid::new_v4().simple().to_string(),
            silent,
            ..Answer::default()
        };
        self.known.insert(key.clone(), answer);
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
        if answer.phase != ReplyPhase::Open || answer.silent {
            return;
        }
        let size = Frame::reply(envelope.clone()).to_json();
        let size = size.map_or(0, |text| text.len() + OVERHEAD);
        if size <= max_frame {
            return self.add_one(key, envelope);
        }
        if size <= max_message
            && let Some(pieces) = split(&envelope, max_frame)
        {
            for piece in pieces {
                self.add_one(key, piece);
            }
            return;
        }
        answer.phase = ReplyPhase::Failed;
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
        let Some(answer) = self.known.get_mut(key) else {
            return;
        };
        if answer.phase == ReplyPhase::Done {
            return;
        }
        answer.phase = ReplyPhase::Done;
        answer.work = None;
        let silent = answer.silent;
        self.running = self.running.saturating_sub(1);
        if let Some(running) = self.running_of.get_mut(&key.0) {
            *running -= 1;
            if *running == 0 {
                self.running_of.remove(&key.0);
            }
        }
        if silent {
            self.known.remove(key);
            return;
        }
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

    /// Stops the work on a request that was cancelled.
    pub(crate) fn cancel(&mut self, key: &Key) {
        if let Some(work) = self
            .known
            .get_mut(key)
            .and_then(|answer| answer.work.take())
        {
            work.abort();
        }
    }

    /// Stops the work on all requests of an agent that left.
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
    fn a_requester_with_parts_of_an_earlier_run_gets_none_of_this_one() {
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
        let other = answers.begin(&key, 1, Some("of an earlier run"));
        assert!(matches!(other, Begin::Refused(code, _) if code.as_str() == "lost"));
        assert!(answers.next_parts().is_empty());
    }

    #[tokio::test]
    async fn requests_without_an_id_count_and_end_with_their_requester() {
        let mut answers = Answers::new(1 << 20, 1 << 24);
        let key = |from: &str, number: usize| (from.into(), RequestId::new(format!("{number}")));
        let mut works = Vec::new();
        for number in 0..10_000 {
            let key = key("flood", number);
            if answers.begin_silently(&key) {
                let work = tokio::spawn(std::future::pending::<()>());
                answers.working(&key, work.abort_handle());
                works.push((key, work));
            }
        }
        // Half is left to the others, of which each has a quarter.
        assert_eq!(works.len(), RUNNING / 2);
        for number in 0..RUNNING_OF_ONE {
            assert!(matches!(
                answers.begin(&key("calm", number), 0, None),
                Begin::Run
            ));
        }
        let one_more = answers.begin(&key("calm", RUNNING), 0, None);
        assert!(matches!(one_more, Begin::Refused(ErrorCode::Overloaded, _)));
        assert!(matches!(
            answers.begin(&key("third", 0), 0, None),
            Begin::Run
        ));
        answers.cancel_all_of(&"flood".into());
        for (key, work) in works {
            assert!(work.await.unwrap_err().is_cancelled());
            answers.finish(&key);
        }
        assert_eq!(answers.running, RUNNING_OF_ONE + 1);
        // They leave nothing behind: there is no reply to keep.
        assert_eq!(answers.known.len(), RUNNING_OF_ONE + 1);
        assert!(matches!(
            answers.begin(&key("flood", 0), 0, None),
            Begin::Run
        ));
    }
}
