//! The client of a thread: it starts the run, answers interrupts, and goes on after failures.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use langgraph::checkpoint::{RunStatus, Snapshot, ThreadFilter};
use langgraph::error::{AgentError, CheckpointError};
use langgraph::graph::CompiledStateGraph;
use langgraph::interrupt::Interrupt;
use langgraph::run::Outcome;
use langgraph::state::State;
use langgraph::thread::{Thread, Threads};
use langgraph_agent::ChatModel;
use serde_json::Value;
use tokio::time::sleep;

use super::calls::{Action, Calls};
use super::event::SimulationEventKind;
use super::fault::Fault;
use super::node::waits_outside;
use super::setup::Setup;
use super::violation::{Rule, Violation};
use super::world::{NodeTask, World};

/// What tokio says when a node uses sockets: the simulated runtime has none.
const NO_IO: &str = "IO is disabled";

/// A thread that needs more calls does not end.
const MAX_CALLS: u32 = 100;

/// A thread fails for good after so many failures that no fault has caused.
const MAX_FAILURES: u32 = 3;

/// How a thread of a simulation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ThreadEnd {
    /// Its run is complete.
    Done,
    /// Its runs fail again and again, without a fault: the last error.
    Failed(String),
}

/// What a client remembers, also when its server crashes.
#[derive(Default)]
pub(super) struct ClientMemory {
    calls: u32,
    failures: u32,
    /// The interrupts that it has answered, with their answers.
    answered: Vec<(Interrupt, Value)>,
    /// The state that a run has returned, if no other run was active.
    returned: Option<Value>,
    pub(super) end: Option<ThreadEnd>,
}

/// The memory of a client, which outlives the processes of the server.
#[derive(Clone, Default)]
pub(super) struct SharedMemory(Arc<Mutex<ClientMemory>>);

impl SharedMemory {
    pub(super) fn get(&self) -> MutexGuard<'_, ClientMemory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a client is, in all processes of the server.
pub(super) struct ClientAccount {
    pub(super) thread: String,
    /// The number of its input.
    pub(super) number: u64,
    pub(super) model: Option<Arc<dyn ChatModel>>,
    pub(super) memory: SharedMemory,
}

/// The client of a thread, in one process of the server.
pub(super) struct Client<'a, S: State> {
    pub(super) setup: &'a Setup<S>,
    pub(super) world: World,
    pub(super) thread: Thread<S>,
    pub(super) threads: Threads<S>,
    pub(super) calls: Calls<'a, S>,
    pub(super) memory: SharedMemory,
}

impl<'a, S: State> Client<'a, S> {
    pub(super) fn new(
        setup: &'a Setup<S>,
        world: &World,
        graph: &CompiledStateGraph<S>,
        account: &ClientAccount,
    ) -> Self {
        let thread = graph.thread(account.thread.clone());
        Self {
            setup,
            world: world.clone(),
            calls: Calls {
                setup,
                world: world.clone(),
                thread: thread.clone(),
                number: account.number,
                model: account.model.clone(),
            },
            thread,
            threads: graph.threads(),
            memory: account.memory.clone(),
        }
    }

    /// Calls the server until the thread has ended.
    pub(super) async fn run(&self) {
        while self.memory.get().end.is_none() {
            let calls = {
                let mut memory = self.memory.get();
                memory.calls += 1;
                memory.calls
            };
            if calls > MAX_CALLS {
                let text = format!("the thread does not end within {MAX_CALLS} calls");
                self.violated(Rule::GoesOn, text);
                return;
            }
            self.turn().await;
        }
    }

    async fn turn(&self) {
        let pause = self.world.with(|world| world.dice.turn());
        sleep(pause.unwrap_or_default()).await;
        let drawn = self.drawn();
        let result = match self.thread.state().await {
            Ok(snapshot) => match self.next_action(snapshot) {
                Some(action) => self.act(action).await,
                None => return self.end(ThreadEnd::Done),
            },
            Err(error) => Err(error),
        };
        match result {
            Ok(()) => {}
            Err(error) if is_transient(&error) => sleep(Duration::from_secs(8)).await,
            Err(error) if is_broken(&error) => {
                self.violated(Rule::GoesOn, format!("the thread cannot go on: {error}"));
            }
            Err(error) => self.failed(&error, drawn),
        }
    }

    /// Returns what is to be done on the thread; `None` if it has ended.
    fn next_action(&self, snapshot: Option<Snapshot<S>>) -> Option<Action> {
        let Some(snapshot) = snapshot else {
            return Some(Action::Begin);
        };
        let returned = self.memory.get().returned.take();
        if let Some(returned) = returned {
            let stored = (self.setup.json)(&snapshot.values);
            if stored != returned {
                self.violated(Rule::SameState, difference(&returned, &stored));
            }
        }
        match snapshot.interrupts.into_iter().next() {
            Some(interrupt) => Some(Action::Answer {
                value: (self.setup.answer)(&interrupt),
                interrupt: Box::new(interrupt),
            }),
            None if snapshot.next.is_empty() => None,
            None => Some(Action::Proceed),
        }
    }

    async fn act(&self, action: Action) -> Result<(), AgentError> {
        if let Action::Answer { interrupt, value } = &action {
            self.before_answer(interrupt).await;
            let answered = (Interrupt::clone(interrupt), value.clone());
            self.memory.get().answered.push(answered);
        }
        let returned = self.calls.call(&action).await;
        let outcome = match returned.result {
            Some(result) => result?,
            None => return Ok(()),
        };
        if let Outcome::Interrupted { interrupts, .. } = &outcome {
            for interrupt in interrupts {
                let kind = SimulationEventKind::Interrupted {
                    key: interrupt.key.clone(),
                    payload: interrupt.payload.clone(),
                };
                let (thread, node) = (self.thread.id(), Some(&*interrupt.node));
                self.world.record(thread, node, kind);
            }
        }
        if returned.alone && matches!(outcome, Outcome::Drained { .. }) {
            self.check_drained().await;
        }
        if returned.alone {
            self.memory.get().returned = Some((self.setup.json)(outcome.state()));
        }
        Ok(())
    }

    /// Checks that the next program takes up a run that has been drained.
    async fn check_drained(&self) {
        let threads = self.threads.list(ThreadFilter::new()).await;
        let Ok(threads) = threads else {
            return; // the saver is away
        };
        let own = threads.iter().find(|info| info.thread == self.thread.id());
        if let Some(info) = own
            && info.status != RunStatus::Drained
        {
            let text = format!(
                "the run was drained, and its thread says {:?}: `resume_pending` does not go on with it",
                info.status
            );
            self.violated(Rule::GoesOn, text);
        }
    }

    /// Waits, and sends an earlier answer again, if the dice say so.
    async fn before_answer(&self, interrupt: &Interrupt) {
        if self.world.fault(Fault::LateAnswer) {
            let minutes = self
                .world
                .with(|world| world.dice.time(Duration::from_secs(3000)));
            let what = format!("`{}` waits for {} s", interrupt.key, minutes.as_secs());
            let kind = SimulationEventKind::Fault {
                fault: Fault::LateAnswer,
                what,
            };
            let thread = self.thread.id();
            self.world.record(thread, Some(&*interrupt.node), kind);
            sleep(minutes).await;
        }
        let earlier = self.memory.get().answered.last().cloned();
        if let Some((interrupt, value)) = earlier.filter(|(old, _)| old.id != interrupt.id)
            && self.world.fault(Fault::StaleAnswer)
        {
            let what = format!("the answer to `{}` is sent again", interrupt.key);
            let kind = SimulationEventKind::Fault {
                fault: Fault::StaleAnswer,
                what,
            };
            self.world.record(self.thread.id(), None, kind);
            let interrupt = Box::new(interrupt);
            self.calls
                .quietly(&Action::Answer { interrupt, value })
                .await;
        }
    }

    fn failed(&self, error: &AgentError, drawn: usize) {
        if let AgentError::Node { node, .. } = error
            && error.to_string().contains(NO_IO)
        {
            let task = NodeTask {
                thread: self.thread.id().to_owned(),
                node: node.to_string(),
                call: 0,
            };
            self.world.violated(waits_outside(&task));
        }
        let failures = {
            let mut memory = self.memory.get();
            // A fault may be the reason.
            memory.failures += u32::from(self.drawn() == drawn);
            memory.failures
        };
        if failures >= MAX_FAILURES {
            self.end(ThreadEnd::Failed(error.to_string()));
        }
    }

    fn drawn(&self) -> usize {
        self.world.with(|world| world.dice.drawn())
    }

    fn end(&self, end: ThreadEnd) {
        self.memory.get().end = Some(end);
    }

    fn violated(&self, rule: Rule, text: String) {
        let thread = Some(self.thread.id());
        self.world.violated(Violation::new(rule, thread, text));
    }
}

/// Returns true if no later call can succeed either, because of what is stored.
fn is_broken(error: &AgentError) -> bool {
    matches!(
        error,
        AgentError::Checkpoint(
            CheckpointError::Corrupt(_)
                | CheckpointError::Format(_)
                | CheckpointError::Unreadable { .. }
                | CheckpointError::Unwritable { .. }
        )
    )
}

/// Returns true if a later call may succeed: the saver was away, or another run was active and has changed
/// the thread.
fn is_transient(error: &AgentError) -> bool {
    matches!(error, AgentError::Checkpoint(_)) && !is_broken(error)
}

/// Names the fields that differ.
fn difference(returned: &Value, stored: &Value) -> String {
    let empty = serde_json::Map::new();
    let fields = returned.as_object().unwrap_or(&empty);
    let differs = |(name, value): (&String, &Value)| {
        let other = stored.get(name).unwrap_or(&Value::Null);
        (other != value).then(|| format!("`{name}` was {value}, and {other} is stored"))
    };
    let differences: Vec<String> = fields.iter().filter_map(differs).collect();
    let text = if differences.is_empty() {
        format!("it was {returned}, and {stored} is stored")
    } else {
        differences.join("; ")
    };
    format!(
        "the state that a run has returned is not the one that is read: {text}; a reducer gives another \
         result the second time, or a field is not written and read as it is"
    )
}
