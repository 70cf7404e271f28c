//! What a node asks, and what it remembers of earlier attempts.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Context;
use crate::checkpoint::interrupt::{Answer, Interrupt, Interrupted, Question, Questions};
use crate::checkpoint::once_record::OnceRecord;
use crate::codec::Json;
use crate::node::NodeError;
use crate::node::heartbeat::Heartbeat;
use crate::node::once::OnceMemory;

/// What one task remembers across its attempts.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) answers: Vec<Answer>,
    pub(super) once: OnceMemory,
    asking: Mutex<Asking>,
    /// Made when the node has a limit on the time without progress.
    pub(super) heartbeat: OnceLock<Arc<Heartbeat>>,
}

#[derive(Default)]
pub(super) struct Asking {
    /// How many questions without a key this attempt has asked.
    unnamed: usize,
    /// How many graphs this attempt has called.
    calls: usize,
    open: Option<Question>,
    /// What a graph inside this task has asked.
    inner: Vec<Interrupt>,
    /// True when a graph inside this task has paused, with questions or at a breakpoint.
    paused: bool,
    /// What is wrong with the answer that the open question has got.
    refused: Option<NodeError>,
}

/// Graphs that routers call are counted from here, behind all that a node may call.
const ROUTERS_CALLS: usize = 1 << 20;

impl Context {
    /// Counts the graphs that this attempt has called, from 0.
    pub(crate) fn next_call(&self) -> usize {
        let memory = self.memory.get_or_init(Box::default);
        let mut asking = memory.asking();
        asking.calls += 1;
        let first = if self.is_routing() { ROUTERS_CALLS } else { 0 };
        first + asking.calls - 1
    }

    /// From here on it is the task's routers that ask and call.
    #[inline]
    pub(crate) fn begin_routing(&self) {
        self.routing.store(true, Ordering::Relaxed);
        if let Some(memory) = self.memory.get() {
            let mut asking = memory.asking();
            asking.unnamed = 0;
            asking.calls = 0;
        }
    }

    fn is_routing(&self) -> bool {
        self.routing.load(Ordering::Relaxed)
    }

    /// The answers that the task was given, to its own questions and to those of graphs inside it.
    pub(crate) fn answers(&self) -> &[Answer] {
        self.memory.get().map_or(&[], |memory| &memory.answers)
    }

    /// The answer to a question of a graph inside this task.
    pub(crate) fn answer_to(&self, interrupt: &str) -> Option<&Value> {
        let answers = &self.memory.get()?.answers;
        answers
            .iter()
            .find(|answer| answer.key == interrupt)
            .map(|answer| &answer.value)
    }

    /// Hands the task what is known of it: the answers to what it asked before, and what it has
    /// done once.
    pub(crate) fn remember(&mut self, answers: &[Answer], once: &[OnceRecord]) {
        if answers.is_empty() && once.is_empty() {
            return;
        }
        self.memory = OnceLock::from(Box::new(Memory {
            answers: answers.to_vec(),
            once: OnceMemory::new(once.to_vec()),
            ..Memory::default()
        }));
    }

    /// True when the task was given answers to what it asked before.
    pub(crate) fn has_answers(&self) -> bool {
        self.memory
            .get()
            .is_some_and(|memory| !memory.answers.is_empty())
    }

    /// Asks a person (or whoever resumes the thread) and ends this task until there is an answer.
    ///
    /// The first time, the call returns [`Interrupted`]: pass it on with `?`. When the run is
    /// resumed with an answer under `key`, the node starts again and the call returns it. The keys
    /// of one task must differ.
    ///
    /// A router asks in the same way. The question is its node's, and its keys must differ from the
    /// node's; on a resume only the routers are asked again, and the node does not run twice.
    ///
    /// # Errors
    ///
    /// [`Interrupted`] while there is no answer; and when the answer is not an `A`: then the run
    /// fails, and the question waits for another answer. A question that is no JSON (NaN, keys that
    /// are pairs) is not asked: the error names what in it.
    pub fn interrupt<A: DeserializeOwned>(
        &self,
        key: &str,
        question: &(impl Serialize + ?Sized),
    ) -> Result<A, Interrupted> {
        self.interrupt_checked(key, question, Ok)
    }

    /// As [`interrupt`](Self::interrupt), for answers of which only some will do: `check` returns
    /// the answer, or says why it cannot be taken.
    ///
    /// # Errors
    ///
    /// As [`interrupt`](Self::interrupt). When `check` refuses the answer, the run fails with its
    /// reason, and the question waits for another answer.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// #[node]
    /// async fn book(_: &String, cx: &Context) -> Result<String, NodeError> {
    ///     let seats: u8 = cx.interrupt_checked("seats", "How many seats?", |seats| match seats {
    ///         1..=9 => Ok(seats),
    ///         _ => Err(format!("{seats} seats; there are 9")),
    ///     })?;
    ///     Ok(format!("{seats} seats"))
    /// }
    /// # let _ = book;
    /// ```
    pub fn interrupt_checked<A: DeserializeOwned>(
        &self,
        key: &str,
        question: &(impl Serialize + ?Sized),
        check: impl FnOnce(A) -> Result<A, String>,
    ) -> Result<A, Interrupted> {
        let memory = self.memory.get_or_init(Box::default);
        let mut refused = None;
        if let Some(answer) = memory.answers.iter().find(|answer| answer.key == key) {
            let answer = serde_json::from_value(answer.value.clone());
            let answer = answer.map_err(|error| format!("has the wrong form: {error}"));
            match answer
                .and_then(|answer| check(answer).map_err(|why| format!("cannot be taken: {why}")))
            {
                Ok(answer) => return Ok(answer),
                Err(why) => refused = Some(Interrupted::bad_answer(key, &why)),
            }
        }
        let payload =
            Json::to_value(question).map_err(|error| Interrupted::bad_question(key, &error))?;
        let mut asking = memory.asking();
        if asking.open.is_none() {
            asking.open = Some(Question {
                key: key.to_owned(),
                payload,
            });
            asking.refused = refused.clone().map(NodeError::from);
        }
        Err(refused.unwrap_or_else(|| Interrupted::waiting(key)))
    }

    /// As [`interrupt`](Self::interrupt), with the order of the calls as the key: the first call
    /// without a key is `"0"`, the next `"1"`, and so on; in routers `"route:0"`, `"route:1"`.
    ///
    /// # Errors
    ///
    /// As [`interrupt`](Self::interrupt).
    pub fn interrupt_next<A: DeserializeOwned>(
        &self,
        question: &(impl Serialize + ?Sized),
    ) -> Result<A, Interrupted> {
        let memory = self.memory.get_or_init(Box::default);
        let key = {
            let mut asking = memory.asking();
            asking.unnamed += 1;
            let number = asking.unnamed - 1;
            if self.is_routing() {
                format!("route:{number}")
            } else {
                number.to_string()
            }
        };
        self.interrupt(&key, question)
    }

    /// True when this task has asked a question that has no answer yet.
    ///
    /// Whatever the node returns then, its task pauses. A node that calls the code of others looks
    /// here to find out that one of them asked, even if the error was swallowed on the way.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// #[node]
    /// async fn ask(_: &String, cx: &Context) -> Result<String, NodeError> {
    ///     let name = cx.interrupt("name", "Who are you?").unwrap_or_default();
    ///     if cx.has_open_question() {
    ///         return Err(NodeError::msg("a question waits for its answer"));
    ///     }
    ///     Ok(name)
    /// }
    /// # let _ = ask;
    /// ```
    #[inline]
    pub fn has_open_question(&self) -> bool {
        self.memory
            .get()
            .is_some_and(|memory| memory.asking().is_open())
    }

    /// Waits for what a graph inside this task has asked.
    pub(crate) fn pass_on(&self, interrupts: Vec<Interrupt>, refused: Option<NodeError>) {
        let memory = self.memory.get_or_init(Box::default);
        let mut asking = memory.asking();
        asking.inner.extend(interrupts);
        asking.paused = true;
        asking.refused = asking.refused.take().or(refused);
    }

    /// What is wrong with the answer to what this task has asked, if it has got one.
    pub(crate) fn take_refused(&self) -> Option<NodeError> {
        self.memory.get()?.asking().refused.take()
    }

    /// What this task has asked and not got an answer to.
    pub(crate) fn take_questions(&self) -> Option<Questions> {
        let mut asking = self.memory.get()?.asking();
        let paused = asking.paused;
        let questions = Questions {
            own: asking.open.take(),
            inner: std::mem::take(&mut asking.inner),
            again: false,
        };
        (paused || questions.own.is_some()).then_some(questions)
    }
}

impl Asking {
    fn is_open(&self) -> bool {
        self.open.is_some() || self.paused
    }
}

impl Memory {
    pub(super) fn asking(&self) -> std::sync::MutexGuard<'_, Asking> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
