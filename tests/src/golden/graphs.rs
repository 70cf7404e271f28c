//! Graphs that produce every kind of record.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use langgraph::message::Message;
use langgraph::node::Send;
use langgraph::prelude::*;
use langgraph::run::Persistence;
use serde::{Deserialize, Serialize};

use super::Fallible;

/// The state of the golden threads.
#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[state(version = 3)]
pub struct Ledger {
    /// What the nodes have done.
    #[reducer(append)]
    pub log: Vec<String>,
    /// Messages with ids.
    #[reducer(add_messages)]
    pub messages: Vec<Message>,
    /// Written by one node at a time.
    pub note: Option<String>,
    /// Numbers that must be restored exactly.
    pub scores: BTreeMap<String, f64>,
}

/// The item of a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    name: String,
    weight: u32,
}

/// The state of a graph under `PerThread`.
#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Memory {
    /// Its inputs.
    #[reducer(append)]
    pub asked: Vec<String>,
}

/// The world outside of the graphs.
#[derive(Debug)]
pub struct World {
    works: AtomicBool,
    price: f64,
}

impl World {
    /// Creates a working world with this price.
    pub fn new(price: f64) -> Arc<Self> {
        Arc::new(Self {
            works: AtomicBool::new(true),
            price,
        })
    }

    /// Makes it work or fail.
    pub fn set_works(&self, works: bool) {
        self.works.store(works, Ordering::SeqCst);
    }
}

pub(super) fn did(line: impl Into<String>) -> LedgerUpdate {
    LedgerUpdate::default().log(vec![line.into()])
}

pub(super) fn job(name: &str, weight: u32) -> Job {
    let name = name.to_owned();
    Job { name, weight }
}

async fn plan(_: &Ledger) -> LedgerUpdate {
    did("plan")
        .messages(vec![
            Message::system("be brief").with_id("m1"),
            Message::user("what does it cost?").with_id("m2"),
        ])
        .scores(BTreeMap::from([
            ("a".to_owned(), 0.1 + 0.2),
            ("b".to_owned(), -0.0),
        ]))
}

async fn step(_: &Ledger, cx: &Context) -> LedgerUpdate {
    did(cx.node())
}

async fn work(job: Job) -> LedgerUpdate {
    did(format!("work on {} ({})", job.name, job.weight))
}

/// Sends two items, and a state.
fn jobs(state: &Ledger) -> Vec<Send<Ledger>> {
    let mut other = state.clone();
    other.log = vec!["of its own".to_owned()];
    vec![
        Send::to("work", job("roof", 7)),
        Send::to("work", job("wall", 4_000_000_000)),
        Send::state("alone", other),
    ]
}

/// Writes the length of the log that it sees.
async fn alone(state: &Ledger) -> LedgerUpdate {
    did(format!("alone with {}", state.log.join("+")))
}

/// Does work once, and interrupts twice.
async fn ask(_: &Ledger, cx: &Context) -> Result<LedgerUpdate, NodeError> {
    let world = cx.resource_arc::<World>()?;
    let price = async { Ok::<_, NodeError>(world.price) };
    let price = cx.once("price", price).await?;
    let question = BTreeMap::from([("price", price)]);
    let approved: bool = cx.interrupt("approve", &question)?;
    let name: String = cx.interrupt("name", "who says so?")?;
    let answer = Message::assistant(format!("{name} says {approved}")).with_id("m2");
    Ok(did(format!("ask {name} {price}")).messages(vec![answer]))
}

/// Fails while the world is broken.
async fn check(_: &Ledger, cx: &Context) -> Result<Command<Ledger>, NodeError> {
    if !cx.resource_arc::<World>()?.works.load(Ordering::SeqCst) {
        return Err(NodeError::msg("the world is broken"));
    }
    let note = LedgerUpdate::default().note(Some("checked".to_owned()));
    Ok(Command::update(did("check"))
        .and_overwrite(note)
        .and_edges())
}

async fn question(_: &Ledger, cx: &Context) -> Result<LedgerUpdate, NodeError> {
    let place: String = cx.interrupt("place", &["here", "there"])?;
    Ok(did(format!("question {place}")))
}

/// A fan-out, a waiting join, sends, a deferred node, interrupts, a subgraph that is stored per
/// call and one that is stored per thread.
pub fn order(world: &Arc<World>) -> Fallible<CompiledStateGraph<Ledger>> {
    let mut inside = StateGraph::<Ledger>::new();
    inside.add_node("look", step).add_node("question", question);
    inside.add_sequence(&["look", "question"]);
    let inside = inside.compile()?;

    let mut expert = StateGraph::<Memory>::new();
    expert.add_node("think", |memory: &Memory| {
        MemoryUpdate::default().asked(vec![format!("thought {}", memory.asked.len())])
    });
    let expert = expert.add_sequence(&["think"]).compile()?;
    let expert = expert.persistence(Persistence::PerThread("expert".to_owned()));
    let expert = expert.mapped(
        |ledger: &Ledger| {
            let asked = ledger.note.clone();
            MemoryUpdate::default().asked(asked.into_iter().collect())
        },
        |memory: Memory| did(format!("expert {}", memory.asked.join("+"))),
    );

    let mut graph = StateGraph::new();
    graph.resource(Arc::clone(world));
    graph.add_node("plan", plan);
    for name in ["left", "right", "late", "meet", "beside"] {
        graph.add_node(name, step);
    }
    graph.add_node("summary", step.defer());
    graph.add_worker("work", work);
    graph.add_node("alone", alone);
    graph.add_node("ask", ask).add_node("check", check.retry(1));
    graph.add_node("inside", inside).add_node("expert", expert);

    graph.add_edge(START, "plan");
    graph.add_edge("plan", "left").add_edge("plan", "right");
    graph.add_edge("left", "late").add_edge("left", "summary");
    graph.add_edge(["right", "late"], "meet");
    graph.add_router("meet", jobs);
    graph.add_edge("work", "ask").add_edge("alone", "ask");
    graph.add_edge("ask", "check").add_edge("ask", "beside");
    graph
        .add_edge("check", "inside")
        .add_edge("inside", "expert");
    Ok(graph.compile()?)
}

/// A router that interrupts, and a subgraph with a command for its parent.
pub fn road() -> Fallible<CompiledStateGraph<Ledger>> {
    let mut inside = StateGraph::<Ledger>::new();
    inside.add_node("leave", |_: &Ledger| {
        let around = Command::<Ledger>::update(did("from inside"));
        Command::<Ledger>::parent(around.and_goto(["stop", "left"]))
    });
    inside.add_sequence(&["leave"]);
    let mut graph = StateGraph::new();
    graph.add_node("crossing", step);
    graph.add_node("left", step);
    graph.add_node("inside", inside.compile()?);
    graph.add_node("stop", |_: &Ledger| {
        let note = LedgerUpdate::default().note(Some("stopped".to_owned()));
        (note, Next::End)
    });
    graph.add_edge(START, "crossing");
    graph.add_router("crossing", |_: &Ledger, cx: &Context| {
        Ok::<String, NodeError>(cx.interrupt("way", "where to?")?)
    });
    Ok(graph.compile()?)
}

/// A loop whose log is long enough for snapshots.
pub fn walk() -> Fallible<CompiledStateGraph<Ledger>> {
    let mut graph = StateGraph::<Ledger>::new();
    graph.add_node("step", |state: &Ledger| {
        let step = state.scores.get("step").map_or(0.0, |step| step + 1.0);
        let note = format!("{step} {}", "steps and ".repeat(25));
        let scores = BTreeMap::from([("step".to_owned(), step)]);
        LedgerUpdate::default().note(Some(note)).scores(scores)
    });
    graph.add_edge(START, "step");
    graph.add_router("step", |state: &Ledger| {
        let steps = state.scores.get("step").copied().unwrap_or(0.0);
        if steps % 10.0 < 9.0 { "step" } else { END }
    });
    Ok(graph.compile()?)
}
