//! Reading the golden threads.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::{
    CheckpointId, Checkpointer, ListOptions, Snapshot, Source, ThreadFilter,
};
use langgraph::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};

use super::graphs::{Ledger, Memory, World, order, road, walk};
use super::{Fallible, api, folder};

/// Returns what a saver with the golden threads shows: a line for each thread, checkpoint and end.
///
/// # Errors
///
/// When they cannot be read.
pub async fn expected(saver: &Arc<dyn Checkpointer>) -> Fallible<String> {
    // Work that was paid once is not paid again, whatever the price today.
    let world = World::new(99.0);
    let order = order(&world)?.checkpointer(Arc::clone(saver));
    let road = road()?.checkpointer(Arc::clone(saver));
    let walk = walk()?.checkpointer(Arc::clone(saver));
    let mut lines = Lines::default();
    let threads = saver
        .administration_for("reading a golden log")?
        .threads(ThreadFilter::new())
        .await?;
    for info in &threads {
        let (head, running) = (info.head, info.status.is_running());
        let log = json!({ "head": head.id, "version": head.version, "running": running });
        lines.line("thread", &info.thread, &log);
        match &*info.thread {
            "asking-router" | "parent" => lines.thread(&road, &info.thread).await?,
            "long" | "long-exit" => lines.thread(&walk, &info.thread).await?,
            thread => {
                lines.thread(&order, thread).await?;
                lines.inside::<Ledger>(&order, thread, "inside").await?;
                lines.inside::<Memory>(&order, thread, "expert").await?;
            }
        }
    }
    for info in &threads {
        match &*info.thread {
            "asking-router" => lines.end(&road, &info.thread).await?,
            "parent" | "long" | "long-exit" => {}
            thread => lines.end(&order, thread).await?,
        }
    }
    Ok(numbered(&lines.0))
}

/// Replaces the ids of checkpoints, which differ from file to file, by numbers.
fn numbered(text: &str) -> String {
    const LENGTH: usize = 36;
    let mut known: Vec<&str> = Vec::new();
    let mut numbered = String::new();
    let mut rest = text;
    while let Some(next) = rest.chars().next() {
        match rest.get(..LENGTH) {
            Some(id) if id.parse::<CheckpointId>().is_ok() => {
                let number = known.iter().position(|known| *known == id);
                let number = number.unwrap_or(known.len());
                if number == known.len() {
                    known.push(id);
                }
                numbered.push('#');
                numbered.push_str(&number.to_string());
                rest = rest.get(LENGTH..).unwrap_or_default();
            }
            _ => {
                numbered.push(next);
                rest = rest.get(next.len_utf8()..).unwrap_or_default();
            }
        }
    }
    numbered
}

/// Compares what a saver shows with the expectation.
///
/// # Errors
///
/// The first line that differs, or what cannot be read.
pub async fn check(saver: &Arc<dyn Checkpointer>) -> Fallible<()> {
    let wanted = std::fs::read_to_string(folder().join("expected.txt"))?;
    let found = expected(saver).await?;
    let (mut wanted, mut found) = (wanted.lines(), found.lines());
    loop {
        match (wanted.next(), found.next()) {
            (None, None) => return Ok(()),
            (wanted, found) if wanted == found => {}
            (wanted, found) => {
                let wanted = wanted.unwrap_or("nothing");
                let found = found.unwrap_or("nothing");
                return Err(format!("expected\n{wanted}\nbut found\n{found}").into());
            }
        }
    }
}

/// Sorts the keys of a value: a dependency may turn on `preserve_order` of `serde_json`.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields: BTreeMap<_, _> = fields.iter().collect();
            let fields = fields.into_iter();
            Value::Object(
                fields
                    .map(|(key, value)| (key.clone(), sorted(value)))
                    .collect(),
            )
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn line(&mut self, kind: &str, thread: &str, value: &Value) {
        let value = sorted(value).to_string();
        self.0.extend([kind, " ", thread, " ", &value, "\n"]);
    }

    /// Shows the state, and every checkpoint.
    async fn thread<S>(&mut self, graph: &CompiledStateGraph<S>, thread: &str) -> Fallible<()>
    where
        S: State + Serialize + PartialEq,
        S::Update: Serialize,
    {
        let state = api::state(graph, thread).await?.ok_or("no state")?;
        self.line("state", thread, &shown(&state)?);
        let history = api::history(graph, thread, ListOptions::new()).await?;
        for snapshot in &history {
            let saved = shown(snapshot)?;
            self.line("checkpoint", thread, &saved);
            let alone = api::state_at(graph, thread, snapshot.id).await?;
            if shown(&alone.ok_or("no checkpoint")?)? != saved {
                return Err(format!("{} is another one alone", snapshot.id).into());
            }
        }
        let lineage = api::lineage(graph, thread).await?;
        self.line("lineage", thread, &json!(ids(&lineage)));
        let options = ListOptions::new().source(Source::Loop).steps(1..=3);
        let some = options.metadata("user", "Ada");
        let some = api::history(graph, thread, some).await?;
        self.line("listed", thread, &json!(ids(&some)));
        Ok(())
    }

    /// Shows the same of a subgraph.
    async fn inside<T>(
        &mut self,
        graph: &CompiledStateGraph<Ledger>,
        thread: &str,
        node: &str,
    ) -> Fallible<()>
    where
        T: State + Serialize,
        T::Update: Serialize,
    {
        let (state, history) = api::inside::<Ledger, T>(graph, thread, node).await?;
        let state = state.as_ref().map(shown).transpose()?;
        let name = format!("{thread}/{node}");
        self.line("state", &name, &state.unwrap_or_default());
        for snapshot in &history {
            self.line("checkpoint", &name, &shown(snapshot)?);
        }
        Ok(())
    }

    /// Continues to the end, with an answer to every interrupt.
    async fn end(&mut self, graph: &CompiledStateGraph<Ledger>, thread: &str) -> Fallible<()> {
        let mut outcome = api::proceed(graph, thread).await?;
        while let Some(question) = outcome.interrupts().first() {
            let answer = match &*question.key {
                "approve" => json!(false),
                "way" => json!("left"),
                _ => json!("Eve"),
            };
            outcome = api::resume(graph, thread, &question.id, answer).await?;
        }
        self.line("end", thread, &serde_json::to_value(outcome.state())?);
        for snapshot in api::history(graph, thread, ListOptions::new()).await? {
            let line = json!([snapshot.step, snapshot.source, snapshot.next]);
            self.line("trail", thread, &line);
        }
        Ok(())
    }
}

fn ids<S: State>(snapshots: &[Snapshot<S>]) -> Vec<String> {
    let ids = snapshots.iter().map(|snapshot| snapshot.id.to_string());
    ids.collect()
}

/// A snapshot field by field, whatever its own serialized form is.
fn shown<S>(snapshot: &Snapshot<S>) -> Fallible<Value>
where
    S: State + Serialize,
    S::Update: Serialize,
{
    let made = snapshot.id.created_at();
    let second = Duration::from_secs(1);
    if snapshot.created_at + second < made || made + second < snapshot.created_at {
        return Err(format!("{} was made at another time", snapshot.id).into());
    }
    let interrupts = |asked: &[langgraph::interrupt::Interrupt]| {
        let asked = asked
            .iter()
            .map(|i| json!([i.id, i.key, i.node, i.namespace, i.payload]));
        asked.collect::<Vec<_>>()
    };
    let mut tasks = Vec::new();
    for task in &snapshot.tasks {
        tasks.push(json!({
            "node": task.node,
            "sent": task.sent,
            "result": serde_json::to_value(&task.result)?,
            "error": task.error,
            "interrupts": interrupts(&task.interrupts),
            "inside": api::inside_task(task)
                .map(|inside| json!([inside.id(), inside.step(), inside.next()])),
        }));
    }
    let joins = snapshot.unfilled_joins.iter();
    let joins = joins.map(|join| json!([join.namespace, join.sources, join.target, join.seen]));
    Ok(json!({
        "id": snapshot.id,
        "parent": snapshot.parent,
        "step": snapshot.step,
        "source": snapshot.source,
        "next": snapshot.next,
        "interrupts": interrupts(&snapshot.interrupts),
        "metadata": snapshot.metadata,
        "joins": joins.collect::<Vec<_>>(),
        "tasks": tasks,
        "values": serde_json::to_value(&snapshot.values)?,
    }))
}
