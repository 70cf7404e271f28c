//! One superstep, run again.

use std::sync::Arc;

use langgraph::checkpoint::{Durability, Formats, Stored};
use langgraph::error::{AgentError, CheckpointError};
use langgraph::graph::START;
use langgraph::run::CancelToken;
use langgraph::state::State;
use langgraph_agent::StandIn;

use super::answered::Answered;
use super::answers::{StoredAnswers, Task};
use super::compare::{self, Outcome};
use super::log::{Log, Logs};
use super::opened::{self, Opened};
use super::report::Unchecked;
use super::saver::DryRunSaver;
use super::stored::Answers;
use super::{Options, Replay, no_interrupt};

/// A stored superstep.
pub(super) struct StoredSuperstep<'a> {
    pub(super) thread: &'a str,
    pub(super) logs: &'a Logs,
    pub(super) log: &'a Log,
    pub(super) at: usize,
    pub(super) answers: &'a Answers,
    pub(super) formats: &'a Formats,
}

/// What a superstep did when it ran again.
struct DryRun {
    records: Vec<Stored>,
    /// Why the run failed, if it did.
    ended: Option<AgentError>,
    stand_in: Arc<StoredAnswers>,
}

impl StoredSuperstep<'_> {
    fn open(
        &self,
        options: &Options,
        withheld: Option<&Answered>,
    ) -> Result<Result<Opened, Option<Unchecked>>, CheckpointError> {
        Opened::new(
            self.logs,
            self.log,
            self.at,
            self.formats,
            options,
            withheld,
        )
    }

    /// Returns true if it only takes an input.
    pub(super) fn is_input(&self) -> bool {
        let stored = self.log.records.get(self.at);
        let mut tasks = stored
            .into_iter()
            .flat_map(|stored| &stored.checkpoint.tasks);
        tasks.all(|task| &*task.node == START)
    }
}

impl StoredSuperstep<'_> {
    /// Returns how the superstep compares, unless it differs because a tool of another graph did not run.
    fn or_not_called(
        &self,
        outcome: Outcome,
        dry_run: &DryRun,
    ) -> Result<Outcome, Option<Unchecked>> {
        let stored = self.log.records.get(self.at);
        let is_refused = stored.is_some_and(|stored| {
            no_interrupt::is_refused_in_another(&dry_run.stand_in, stored.checkpoint.id)
        });
        match outcome {
            Outcome::Diverges(_) if is_refused => Err(Some(opened::unchecked(
                self.log,
                self.at,
                no_interrupt::NOT_CALLED,
            ))),
            outcome => Ok(outcome),
        }
    }
}

impl<S: State> Replay<S> {
    /// Runs one superstep again, and compares it with what is stored. If it cannot run again, says why.
    pub(super) async fn superstep(
        &self,
        superstep: &StoredSuperstep<'_>,
    ) -> Result<Result<Outcome, Option<Unchecked>>, AgentError> {
        let opened = match superstep.open(&self.options, None)? {
            Ok(opened) => opened,
            Err(unchecked) => return Ok(Err(unchecked)),
        };
        // Each answered interrupt has to come up before its answer counts.
        let mut given_up = Vec::new();
        if let Some(stored) = superstep.log.records.get(superstep.at) {
            let mut withheld = Answered::of(stored, &opened.run);
            while !withheld.is_empty() {
                let Ok(opened) = superstep.open(&self.options, Some(&withheld))? else {
                    break;
                };
                let dry_run = self.dry_run(superstep, &opened).await?;
                if !dry_run.stand_in.missing().is_empty() {
                    break;
                }
                let step = self.compared(superstep, &opened, &dry_run);
                if let Some(divergence) = compare::answered(&step, &mut withheld) {
                    return Ok(superstep.or_not_called(divergence, &dry_run));
                }
            }
            given_up = withheld.into_given_up();
        }
        let dry_run = self.dry_run(superstep, &opened).await?;
        let step = self.compared(superstep, &opened, &dry_run);
        let outcome = match compare::compare(&step)? {
            Outcome::Same => not_checked(&step, &given_up),
            outcome => outcome,
        };
        Ok(superstep.or_not_called(outcome, &dry_run))
    }

    /// Runs one superstep again.
    async fn dry_run(
        &self,
        superstep: &StoredSuperstep<'_>,
        opened: &Opened,
    ) -> Result<DryRun, AgentError> {
        let StoredSuperstep {
            thread,
            log,
            at,
            answers,
            formats,
            ..
        } = *superstep;
        let stop = CancelToken::new();
        let saver = DryRunSaver::new(log.key.clone(), formats.clone(), stop.clone());
        let saver = Arc::new(saver);
        saver.fill(opened.logs.iter()).await?;
        let stand_in = Arc::new(StoredAnswers::new(answers.clone(), &self.options));
        let graph = (self.attach)(self.graph.clone(), Arc::clone(&saver));
        let mut run = graph
            .thread(thread)
            .proceed()
            .durability(Durability::Sync)
            .cancel(stop)
            .resource::<dyn StandIn>(Arc::clone(&stand_in) as _);
        if let Some(model) = self.options.resource() {
            run = run.resource(model);
        }
        if let Some(stored) = log.records.get(at) {
            for (key, value) in &*stored.checkpoint.metadata {
                run = run.metadata(key, value.clone());
            }
            for add in &self.run_resources {
                run = add(run, &stored.checkpoint.metadata);
            }
        }
        let ended = run.await.err();
        Ok(DryRun {
            records: saver.records().await?,
            ended,
            stand_in,
        })
    }

    fn compared<'a>(
        &'a self,
        superstep: &StoredSuperstep<'a>,
        opened: &'a Opened,
        dry_run: &'a DryRun,
    ) -> compare::Superstep<'a> {
        compare::Superstep {
            log: superstep.log,
            at: superstep.at,
            got: &dry_run.records,
            opened: &opened.run,
            ended: dry_run.ended.as_ref(),
            stand_in: &dry_run.stand_in,
            formats: superstep.formats,
            options: &self.options,
        }
    }
}

/// Returns the first of these tasks of a superstep as not checked, if there is one.
fn not_checked(step: &compare::Superstep<'_>, tasks: &[usize]) -> Outcome {
    let found = step.log.records.get(step.at).and_then(|then| {
        let id = then.checkpoint.id;
        let tasks: Vec<Task> = tasks.iter().map(|task| (id, *task)).collect();
        step.find(then, &tasks, no_interrupt::NO_INTERRUPT)
    });
    found.unwrap_or(Outcome::Same)
}
