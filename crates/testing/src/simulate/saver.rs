//! A saver that fails, and at whose calls the process crashes.

use std::future::pending;

use langgraph::checkpoint::Formats;
use langgraph::error::CheckpointError;
use tokio::time::sleep;

use super::acknowledged::{Acknowledged, describe};
use super::event::SimulationEventKind;
use super::fault::Fault;
use super::world::World;
use crate::intercepted::{Intercept, SaverCall};

/// The way of a process to its saver.
pub(super) struct SaverLink {
    world: World,
    process: u32,
    acknowledged: Acknowledged,
    formats: Formats,
}

/// When a call fails.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Failure {
    Before,
    After,
}

impl SaverLink {
    pub(super) fn new(world: &World, process: u32, acknowledged: &Acknowledged) -> Self {
        Self {
            world: world.clone(),
            process,
            acknowledged: acknowledged.clone(),
            formats: Formats::default(),
        }
    }

    /// Returns when the call fails, if it does.
    fn failure(&self) -> Option<Failure> {
        self.world.with(|world| {
            let fails = world.dice.fault(Fault::Saver);
            fails.then(|| {
                if world.dice.coin() {
                    Failure::Before
                } else {
                    Failure::After
                }
            })
        })
    }

    async fn alive(&self) {
        if !self.world.is_alive(self.process) {
            pending::<()>().await;
        }
    }

    fn fails(&self, thread: &str, what: &str) -> CheckpointError {
        let kind = SimulationEventKind::Fault {
            fault: Fault::Saver,
            what: what.to_owned(),
        };
        self.world.record(thread, None, kind);
        CheckpointError::storage(format!("simulated: the saver fails {what}"))
    }

    fn stored(&self, call: SaverCall<'_>, acknowledged: bool) {
        let SaverCall::Put(key, batch) = call else {
            return;
        };
        let kind = SimulationEventKind::Written {
            records: describe(batch),
            acknowledged,
        };
        self.world.record(&key.thread, None, kind);
        if acknowledged {
            let calls = self.world.with(|world| world.calls);
            self.acknowledged.add(key, batch, calls);
        }
    }
}

/// Returns the thread of a call, and its name.
fn described<'a>(call: &SaverCall<'a>) -> (&'a str, &'static str) {
    match call {
        SaverCall::Put(key, _) => (&key.thread, "a write"),
        SaverCall::Read(key) => (&key.thread, "a read"),
        SaverCall::Lease(thread) => (thread, "a call for the lease"),
        SaverCall::Release(thread) => (thread, "the release of the lease"),
        SaverCall::Threads | SaverCall::Administration => ("", "a call of the administration"),
    }
}

impl Intercept for SaverLink {
    async fn around<T: Send>(
        &self,
        call: SaverCall<'_>,
        run: impl Future<Output = Result<T, CheckpointError>> + Send,
    ) -> Result<T, CheckpointError> {
        let (thread, name) = described(&call);
        self.alive().await;
        let pause = self.world.with(|world| world.dice.turn());
        if let Some(pause) = pause {
            sleep(pause).await;
            self.alive().await;
        }
        if self.world.crashes(thread, None, &format!("before {name}")) {
            pending::<()>().await;
        }
        let failure = self.failure();
        if failure == Some(Failure::Before) {
            return Err(self.fails(thread, &format!("before {name}")));
        }
        let result = run.await?;
        if failure == Some(Failure::After) {
            self.stored(call, false);
            return Err(self.fails(thread, &format!("after {name}")));
        }
        if self
            .world
            .with(|world| world.alive && world.dice.fault(Fault::Crash))
        {
            self.stored(call, false);
            let place = format!("after {name}");
            self.world.with(|world| world.crash(thread, None, &place));
            pending::<()>().await;
        }
        self.stored(call, true);
        Ok(result)
    }

    /// Another process reads bytes, not values.
    fn formats(&self) -> Option<&Formats> {
        Some(&self.formats)
    }
}
