//! One seed: processes, one after the other, until each thread has ended.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::join_all;
use langgraph::checkpoint::{Checkpointer, ListOptions, MemorySaver};
use langgraph::environment;
use langgraph::graph::CompiledStateGraph;
use langgraph::state::State;
use tokio::runtime::Builder;
use tokio::time::{Instant, Sleep, sleep};

use super::acknowledged::Acknowledged;
use super::client::{Client, ClientAccount, SharedMemory};
use super::dice::{Dice, Trial};
use super::event::SimulationEventKind;
use super::history::{History, ThreadHistory};
use super::node::{SimulatedNodes, waits_outside};
use super::saver::SaverLink;
use super::setup::Setup;
use super::violation::{Rule, Violation};
use super::world::{ActiveWorld, MAX_EVENTS, World, WorldEnvironment};
use crate::intercepted::InterceptedSaver;

/// What a seed came to.
pub(super) struct Simulated<S> {
    pub(super) history: History<S>,
    pub(super) violation: Option<Violation>,
    /// The number of faults, with those that were left out.
    pub(super) faults: usize,
}

/// The parts of a seed that outlive its processes.
struct Run<'a, S: State> {
    setup: &'a Setup<S>,
    world: World,
    saver: Arc<dyn Checkpointer>,
    acknowledged: Acknowledged,
    clients: Vec<ClientAccount>,
}

/// Runs a seed.
///
/// # Errors
///
/// If tokio makes no runtime.
pub(super) fn simulate_seed<S: State>(
    setup: &Setup<S>,
    seed: u64,
    trial: Trial,
) -> std::io::Result<Simulated<S>> {
    let threads = (0..setup.threads).filter(|index| trial.thread.is_none_or(|only| only == *index));
    let clients = threads.map(|index| {
        let number = seed
            .wrapping_mul(setup.threads as u64)
            .wrapping_add(index as u64);
        ClientAccount {
            thread: format!("thread-{index}"),
            number,
            model: setup.model.as_ref().map(|model| model(number)),
            memory: SharedMemory::default(),
        }
    });
    let run = Run {
        clients: clients.collect(),
        setup,
        world: World::new(Dice::new(seed, &setup.faults, trial)),
        saver: Arc::new(MemorySaver::new()),
        acknowledged: Acknowledged::default(),
    };
    let _active = ActiveWorld::new(&run.world);
    let threads = loop {
        if let Some(threads) = run.process()? {
            break threads;
        }
    };
    let (events, violation, faults) = run.world.with(|world| {
        let events = std::mem::take(&mut world.events);
        (events, world.violation.take(), world.dice.drawn())
    });
    Ok(Simulated {
        history: History::new(seed, threads, events),
        violation,
        faults,
    })
}

impl<S: State> Run<'_, S> {
    /// Runs a process to its end: the threads at the end of the last one, or `None` after a crash.
    fn process(&self) -> std::io::Result<Option<Vec<ThreadHistory<S>>>> {
        let environment = WorldEnvironment(self.world.clone());
        let _entered = environment::enter(Rc::new(environment));
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()?;
        let threads = runtime.block_on(async {
            let process = self.world.start_process();
            let graph = self.graph(process);
            if self.live(&graph).await.is_err() {
                return None;
            }
            self.world.with(|world| world.dice.be_quiet());
            Some(self.read(&graph).await)
        });
        self.world.end_process();
        drop(runtime);
        Ok(threads)
    }

    /// Returns the graph as a process has it.
    fn graph(&self, process: u32) -> CompiledStateGraph<S> {
        let link = SaverLink::new(&self.world, process, &self.acknowledged);
        let saver = InterceptedSaver::new(Arc::clone(&self.saver), link);
        let graph = (self.setup.attach)(self.setup.graph.clone(), Arc::new(saver));
        graph.middleware(SimulatedNodes {
            world: self.world.clone(),
            process,
            acknowledged: self.acknowledged.clone(),
            blocked: self.setup.blocked.clone(),
        })
    }

    /// Runs the clients until each thread has ended, or something was found.
    async fn live(&self, graph: &CompiledStateGraph<S>) -> Result<(), Crashed> {
        let clients = self.clients.iter().map(|account| async move {
            Client::new(self.setup, &self.world, graph, account)
                .run()
                .await;
        });
        let mut clients = pin!(join_all(clients));
        let mut watch = pin!(sleep(self.setup.patience));
        let mut seen = 0;
        poll_fn(|cx| {
            self.world.wakes(cx.waker());
            loop {
                let ended = clients.as_mut().poll(cx).is_ready();
                let (alive, found) = self
                    .world
                    .with(|world| (world.alive, world.violation.is_some()));
                if found || (ended && alive) {
                    return Poll::Ready(Ok(()));
                }
                if !alive {
                    return Poll::Ready(Err(Crashed));
                }
                if watch.as_mut().poll(cx).is_pending() {
                    return Poll::Pending;
                }
                self.watched(&mut seen, watch.as_mut());
            }
        })
        .await
    }

    /// Looks whether something has happened since the last time.
    fn watched(&self, seen: &mut usize, watch: Pin<&mut Sleep>) {
        let (events, running) = self.world.with(|world| {
            let running = world.running.first().cloned();
            (world.events.len(), running)
        });
        let patience = self.setup.patience;
        if events == *seen {
            self.world.violated(match &running {
                Some(task) => waits_outside(task),
                None => stuck(patience),
            });
        }
        if events > MAX_EVENTS {
            let text = format!("the threads do not end within {MAX_EVENTS} events");
            self.world
                .violated(Violation::new(Rule::GoesOn, None, text));
        }
        *seen = events;
        watch.reset(Instant::now() + patience);
    }

    /// Reads the threads at the end.
    async fn read(&self, graph: &CompiledStateGraph<S>) -> Vec<ThreadHistory<S>> {
        let mut threads = Vec::new();
        for account in &self.clients {
            let thread = graph.thread(&*account.thread);
            let states = match thread.history().await {
                Ok(snapshots) => snapshots.into_iter().rev().map(|one| one.values).collect(),
                Err(error) => {
                    let text = format!("the thread cannot be read: {error}");
                    let thread = Some(&*account.thread);
                    self.world
                        .violated(Violation::new(Rule::GoesOn, thread, text));
                    Vec::new()
                }
            };
            if let Some(state) = states.last() {
                let fields = (self.setup.json)(state);
                let kind = SimulationEventKind::State { fields };
                self.world.record(&account.thread, None, kind);
            }
            let end = account.memory.get().end.clone();
            threads.push(ThreadHistory::new(
                account.thread.clone(),
                account.number,
                states,
                end,
            ));
        }
        self.check_kept().await;
        threads
    }

    /// Checks that each acknowledged checkpoint is stored.
    async fn check_kept(&self) {
        let acknowledged = self.acknowledged.records().checkpoints.clone();
        for (key, ids) in acknowledged {
            let stored = self.saver.list(&key, ListOptions::default()).await;
            let stored = stored.unwrap_or_default();
            if let Some(lost) = ids.iter().find(|id| !stored.contains(id)) {
                let text = format!("checkpoint {lost} was acknowledged, and is not stored");
                self.world
                    .violated(Violation::new(Rule::Kept, Some(&key.thread), text));
            }
        }
    }
}

/// The process has crashed.
struct Crashed;

fn stuck(patience: Duration) -> Violation {
    let text = format!(
        "nothing happens for {} s of simulated time, and no node is running",
        patience.as_secs()
    );
    Violation::new(Rule::GoesOn, None, text)
}
