//! Stored threads, today's code and a candidate side by side.

use std::collections::BTreeMap;
use std::fmt;

use langgraph::error::AgentError;
use langgraph::state::State;
use serde::Serialize;
use serde_json::Value;

use crate::{Divergence, Replay, ReplayReport, table};

/// The longest text of a value in the table.
const WIDTH: usize = 48;

/// Compares stored threads with two replays of them: what is stored, what today's code does, and what a
/// candidate does, another model or another prompt for example. Both replays go on behind a divergence.
///
/// A replay takes the stored answers of models. A candidate that is another model, or has another prompt, has
/// to answer itself: [`ask_models`](Replay::ask_models).
///
/// # Errors
///
/// As a [`replay`](crate::replay()).
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use langgraph::checkpoint::MemorySaver;
/// use langgraph_agent::{MessagesStateUpdate, ReactAgent, ScriptedModel, react_agent};
/// use langgraph_testing::{lanes, replay};
///
/// fn desk(answer: &str) -> ReactAgent {
///     react_agent(ScriptedModel::new([answer]), ())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let saver = Arc::new(MemorySaver::new());
/// let today = desk("Hello!").compile()?;
/// let stored = today.clone().checkpointer(saver.clone());
/// stored.thread("customer-1").run(MessagesStateUpdate::user("Hi")).await?;
///
/// let candidate = desk("Good day!").compile()?;
/// let table = lanes(
///     replay(saver.clone(), &today),
///     replay(saver, &candidate).ask_models(),
/// )
/// .await?;
/// assert_eq!(table.rows.len(), 1);
/// assert!(table.to_string().contains("Good day!"), "{table}");
/// # Ok(())
/// # }
/// ```
pub async fn lanes<S: State, T: State>(
    today: Replay<S>,
    candidate: Replay<T>,
) -> Result<Lanes, AgentError> {
    let today = today.every_divergence().await?;
    let candidate = candidate.every_divergence().await?;
    Ok(Lanes::new(today, candidate))
}

/// Where today's code or a candidate differs from stored threads; see [`lanes`]. It prints as a table, and
/// serializes.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Lanes {
    /// The differences, by thread and superstep.
    pub rows: Vec<LaneRow>,
    /// What the replay on today's code has found.
    pub today: ReplayReport,
    /// What the replay on the candidate has found.
    pub candidate: ReplayReport,
}

/// A field of a superstep in which a lane differs from what is stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LaneRow {
    /// The thread.
    pub thread: String,
    /// The path of nodes to the graph; empty at the root.
    pub graph: Vec<String>,
    /// The superstep of that graph.
    pub superstep: i64,
    /// The node, as in a [`Divergence`].
    pub node: String,
    /// The field, as in a [`Divergence`].
    pub field: String,
    /// What is stored.
    pub stored: Value,
    /// What today's code gives.
    pub today: Lane,
    /// What the candidate gives.
    pub candidate: Lane,
}

/// What a lane gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Lane {
    /// What is stored.
    Same,
    /// Another value.
    Differs(Value),
    /// The lane differs in another field of the superstep, or the superstep could not be compared.
    NotCompared,
}

/// A superstep of a graph of a thread: the thread, the path to the graph, the superstep.
type Place = (String, Vec<String>, i64);

impl Lanes {
    fn new(today: ReplayReport, candidate: ReplayReport) -> Self {
        let (of_today, of_candidate) = (differences(&today), differences(&candidate));
        let mut rows: Vec<LaneRow> = Vec::new();
        for (place, found) in of_today.iter().chain(&of_candidate) {
            let (thread, graph, superstep) = place.clone();
            for divergence in found {
                let (node, field) = (&divergence.node, &divergence.field);
                let is_known = |row: &LaneRow| {
                    (&row.thread, &row.graph, row.superstep) == (&thread, &graph, superstep)
                        && (&row.node, &row.field) == (node, field)
                };
                if rows.iter().any(is_known) {
                    continue;
                }
                rows.push(LaneRow {
                    thread: thread.clone(),
                    graph: graph.clone(),
                    superstep,
                    node: node.clone(),
                    field: field.clone(),
                    stored: divergence.expected.clone(),
                    today: lane(&today, &of_today, place, divergence),
                    candidate: lane(&candidate, &of_candidate, place, divergence),
                });
            }
        }
        rows.sort_by(|a, b| {
            let place = |row: &LaneRow| (row.thread.clone(), row.superstep, row.graph.clone());
            place(a).cmp(&place(b))
        });
        Self {
            rows,
            today,
            candidate,
        }
    }
}

fn differences(report: &ReplayReport) -> BTreeMap<Place, Vec<&Divergence>> {
    let mut found = BTreeMap::<Place, Vec<&Divergence>>::new();
    for thread in &report.threads {
        for divergence in thread.divergences() {
            let place = (
                thread.thread.clone(),
                divergence.graph.clone(),
                divergence.superstep,
            );
            found.entry(place).or_default().push(divergence);
        }
    }
    found
}

/// Returns what a lane has where another one differs.
fn lane(
    report: &ReplayReport,
    found: &BTreeMap<Place, Vec<&Divergence>>,
    place: &Place,
    other: &Divergence,
) -> Lane {
    if let Some(own) = found.get(place) {
        let mut own = own.iter();
        let same = own.find(|own| (&own.node, &own.field) == (&other.node, &other.field));
        return same.map_or(Lane::NotCompared, |own| Lane::Differs(own.got.clone()));
    }
    let (name, graph, superstep) = place;
    let thread = report.threads.iter().find(|thread| thread.thread == *name);
    let is_unchecked = thread.is_none_or(|thread| {
        let mut unchecked = thread.unchecked.iter();
        let is_it = |unchecked: &crate::Unchecked| {
            (&unchecked.graph, unchecked.superstep) == (graph, *superstep)
        };
        thread.unreadable.is_some() || unchecked.any(is_it)
    });
    if is_unchecked {
        return Lane::NotCompared;
    }
    Lane::Same
}

impl fmt::Display for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["superstep", "node", "field", "stored", "today", "candidate"];
        let mut rows = vec![table::header("thread", &names)];
        rows.extend(self.rows.iter().map(LaneRow::cells));
        f.write_str(&table::aligned(&rows))?;
        let sums = [("today", &self.today), ("candidate", &self.candidate)];
        for (lane, report) in sums {
            let threads = report.threads.iter();
            let different: usize = threads
                .clone()
                .map(|thread| thread.divergences().count())
                .sum();
            let supersteps: usize = threads.clone().map(|thread| thread.supersteps).sum();
            let unchecked: usize = threads.map(|thread| thread.unchecked.len()).sum();
            writeln!(
                f,
                "{lane}: {different} of {supersteps} supersteps differ, {unchecked} not checked"
            )?;
        }
        Ok(())
    }
}

impl LaneRow {
    fn cells(&self) -> Vec<String> {
        let graph = self.graph.iter().map(|node| format!("{node}/"));
        vec![
            self.thread.clone(),
            self.superstep.to_string(),
            graph.chain([self.node.clone()]).collect(),
            self.field.clone(),
            short(&self.stored),
            self.today.cell(),
            self.candidate.cell(),
        ]
    }
}

impl Lane {
    fn cell(&self) -> String {
        match self {
            Self::Same => "same".to_owned(),
            Self::Differs(value) => short(value),
            Self::NotCompared => "-".to_owned(),
        }
    }
}

/// Returns a value on one line. Of messages, it is their content that a reader looks for.
fn short(value: &Value) -> String {
    let text = match value {
        Value::Array(messages) if messages.iter().all(is_message) && !messages.is_empty() => {
            let contents = messages.iter().map(|message| {
                let calls = message.get("tool_calls").filter(|calls| !calls.is_null());
                let content = message.get("content").unwrap_or(&Value::Null);
                calls.map_or_else(|| content.to_string(), |calls| format!("{content} {calls}"))
            });
            contents.collect::<Vec<_>>().join(" ")
        }
        value => value.to_string(),
    };
    if text.chars().count() <= WIDTH {
        return text;
    }
    let start: String = text.chars().take(WIDTH - 1).collect();
    start + "…"
}

fn is_message(value: &Value) -> bool {
    value.get("role").is_some_and(Value::is_string) && value.get("content").is_some()
}
