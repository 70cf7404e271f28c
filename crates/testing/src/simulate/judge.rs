//! Judges a seed: runs it, checks the invariants, and shortens a failure.

use std::panic::{AssertUnwindSafe, catch_unwind};

use langgraph::state::State;

use super::dice::Trial;
use super::event::SimulationEvent;
use super::failure::SimulationFailure;
use super::history::History;
use super::seed::{Simulated, simulate_seed};
use super::setup::Setup;
use super::story::story;
use super::violation::{Rule, Violation};

/// An invariant of a test.
pub(super) type Invariant<S> = dyn Fn(&History<S>) -> Result<(), String> + Send + Sync;

/// Judges seeds.
pub(super) struct SeedJudge<'a, S: State> {
    pub(super) setup: &'a Setup<S>,
    pub(super) invariants: &'a [Box<Invariant<S>>],
}

impl<S: State> SeedJudge<'_, S> {
    /// Runs a seed; `twice` also checks that it gives the same history again.
    ///
    /// # Errors
    ///
    /// What the seed violates.
    pub(super) fn judge(&self, seed: u64, twice: bool) -> Result<Simulated<S>, SimulationFailure> {
        let first = self.run(seed, Trial::default())?;
        if !twice && first.violation.is_none() {
            return Ok(first);
        }
        let second = self.run(seed, Trial::default())?;
        // Such a seed has no second history that is the same.
        for simulated in [&first, &second] {
            if let Some(violation) = &simulated.violation
                && violation.rule == Rule::Simulated
            {
                return Err(failure(violation, &simulated.history));
            }
        }
        if let Some(violation) = differs(&first, &second) {
            return Err(failure(&violation, &second.history));
        }
        match first.violation {
            None => Ok(first),
            Some(violation) => Err(self.shortened(seed, violation, second)?),
        }
    }

    /// Runs a seed, and checks the invariants.
    fn run(&self, seed: u64, trial: Trial) -> Result<Simulated<S>, SimulationFailure> {
        let simulated = simulate_seed(self.setup, seed, trial);
        let mut simulated = simulated.map_err(|error| SimulationFailure {
            seed,
            message: format!("no runtime: {error}"),
            story: Vec::new(),
            history: String::new(),
        })?;
        if simulated.violation.is_none() {
            simulated.violation = self.violated(&simulated.history);
        }
        Ok(simulated)
    }

    fn violated(&self, history: &History<S>) -> Option<Violation> {
        let checks = self.invariants.iter().enumerate();
        let mut failed = checks.filter_map(|(number, invariant)| {
            let checked = catch_unwind(AssertUnwindSafe(|| invariant(history)));
            let text = match checked {
                Ok(checked) => checked.err()?,
                Err(panic) => text_of(&*panic),
            };
            Some(Violation::new(Rule::Invariant(number), None, text))
        });
        failed.next()
    }

    /// Leaves out what the failure does not need: threads, pauses, faults.
    fn shortened(
        &self,
        seed: u64,
        violation: Violation,
        simulated: Simulated<S>,
    ) -> Result<SimulationFailure, SimulationFailure> {
        let mut best = simulated;
        best.violation = Some(violation);
        let mut trial = Trial::default();
        let attempt = |trial: &mut Trial, next: Trial, best: &mut Simulated<S>| {
            let tried = self.run(seed, next.clone())?;
            let rule = |simulated: &Simulated<S>| simulated.violation.as_ref().map(|one| one.rule);
            let same = rule(&tried) == rule(best);
            if same {
                (*trial, *best) = (next, tried);
            }
            Ok::<bool, SimulationFailure>(same)
        };
        if self.setup.threads > 1 {
            for index in 0..self.setup.threads {
                let thread = Some(index);
                let next = Trial {
                    thread,
                    ..trial.clone()
                };
                if attempt(&mut trial, next, &mut best)? {
                    break;
                }
            }
        }
        let next = Trial {
            calm: true,
            ..trial.clone()
        };
        attempt(&mut trial, next, &mut best)?;
        let mut number = 0;
        while number < best.faults {
            let mut next = trial.clone();
            next.masked.insert(number);
            attempt(&mut trial, next, &mut best)?;
            number += 1;
        }
        let violation = best.violation.take();
        let violation = violation.unwrap_or_else(|| Violation::new(Rule::GoesOn, None, ""));
        Ok(failure(&violation, &best.history))
    }
}

fn failure<S>(violation: &Violation, history: &History<S>) -> SimulationFailure {
    SimulationFailure {
        seed: history.seed(),
        message: violation.to_string(),
        story: story(history.events(), violation.thread.as_deref()),
        history: history.to_string(),
    }
}

/// Compares two runs of a seed: the first event that differs names the node.
fn differs<S>(first: &Simulated<S>, second: &Simulated<S>) -> Option<Violation> {
    let (one, other) = (first.history.events(), second.history.events());
    let differs = |index: &usize| one.get(*index) != other.get(*index);
    let index = (0..one.len().max(other.len())).find(differs)?;
    let before = one.get(..index).unwrap_or_default().iter().rev();
    let found = one.get(index).or_else(|| other.get(index))?;
    let same_thread = |event: &&SimulationEvent| event.thread == found.thread;
    let node = found.node.clone();
    let node = node.or_else(|| {
        before
            .filter(same_thread)
            .find_map(|event| event.node.clone())
    });
    let text = |event: Option<&SimulationEvent>| {
        event.map_or_else(|| "nothing".to_owned(), ToString::to_string)
    };
    let message = format!(
        "the same seed gives another history: after `{}`, it was \"{}\" and then \"{}\"; the graph depends on \
         something outside the simulation: the clock of the machine (use `cx.now()`), random numbers (use \
         `cx.random()`), a `static`, the order of a `HashMap`, or `tokio::select!` without `biased`",
        node.as_deref().unwrap_or("the start"),
        text(one.get(index)),
        text(other.get(index)),
    );
    let thread = Some(found.thread.as_str()).filter(|thread| !thread.is_empty());
    Some(Violation::new(Rule::Deterministic, thread, message))
}

/// Returns the text of a panic.
fn text_of(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "an invariant panicked".to_owned())
}
