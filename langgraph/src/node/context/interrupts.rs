//! Interrupts of a task, and what the task remembers of earlier attempts.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use langgraph_core::Lock;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Context, REPEATS};
use crate::checkpoint::{Json, OnceRecord};
use crate::error::{Interrupted, NodeError};
use crate::interrupt::{Answer, Interrupt, Interrupts, OwnInterrupt};
use crate::log::TaskPosition;
use crate::node::heartbeat::Heartbeat;
use crate::node::once::OnceMemory;
use crate::node::{FinishedCalls, Reporter};

/// What a task remembers across its attempts.
#[derive(Default)]
pub(super) struct Memory {
    pub(super) answers: Vec<Answer>,
    pub(super) once: OnceMemory,
    pub(super) interrupts: Lock<InterruptState>,
    /// A text that no other task has, for a task without a log.
    pub(super) identity: OnceLock<String>,
    /// The reporter of a task whose run is in another process.
    pub(super) reporter: Option<Arc<dyn Reporter>>,
    /// The number of graphs that clones of the context have called.
    pub(super) clone_calls: AtomicU32,
    /// The number of recorded times and random numbers in this attempt; clones count together.
    pub(super) recorded: AtomicU32,
    /// Created if the node has an idle timeout.
    pub(super) heartbeat: OnceLock<Arc<Heartbeat>>,
    /// Created if the node may be repeated, and calls graphs.
    pub(super) finished_calls: OnceLock<Arc<FinishedCalls>>,
}

#[derive(Default)]
pub(super) struct InterruptState {
    /// The number of interrupts without a key in this attempt.
    unnamed: usize,
    pub(super) open: Option<OwnInterrupt>,
    /// The interrupts of a graph inside this task.
    pub(super) inner: Vec<Interrupt>,
    /// True if a graph inside this task has paused, at interrupts or at a breakpoint.
    paused: bool,
    /// True if such a graph goes on without an answer.
    goes_on: bool,
    /// Why the answer to the open interrupt was refused.
    refused: Option<NodeError>,
}

/// The first number of graphs that routers call, after all numbers of calls by nodes.
const ROUTERS_CALLS: usize = 1 << 20;

/// The first number of graphs that clones of a context call.
const CLONES_CALLS: usize = 1 << 19;

impl Context {
    /// Returns the number of the next graph that this attempt calls, from 0.
    pub(crate) fn next_call(&self) -> usize {
        let first = if self.is_routing() { ROUTERS_CALLS } else { 0 };
        match self.memory.get() {
            Some(memory) if self.is_clone => {
                let call = memory.clone_calls.fetch_add(1, Ordering::Relaxed);
                first + CLONES_CALLS + call as usize
            }
            _ => first + self.calls.fetch_add(1, Ordering::Relaxed) as usize,
        }
    }

    /// Returns the number of the next time or random number that this attempt records, from 0.
    pub(crate) fn next_recorded(&self) -> usize {
        let first = if self.is_routing() { ROUTERS_CALLS } else { 0 };
        let memory = self.memory.get_or_init(Arc::default);
        first + memory.recorded.fetch_add(1, Ordering::Relaxed) as usize
    }

    /// Returns a text that no other task has, and that the task keeps when it runs again.
    pub(crate) fn task_identity(&self) -> String {
        let new = || langgraph_core::new_id().to_string();
        let memory = || self.memory.get_or_init(Arc::default);
        let own = || memory().identity.get_or_init(new).clone();
        self.place().map_or_else(own, TaskPosition::identity)
    }

    /// Returns where a call of a graph finds its result in another attempt: in the outermost task that may be
    /// repeated. In a task with a log, the log has it.
    #[inline]
    pub(crate) fn finished_calls(&self) -> Option<&Arc<FinishedCalls>> {
        if self.place.is_some() {
            return None;
        }
        let outer = self.scope.finished_calls.as_ref();
        let repeats = self.attempt.load(Ordering::Relaxed) & REPEATS != 0;
        outer.or_else(|| repeats.then(|| self.own_finished_calls()))
    }

    fn own_finished_calls(&self) -> &Arc<FinishedCalls> {
        let memory = self.memory.get_or_init(Arc::default);
        memory.finished_calls.get_or_init(Arc::default)
    }

    /// Makes it the context of a task whose run is in another process.
    pub(crate) fn set_reporter(&mut self, reporter: Arc<dyn Reporter>, identity: String) {
        self.memory.get_or_init(Arc::default);
        // The task has not begun, so there is no clone.
        if let Some(memory) = self.memory.get_mut().and_then(Arc::get_mut) {
            memory.reporter = Some(reporter);
            memory.identity = OnceLock::from(identity);
        }
    }

    /// Takes over the interrupts of this task from where it ran.
    pub(crate) fn ask(&self, questions: Interrupts, refused: Option<NodeError>) {
        let memory = self.memory.get_or_init(Arc::default);
        let mut state = memory.interrupts.lock();
        state.paused = questions.own.is_none() || !questions.inner.is_empty();
        state.goes_on = questions.again;
        state.open = questions.own;
        state.inner = questions.inner;
        state.refused = refused;
    }

    /// From now on, interrupts and calls come from the task's routers.
    #[inline]
    pub(crate) fn begin_routing(&self) {
        self.routing.store(true, Ordering::Relaxed);
        self.calls.store(0, Ordering::Relaxed);
        if let Some(memory) = self.memory.get() {
            memory.clone_calls.store(0, Ordering::Relaxed);
            memory.recorded.store(0, Ordering::Relaxed);
            memory.interrupts.lock().unnamed = 0;
        }
    }

    fn is_routing(&self) -> bool {
        self.routing.load(Ordering::Relaxed)
    }

    /// Returns the answers to interrupts of this task and of graphs inside it.
    pub(crate) fn answers(&self) -> &[Answer] {
        self.memory.get().map_or(&[], |memory| &memory.answers)
    }

    /// Returns the answer to an interrupt of a graph inside this task.
    pub(crate) fn answer_to(&self, interrupt: &str) -> Option<&Value> {
        let answers = &self.memory.get()?.answers;
        answers
            .iter()
            .find(|answer| answer.key == interrupt)
            .map(|answer| &answer.value)
    }

    /// Restores the task's memory: the answers to its earlier interrupts, and the results of
    /// `once`.
    pub(crate) fn remember(&mut self, answers: &[Answer], once: &[OnceRecord]) {
        if answers.is_empty() && once.is_empty() {
            return;
        }
        self.memory = OnceLock::from(Arc::new(Memory {
            answers: answers.to_vec(),
            once: OnceMemory::new(once.to_vec()),
            ..Memory::default()
        }));
    }

    /// Returns true if the task has answers to earlier interrupts.
    pub(crate) fn has_answers(&self) -> bool {
        self.memory
            .get()
            .is_some_and(|memory| !memory.answers.is_empty())
    }

    /// Pauses this task until the thread is resumed with an answer.
    ///
    /// The first call returns [`Interrupted`]: return it with `?`. When the run resumes with an
    /// answer under `key`, the node starts again and the call returns the answer. The keys of one
    /// task must differ.
    ///
    /// A router interrupts in the same way. Its interrupt belongs to its node, so its keys must
    /// differ from the node's. On a resume only the routers run again; the node does not run twice.
    ///
    /// # Errors
    ///
    /// [`Interrupted`] while there is no answer, or if the answer is not an `A`: then the run
    /// fails, and the interrupt stays open. If the payload cannot be written as JSON (NaN, keys
    /// that are pairs), there is no interrupt, and the error names the value.
    /// Without a checkpointer no thread can wait for the answer: the node fails and says so.
    pub fn interrupt<A: DeserializeOwned>(
        &self,
        key: &str,
        question: &(impl Serialize + ?Sized),
    ) -> Result<A, Interrupted> {
        self.interrupt_checked(key, question, Ok)
    }

    /// As [`interrupt`](Self::interrupt), with a check of the answer: `check` returns the answer,
    /// or the reason why it is refused.
    ///
    /// # Errors
    ///
    /// As [`interrupt`](Self::interrupt). If `check` refuses the answer, the run fails with its
    /// reason, and the interrupt stays open.
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
        let memory = self.memory.get_or_init(Arc::default);
        let mut refused = None;
        if let Some(answer) = memory.answers.iter().find(|answer| answer.key == key) {
            let answer = serde_json::from_value(answer.value.clone());
            let answer = answer.map_err(|error| format!("has the wrong form: {error}"));
            match answer
                .and_then(|answer| check(answer).map_err(|why| format!("cannot be taken: {why}")))
            {
                Ok(answer) => {
                    self.scope.shared.answer_taken(key);
                    return Ok(answer);
                }
                Err(why) => refused = Some(Interrupted::bad_answer(key, &why)),
            }
        }
        if self.scope.shared.thread.is_none() {
            refused = Some(Interrupted::without_thread(key));
        }
        let payload =
            Json::to_value(question).map_err(|error| Interrupted::bad_question(key, &error))?;
        let mut state = memory.interrupts.lock();
        if state.open.is_none() {
            state.open = Some(OwnInterrupt {
                key: key.to_owned(),
                payload,
            });
            state.refused = refused.clone().map(NodeError::from);
        }
        Err(refused.unwrap_or_else(|| Interrupted::waiting(key)))
    }

    /// As [`interrupt`](Self::interrupt), with the order of the calls as the key: the first call
    /// without a key has the key `"0"`, the next `"1"`, and so on; in routers `"route:0"`,
    /// `"route:1"`.
    ///
    /// # Errors
    ///
    /// As [`interrupt`](Self::interrupt).
    pub fn interrupt_next<A: DeserializeOwned>(
        &self,
        question: &(impl Serialize + ?Sized),
    ) -> Result<A, Interrupted> {
        let memory = self.memory.get_or_init(Arc::default);
        let key = {
            let mut state = memory.interrupts.lock();
            state.unnamed += 1;
            let number = state.unnamed - 1;
            if self.is_routing() {
                format!("route:{number}")
            } else {
                number.to_string()
            }
        };
        self.interrupt(&key, question)
    }

    /// Returns true if this task has an interrupt without an answer.
    ///
    /// In that case the task pauses, whatever the node returns. A node that calls foreign code
    /// checks this to find out whether the code interrupted, even if the code ignored the error.
    ///
    /// # Examples
    ///
    /// ```
    /// use langgraph::prelude::*;
    ///
    /// #[node]
    /// async fn ask(_: &String, cx: &Context) -> Result<String, NodeError> {
    ///     let name = cx.interrupt("name", "Who are you?").unwrap_or_default();
    ///     if cx.has_open_interrupt() {
    ///         return Err(NodeError::msg("a question waits for its answer"));
    ///     }
    ///     Ok(name)
    /// }
    /// # let _ = ask;
    /// ```
    #[inline]
    pub fn has_open_interrupt(&self) -> bool {
        self.memory
            .get()
            .is_some_and(|memory| memory.interrupts.lock().is_open())
    }

    /// Takes over the interrupts of a graph inside this task. If that graph `goes_on` without an answer, since a part
    /// of it has paused at a breakpoint, the task runs again with the next run.
    pub(crate) fn pass_on(
        &self,
        interrupts: Vec<Interrupt>,
        goes_on: bool,
        refused: Option<NodeError>,
    ) {
        let memory = self.memory.get_or_init(Arc::default);
        let mut state = memory.interrupts.lock();
        state.inner.extend(interrupts);
        state.paused = true;
        state.goes_on |= goes_on;
        state.refused = state.refused.take().or(refused);
    }

    /// Returns why the answer to this task's interrupt was refused, if it was.
    pub(crate) fn take_refused(&self) -> Option<NodeError> {
        self.memory.get()?.interrupts.lock().refused.take()
    }

    /// Returns this task's interrupts without an answer.
    pub(crate) fn take_questions(&self) -> Option<Interrupts> {
        let mut state = self.memory.get()?.interrupts.lock();
        let paused = state.paused;
        let mut questions = Interrupts {
            own: state.open.take(),
            inner: std::mem::take(&mut state.inner),
            again: false,
        };
        questions.again = state.goes_on && questions.is_open();
        (paused || questions.own.is_some()).then_some(questions)
    }
}

impl InterruptState {
    fn is_open(&self) -> bool {
        self.open.is_some() || self.paused
    }
}
