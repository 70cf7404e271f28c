//! Compares a superstep with what is stored of it.

use std::collections::BTreeSet;

use langgraph::checkpoint::{Formats, Source, Stored, TaskArgument, TaskOutcome, TaskSpec};
use langgraph::error::{AgentError, CheckpointError};
use langgraph::graph::{END, START};
use langgraph_core::checkpoint::{TaskFold, fold_tasks};
use serde_json::{Value, json};

use super::Options;
use super::answered::Answered;
use super::answers::{Difference, StoredAnswers, TOOL, Task};
use super::log::{Log, Logs};
use super::no_interrupt;
use super::report::{Divergence, Unchecked};
use super::stored;
use super::without::{without_call_ids, without_content, without_ids};

/// A thread has an answer as middleware left it. What today's makes of that answer shows nothing: it may be new, or it
/// changes the answer a second time.
const SAID_AGAIN: &str = "the stored answer of a model is changed, perhaps for a second time; `.ask_models()` has the model answer anew, `.keep(..)` takes what is stored";
const DONE_AGAIN: &str = "its middleware changes the stored answer of a tool; `.run_tools(..)` calls the tool, `.keep(..)` takes what is stored";

/// How a superstep compares.
pub(super) enum Outcome {
    Same,
    Unchecked(Unchecked),
    Diverges(Box<Divergence>),
}

/// A superstep, then and now.
pub(super) struct Superstep<'a> {
    pub(super) log: &'a Log,
    pub(super) at: usize,
    /// The log after the replay.
    pub(super) got: &'a [Stored],
    /// The tasks that ran again.
    pub(super) opened: &'a BTreeSet<usize>,
    /// Why the run failed, if it did.
    pub(super) ended: Option<&'a AgentError>,
    pub(super) stand_in: &'a StoredAnswers,
    pub(super) formats: &'a Formats,
    pub(super) options: &'a Options,
}

/// Compares the tasks that ran again, and what follows.
pub(super) fn compare(step: &Superstep<'_>) -> Result<Outcome, CheckpointError> {
    let Some(then) = step.log.records.get(step.at) else {
        return Ok(Outcome::Same);
    };
    let outcome = tasks(step, then)?;
    if !matches!(outcome, Outcome::Same) {
        return Ok(outcome);
    }
    let outcome = follows(step, then)?;
    if !matches!(outcome, Outcome::Same) {
        return Ok(outcome);
    }
    let unrecorded = step.stand_in.unrecorded();
    let reason = "its request to a model is not in the cassette";
    Ok(step.find(then, &unrecorded, reason).unwrap_or(outcome))
}

/// Compares the state at the end of a thread.
pub(super) fn end(
    logs: &Logs,
    then: &Value,
    now: &Value,
    ignore: &BTreeSet<String>,
) -> Option<Divergence> {
    let (then, now) = (without_ids(then.clone()), without_ids(now.clone()));
    let (field, expected, got) = field(&then, &now, ignore)?;
    let last = logs.get(&Vec::new()).and_then(|root| root.records.last());
    Some(Divergence {
        graph: Vec::new(),
        superstep: last.map_or(0, |last| last.checkpoint.step),
        node: END.to_owned(),
        field,
        expected,
        got,
    })
}

/// Returns the first field that differs, `value` of a value without fields.
fn field(then: &Value, now: &Value, ignore: &BTreeSet<String>) -> Option<Difference> {
    if !then.is_object() && !now.is_object() {
        return (then != now).then(|| ("value".to_owned(), then.clone(), now.clone()));
    }
    let fields = |value: &Value| -> Vec<String> {
        let fields = value.as_object().map(|fields| fields.keys().cloned());
        fields.into_iter().flatten().collect()
    };
    let names: BTreeSet<String> = fields(then).into_iter().chain(fields(now)).collect();
    let mut names = names.into_iter().filter(|name| !ignore.contains(name));
    names.find_map(|name| {
        let (then, now) = (then[&name].clone(), now[&name].clone());
        (then != now).then_some((name, then, now))
    })
}

/// Removes from `withheld` what the tasks ask now. If one asks for none of its answers, it diverges.
pub(super) fn answered(step: &Superstep<'_>, withheld: &mut Answered) -> Option<Outcome> {
    let then = step.log.records.get(step.at)?;
    let now = step.now(then).map(fold_tasks).unwrap_or_default();
    let (task, own) = withheld.remove(&now).err()?;
    if no_interrupt::cannot_interrupt(step.stand_in, (then.checkpoint.id, task), &own.payload) {
        withheld.give_up(task);
        return None;
    }
    let specs = specs(then);
    let node = specs.get(task).map_or(START, |spec| &*spec.node);
    let expected = json!([{own.key: own.payload}]);
    let got = step.outcome(now.get(task));
    Some(step.diverges(then, node, ("interrupt".to_owned(), expected, got)))
}

/// Compares the tasks that ran again.
fn tasks(step: &Superstep<'_>, then: &Stored) -> Result<Outcome, CheckpointError> {
    let reason = "it asks a model whose answers are not stored; name a `.model(..)`, or `.keep(..)` the node";
    let id = then.checkpoint.id;
    let (folded, again) = (
        fold_tasks(then),
        step.now(then).map(fold_tasks).unwrap_or_default(),
    );
    for (index, (spec, fold)) in specs(then).iter().zip(&folded).enumerate() {
        if !step.opened.contains(&index) {
            continue;
        }
        let missing = step.stand_in.missing();
        if missing.contains(&(id, index)) {
            return Ok(step
                .find(then, &[(id, index)], reason)
                .unwrap_or(Outcome::Same));
        }
        let mut changed = step.stand_in.changed().into_iter();
        if let Some((_, difference)) = changed.find(|(task, _)| *task == (id, index)) {
            return Ok(step.diverges(then, &spec.node, difference));
        }
        if let Some(difference) = step.task(fold, again.get(index))? {
            let waited = no_interrupt::has_waited(step.stand_in, (id, index), fold);
            let reason = if waited {
                Some(no_interrupt::NO_INTERRUPT)
            } else {
                step.changed_again((id, index), fold, again.get(index))?
            };
            let unknown = reason.and_then(|reason| step.find(then, &[(id, index)], reason));
            return Ok(unknown.unwrap_or_else(|| step.diverges(then, &spec.node, difference)));
        }
    }
    Ok(Outcome::Same)
}

/// Compares what follows the superstep.
fn follows(step: &Superstep<'_>, then: &Stored) -> Result<Outcome, CheckpointError> {
    let specs = specs(then);
    let place = step.place(then);
    // What follows is known only if the superstep ended then.
    let follows = |records: &[Stored], after: usize| -> Option<Stored> {
        let next = records.get(after + 1)?;
        let ends = next.checkpoint.base.is_some_and(|base| base.with_tasks);
        (ends && next.checkpoint.source == Source::Loop).then(|| next.clone())
    };
    let Some(after_then) = follows(&step.log.records, step.at) else {
        return Ok(Outcome::Same);
    };
    let names: BTreeSet<&str> = specs.iter().map(|spec| &*spec.node).collect();
    let node = Vec::from_iter(names).join("`, `");
    let node = if node.is_empty() { START } else { &node };
    let expected = step.next(&after_then, true)?;
    let Some(after_now) = place.and_then(|place| follows(step.got, place)) else {
        let got = step.ended.map_or_else(
            || "the superstep does not end".to_owned(),
            ToString::to_string,
        );
        return Ok(step.diverges(then, node, ("next".to_owned(), expected, got.into())));
    };
    let got = step.next(&after_now, false)?;
    if expected != got {
        return Ok(step.diverges(then, node, ("next".to_owned(), expected, got)));
    }
    Ok(Outcome::Same)
}

impl Superstep<'_> {
    /// Returns the place of the superstep in the log after the replay.
    fn place(&self, then: &Stored) -> Option<usize> {
        let id = then.checkpoint.id;
        let mut got = self.got.iter();
        got.position(|stored| stored.checkpoint.id == id)
    }

    fn now(&self, then: &Stored) -> Option<&Stored> {
        self.got.get(self.place(then)?)
    }

    fn diverges(&self, then: &Stored, node: &str, difference: Difference) -> Outcome {
        let (field, expected, got) = difference;
        Outcome::Diverges(Box::new(Divergence {
            graph: self.log.path(),
            superstep: then.checkpoint.step + 1,
            node: node.to_owned(),
            field,
            expected,
            got,
        }))
    }

    /// Returns the first of these tasks that is one of this superstep as not checked.
    pub(super) fn find(&self, then: &Stored, tasks: &[Task], reason: &str) -> Option<Outcome> {
        let specs = specs(then);
        let mut own = tasks.iter().filter(|task| task.0 == then.checkpoint.id);
        let node = own.find_map(|(_, index)| specs.get(*index))?;
        Some(Outcome::Unchecked(Unchecked {
            graph: self.log.path(),
            superstep: then.checkpoint.step + 1,
            node: Some(node.node.to_string()),
            reason: reason.to_owned(),
        }))
    }

    /// Returns what a task did.
    fn outcome(&self, now: Option<&TaskFold<'_>>) -> Value {
        match (now, self.ended) {
            (Some(now), _) if now.outcome.is_some() => outcome(now),
            (_, Some(error)) => json!(error.to_string()),
            _ => json!("it did not run"),
        }
    }

    fn task(
        &self,
        then: &TaskFold<'_>,
        now: Option<&TaskFold<'_>>,
    ) -> Result<Option<Difference>, CheckpointError> {
        if let Some((then, now)) = self.both_written(then, now)? {
            return Ok(self.writes(&then, &now));
        }
        if let (Some(then), Some(now)) = (interrupts(then), now.and_then(interrupts)) {
            return Ok((then != now).then(|| ("interrupt".to_owned(), then, now)));
        }
        let ends = now.is_some_and(|now| {
            let failed = matches!(now.outcome, Some(TaskOutcome::Failed(_)));
            now.outcome.is_some() && !failed
        });
        if matches!(then.outcome, Some(TaskOutcome::Failed(_))) && !ends {
            // It still fails.
            return Ok(None);
        }
        Ok(Some((
            "outcome".to_owned(),
            outcome(then),
            self.outcome(now),
        )))
    }

    /// Returns what a task wrote then and now, if it has ended both times.
    fn both_written(
        &self,
        then: &TaskFold<'_>,
        now: Option<&TaskFold<'_>>,
    ) -> Result<Option<(Value, Value)>, CheckpointError> {
        let written = |fold: &TaskFold<'_>| match fold.outcome {
            Some(TaskOutcome::Finished(done)) => stored::json(done, self.formats).map(Some),
            _ => Ok(None),
        };
        let now = now.map(written).transpose()?.flatten();
        Ok(written(then)?.zip(now))
    }

    /// Returns why a task that differs is not checked, if it does so only in stored answers.
    fn changed_again(
        &self,
        task: Task,
        then: &TaskFold<'_>,
        now: Option<&TaskFold<'_>>,
    ) -> Result<Option<&'static str>, CheckpointError> {
        let roles = self.stand_in.answered(task);
        let both = self.both_written(then, now)?;
        let same = both.is_some_and(|(then, now)| {
            let [then, now] = [then, now].map(|value| without_content(value, &roles));
            self.writes(&then, &now).is_none()
        });
        let reason = if roles.contains(&TOOL) {
            DONE_AGAIN
        } else {
            SAID_AGAIN
        };
        Ok(same.then_some(reason))
    }

    /// Returns a value without what is random: the ids of messages, and those of calls if models answer anew.
    fn comparable(&self, value: Value) -> Value {
        let value = without_ids(value);
        if self.options.ask_models {
            return without_call_ids(value);
        }
        value
    }

    /// Compares what a task wrote, and where it goes.
    fn writes(&self, then: &Value, now: &Value) -> Option<Difference> {
        let empty = Vec::new();
        let list = |wire: &Value| -> Vec<Value> {
            let writes = wire["writes"].as_array().unwrap_or(&empty).iter();
            // An empty update is none.
            let writes = writes.filter(|write| write["update"] != json!({}));
            writes
                .cloned()
                .map(|write| self.comparable(write))
                .collect()
        };
        let (mine, theirs) = (list(then), list(now));
        for place in 0..mine.len().max(theirs.len()) {
            let (then, now) = (mine.get(place), theirs.get(place));
            let difference = self.fields(then.unwrap_or(&Value::Null), now.unwrap_or(&Value::Null));
            if difference.is_some() {
                return difference;
            }
        }
        let (then, now) = (
            self.comparable(then["jump"].clone()),
            self.comparable(now["jump"].clone()),
        );
        (then != now).then(|| ("goto".to_owned(), then, now))
    }

    /// Compares a write, field by field.
    fn fields(&self, then: &Value, now: &Value) -> Option<Difference> {
        let inner = |write: &Value| -> (Value, Value) {
            let entry = write.as_object().and_then(|write| write.iter().next());
            entry.map_or((Value::Null, Value::Null), |(kind, value)| {
                (json!(kind), value.clone())
            })
        };
        let ((then_kind, then), (now_kind, now)) = (inner(then), inner(now));
        let difference = field(&then, &now, &self.options.ignore);
        difference
            .or_else(|| (then_kind != now_kind).then(|| ("write".to_owned(), then_kind, now_kind)))
    }

    /// Returns the next tasks, each by its node, or with its argument.
    fn next(&self, stored: &Stored, renames: bool) -> Result<Value, CheckpointError> {
        let name = |node: &str| {
            let now = self.options.renamed.get(node).filter(|_| renames);
            now.map_or_else(|| node.to_owned(), Clone::clone)
        };
        let mut next = Vec::new();
        for TaskSpec { node, argument, .. } in &stored.checkpoint.tasks {
            let node = name(node);
            next.push(match argument {
                None => json!(node),
                Some(TaskArgument::Item(item)) => {
                    let item = stored::json(item, self.formats)?;
                    let text = item.as_str().unwrap_or_default();
                    let item = serde_json::from_str(text).unwrap_or(item.clone());
                    json!({ node: self.comparable(item) })
                }
                Some(TaskArgument::State(state)) => {
                    json!({ node: self.comparable(stored::json(state, self.formats)?) })
                }
            });
        }
        let deferred = stored.checkpoint.deferred.iter();
        next.extend(deferred.map(|node| json!(name(node))));
        Ok(Value::Array(next))
    }
}

/// Returns the interrupts of a task that waits for answers.
fn interrupts(fold: &TaskFold<'_>) -> Option<Value> {
    let Some(TaskOutcome::Interrupted(interrupts)) = fold.outcome else {
        return None;
    };
    let own = interrupts.own.iter();
    let own = own.map(|own| json!({own.key.as_str(): own.payload}));
    let inner = interrupts.inner.iter();
    let inner = inner.map(|inner| json!({inner.key.as_str(): inner.payload}));
    Some(Value::Array(own.chain(inner).collect()))
}

/// Returns how a task ended.
fn outcome(fold: &TaskFold<'_>) -> Value {
    match fold.outcome {
        Some(TaskOutcome::Finished(_)) => json!("finished"),
        Some(TaskOutcome::Failed(error)) => json!(format!("failed: {error}")),
        _ => json!({"interrupts": interrupts(fold)}),
    }
}

fn specs(stored: &Stored) -> Vec<&TaskSpec> {
    let joined_in = stored.entries.iter().flat_map(|entry| &entry.tasks);
    stored.checkpoint.tasks.iter().chain(joined_in).collect()
}
