//! A simulation, as a test writes it.

use std::sync::Arc;
use std::time::Duration;

use langgraph::graph::CompiledStateGraph;
use langgraph::interrupt::Interrupt;
use langgraph::node::IntoInput;
use langgraph::state::State;
use langgraph_agent::ChatModel;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::failure::SimulationFailure;
use super::fault::Fault;
use super::history::History;
use super::judge::{Invariant, SeedJudge};
use super::setup::Setup;

/// Each of the first seeds runs twice, to find out whether the graph is deterministic; then one of so many.
const TWICE: usize = 64;

/// The variable that selects a seed.
const SEED: &str = "SEED";

/// Returns a simulation of a graph; see the [module](crate::simulate).
pub fn simulate<S: State>(graph: &CompiledStateGraph<S>) -> Simulation<S>
where
    S::Update: Serialize + DeserializeOwned,
{
    Simulation {
        setup: Setup::new(graph),
        seeds: (0..1_000).collect(),
        invariants: Vec::new(),
    }
}

/// A simulation of a graph, made by [`simulate`]. It does nothing until it [runs](Self::run).
#[must_use = "a simulation does nothing until it runs"]
pub struct Simulation<S: State> {
    setup: Setup<S>,
    seeds: Vec<u64>,
    invariants: Vec<Box<Invariant<S>>>,
}

/// What a simulation without a failure has done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SimulationReport {
    /// The number of seeds.
    pub seeds: usize,
    /// The number of faults in all seeds.
    pub faults: usize,
    /// The number of events in all seeds.
    pub events: usize,
    /// The history of the last seed.
    pub last: String,
}

impl<S: State> Simulation<S> {
    /// Sets the number of threads that run side by side; the default is one.
    pub fn threads(mut self, threads: usize) -> Self {
        self.setup.threads = threads.max(1);
        self
    }

    /// Sets the seeds; the default is `0..1_000`. The environment variable `SEED` selects one seed
    /// instead.
    pub fn seeds(mut self, seeds: impl IntoIterator<Item = u64>) -> Self {
        self.seeds = seeds.into_iter().collect();
        self
    }

    /// Sets the input of a thread. It is made from a number that no other thread of any seed has: with
    /// one thread, the seed itself. Without it, a run starts with the initial state.
    pub fn input<I: IntoInput<S>>(
        mut self,
        input: impl Fn(u64) -> I + Send + Sync + 'static,
    ) -> Self {
        self.setup.begin = Arc::new(move |thread, number| thread.run(input(number)));
        self
    }

    /// Sets the answer to an interrupt; the default is `true`.
    pub fn answer<A: Serialize>(
        mut self,
        answer: impl Fn(&Interrupt) -> A + Send + Sync + 'static,
    ) -> Self {
        self.setup.answer = Arc::new(move |interrupt| {
            let unwritable = |error: serde_json::Error| error.to_string().into();
            serde_json::to_value(answer(interrupt)).unwrap_or_else(unwritable)
        });
        self
    }

    /// Lets clients answer by the keys of interrupts, as a program does that does not keep their ids. A late
    /// answer may then meet a later interrupt with the same key.
    pub fn answers_by_key(mut self) -> Self {
        self.setup.by_key = true;
        self
    }

    /// Sets the model of the runs, made for each thread from its number. Its calls may fail.
    pub fn model<M: ChatModel + 'static>(
        mut self,
        model: impl Fn(u64) -> M + Send + Sync + 'static,
    ) -> Self {
        self.setup.model = Some(Arc::new(move |number| Arc::new(model(number))));
        self
    }

    /// Sets the faults; the default is all of them.
    pub fn faults(mut self, faults: impl IntoIterator<Item = Fault>) -> Self {
        self.setup.faults = faults.into_iter().collect();
        self
    }

    /// Sets how long nothing may happen, by the simulated clock; the default is an hour. A node that
    /// waits longer is reported.
    pub fn patience(mut self, time: Duration) -> Self {
        self.setup.patience = time;
        self
    }

    /// Adds an invariant: a check of what happened, after each seed. Its error, or its panic, is the
    /// message of the failure.
    pub fn invariant(
        mut self,
        invariant: impl Fn(&History<S>) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.invariants.push(Box::new(invariant));
        self
    }

    /// Runs the seeds one after the other, on a thread of its own.
    ///
    /// # Errors
    ///
    /// The first seed that violates an invariant, with its story.
    pub fn run(self) -> Result<SimulationReport, SimulationFailure> {
        let mut seeds = self.seeds.clone();
        if let Ok(text) = std::env::var(SEED) {
            let seed = text.parse().map_err(|_| SimulationFailure {
                seed: 0,
                message: format!("`{SEED}` is not a number: `{text}`"),
                story: Vec::new(),
                history: String::new(),
            })?;
            seeds = vec![seed];
        }
        // Not on the caller's thread, which may belong to an async runtime.
        let ran = std::thread::scope(|scope| scope.spawn(|| self.run_seeds(&seeds)).join());
        ran.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    fn run_seeds(&self, seeds: &[u64]) -> Result<SimulationReport, SimulationFailure> {
        let judge = SeedJudge {
            setup: &self.setup,
            invariants: &self.invariants,
        };
        let mut report = SimulationReport {
            seeds: seeds.len(),
            faults: 0,
            events: 0,
            last: String::new(),
        };
        for (index, seed) in seeds.iter().enumerate() {
            let twice = index < 8 || index.is_multiple_of(TWICE);
            let simulated = judge.judge(*seed, twice)?;
            report.faults += simulated.faults;
            report.events += simulated.history.events().len();
            if index + 1 == seeds.len() {
                report.last = simulated.history.to_string();
            }
        }
        Ok(report)
    }
}

impl<S: State> std::fmt::Debug for Simulation<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation")
            .field("threads", &self.setup.threads)
            .field("seeds", &self.seeds.len())
            .field("faults", &self.setup.faults)
            .finish_non_exhaustive()
    }
}
