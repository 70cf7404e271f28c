//! The calls of a client, and what disturbs them.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join;
use langgraph::error::AgentError;
use langgraph::interrupt::Interrupt;
use langgraph::run::{CancelToken, Outcome, Run};
use langgraph::state::State;
use langgraph::stream::StreamMode;
use langgraph::thread::{OnConflict, Thread};
use langgraph_agent::{ChatModel, WithModel as _};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use super::event::SimulationEventKind;
use super::fault::Fault;
use super::model::SimulatedModel;
use super::node::CallNumber;
use super::setup::Setup;
use super::world::World;

/// What a client does on its thread.
pub(super) enum Action {
    /// Starts the first run.
    Begin,
    /// Goes on with the pending tasks.
    Proceed,
    /// Answers an interrupt.
    Answer {
        interrupt: Box<Interrupt>,
        value: Value,
    },
}

/// What a call returned.
pub(super) struct Returned<S> {
    /// `None` if it was dropped.
    pub(super) result: Option<Result<Outcome<S>, AgentError>>,
    /// True if no other client called at the same time.
    pub(super) alone: bool,
}

/// The calls on a thread.
pub(super) struct Calls<'a, S: State> {
    pub(super) setup: &'a Setup<S>,
    pub(super) world: World,
    pub(super) thread: Thread<S>,
    /// The number of the thread's input.
    pub(super) number: u64,
    /// The model of the thread's runs.
    pub(super) model: Option<Arc<dyn ChatModel>>,
}

impl<S: State> Calls<'_, S> {
    /// Calls once, with the disturbances of the dice.
    pub(super) async fn call(&self, action: &Action) -> Returned<S> {
        let cancel = self.world.with(|world| {
            let cancels = world.dice.fault(Fault::Cancel);
            cancels.then(|| world.dice.time(Duration::from_millis(400)))
        });
        let drain = self.world.with(|world| {
            let drains = world.dice.fault(Fault::Drain);
            drains.then(|| world.dice.time(Duration::from_millis(400)))
        });
        let slow = self.world.fault(Fault::SlowReader);
        if slow {
            self.note(Fault::SlowReader, "a second per event");
        }
        let (number, mut run) = self.prepare(action, action.name());
        let token = CancelToken::new();
        if drain.is_some() {
            run = run.cancel(token.clone());
        }
        let own = async {
            let read = self.drained(read(run, slow), drain, &token);
            match cancel {
                None => Some(read.await),
                Some(limit) => timeout(limit, read).await.ok(),
            }
        };
        let rival = self.rival(action);
        let alone = rival.is_none();
        let (result, ()) = join(own, async {
            if let Some(rival) = rival {
                rival.await;
            }
        })
        .await;
        match &result {
            None => self.note(Fault::Cancel, &format!("call {number} is dropped")),
            Some(result) => self.returned(number, result),
        }
        Returned { result, alone }
    }

    /// Waits for a run, and drains it after a time.
    async fn drained<T>(
        &self,
        run: impl Future<Output = T>,
        after: Option<Duration>,
        token: &CancelToken,
    ) -> T {
        let mut run = pin!(run);
        let Some(after) = after else {
            return run.await;
        };
        if let Ok(ended) = timeout(after, run.as_mut()).await {
            return ended;
        }
        self.note(Fault::Drain, "the program stops");
        token.drain();
        run.await
    }

    /// Calls once, and ignores the outcome.
    pub(super) async fn quietly(&self, action: &Action) {
        let (number, run) = self.prepare(action, action.name());
        self.returned(number, &run.await);
    }

    /// Returns the call of another client at the same time, if there is one.
    fn rival(&self, action: &Action) -> Option<impl Future<Output = ()>> {
        let (other, policy, fault) = match action {
            Action::Answer { interrupt, value } if self.world.fault(Fault::DoubleAnswer) => {
                let again = Action::Answer {
                    interrupt: interrupt.clone(),
                    value: value.clone(),
                };
                (again, OnConflict::Reject, Fault::DoubleAnswer)
            }
            _ if self.world.fault(Fault::LostLease) => {
                (Action::Proceed, OnConflict::Cancel, Fault::LostLease)
            }
            _ if self.world.fault(Fault::Rival) => {
                (Action::Proceed, OnConflict::Reject, Fault::Rival)
            }
            _ => return None,
        };
        let pause = self
            .world
            .with(|world| world.dice.time(Duration::from_millis(200)));
        Some(async move {
            sleep(pause).await;
            let what = match fault {
                Fault::DoubleAnswer => "the same answer once more",
                Fault::LostLease => "another process takes the thread, and goes on",
                _ => "another client goes on with the thread",
            };
            self.note(fault, what);
            let (number, run) = self.prepare(&other, other.name());
            self.returned(number, &run.on_conflict(policy).await);
        })
    }

    /// Returns the run of an action, and its number.
    fn prepare(&self, action: &Action, what: String) -> (u32, Run<S>) {
        let thread = &self.thread;
        let call = self.world.with(|world| {
            world.calls += 1;
            let call = world.calls;
            world.record(
                thread.id(),
                None,
                SimulationEventKind::Called { call, what },
            );
            call
        });
        let run = match action {
            Action::Begin => (self.setup.begin)(thread, self.number),
            Action::Proceed => thread.proceed(),
            Action::Answer { interrupt, value } => {
                let kind = SimulationEventKind::Answered {
                    key: interrupt.key.clone(),
                    value: value.clone(),
                };
                let node = Some(&*interrupt.node);
                self.world.record(thread.id(), node, kind);
                let name = if self.setup.by_key {
                    &interrupt.key
                } else {
                    &interrupt.id
                };
                thread.resume(name.clone(), value)
            }
        };
        let run = run.resource(Arc::new(CallNumber(call)));
        let Some(model) = &self.model else {
            return (call, run);
        };
        let model = SimulatedModel {
            model: Arc::clone(model),
            world: self.world.clone(),
            thread: thread.id().to_owned(),
        };
        (call, run.model(model))
    }

    fn note(&self, fault: Fault, what: &str) {
        let kind = SimulationEventKind::Fault {
            fault,
            what: what.to_owned(),
        };
        self.world.record(self.thread.id(), None, kind);
    }

    fn returned(&self, call: u32, result: &Result<Outcome<S>, AgentError>) {
        let outcome = match result {
            Ok(Outcome::Done { .. }) => "done".to_owned(),
            Ok(Outcome::Interrupted { interrupts, .. }) => {
                let keys: Vec<&str> = interrupts.iter().map(|one| &*one.key).collect();
                format!("waits for `{}`", keys.join("`, `"))
            }
            Ok(_) => "drained".to_owned(),
            Err(error) => error.to_string(),
        };
        let kind = SimulationEventKind::Returned { call, outcome };
        self.world.record(self.thread.id(), None, kind);
    }
}

impl Action {
    fn name(&self) -> String {
        match self {
            Self::Begin => "run".to_owned(),
            Self::Proceed => "proceed".to_owned(),
            Self::Answer { interrupt, value } => format!("resume `{}` with {value}", interrupt.key),
        }
    }
}

/// Runs to the outcome; a slow reader takes a second for each event.
async fn read<S: State>(run: Run<S>, slow: bool) -> Result<Outcome<S>, AgentError> {
    if !slow {
        return run.await;
    }
    let mut events = run.stream(StreamMode::Updates);
    while let Some(event) = events.next().await {
        event?;
        sleep(Duration::from_secs(1)).await;
    }
    events.finish().await
}
