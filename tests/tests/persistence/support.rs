//! A state, nodes and a world for the tests of threads.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use langgraph::checkpoint::{Checkpointer, MemorySaver, Snapshot};
use langgraph::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Diary {
    /// What nodes wrote.
    #[reducer(append)]
    pub(crate) log: Vec<String>,
}

pub(crate) fn wrote(line: impl Into<String>) -> DiaryUpdate {
    DiaryUpdate::default().log(vec![line.into()])
}

/// What the nodes did outside, and whether the outside world is broken.
#[derive(Debug, Default)]
pub(crate) struct World {
    effects: Mutex<Vec<String>>,
    pub(crate) broken: AtomicBool,
}

impl World {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn effect(&self, what: impl Into<String>) {
        self.effects.lock().unwrap().push(what.into());
    }

    pub(crate) fn effects(&self) -> Vec<String> {
        self.effects.lock().unwrap().clone()
    }

    /// How often that was done.
    pub(crate) fn times(&self, what: &str) -> usize {
        self.effects()
            .iter()
            .filter(|effect| *effect == what)
            .count()
    }

    /// Works, or fails while the world is broken.
    pub(crate) fn works(&self) -> Result<(), NodeError> {
        if self.broken.load(Ordering::SeqCst) {
            return Err(NodeError::msg("the world is broken"));
        }
        Ok(())
    }

    pub(crate) fn set_broken(&self, broken: bool) {
        self.broken.store(broken, Ordering::SeqCst);
    }
}

pub(crate) fn world(cx: &Context) -> Arc<World> {
    cx.resource_arc::<World>().unwrap()
}

/// A name that no other task of the thread has.
pub(crate) fn unique(name: &str, diary: &Diary) -> String {
    format!("{name}@{}", diary.log.len())
}

/// A node that writes its name and how long the diary was, and has an effect of that name.
pub(crate) async fn note(diary: &Diary, cx: &Context) -> DiaryUpdate {
    let line = unique(cx.node(), diary);
    tokio::task::yield_now().await;
    world(cx).effect(&line);
    wrote(line)
}

/// A node that asks, and writes the answer.
pub(crate) async fn ask(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    let answer: String = cx.interrupt("name", "who?")?;
    world(cx).effect(format!("asked {answer}"));
    Ok(wrote(answer))
}

/// A node that fails while the world is broken.
pub(crate) async fn fragile(_: &Diary, cx: &Context) -> Result<DiaryUpdate, NodeError> {
    world(cx).works()?;
    Ok(wrote(cx.node()))
}

/// Work that is done once: the effect `key`.
pub(crate) async fn work_once(cx: &Context, key: &str) -> Result<usize, NodeError> {
    let world = world(cx);
    let work = async {
        tokio::task::yield_now().await;
        world.effect(key);
        Ok::<_, Infallible>(world.times(key))
    };
    cx.once(key, work).await
}

/// A graph whose nodes work in `world`.
pub(crate) fn graph_in(world: &Arc<World>) -> StateGraph<Diary> {
    let mut graph = StateGraph::new();
    graph.resource(Arc::clone(world));
    graph
}

pub(crate) fn over(
    graph: &StateGraph<Diary>,
    saver: &Arc<dyn Checkpointer>,
) -> CompiledStateGraph<Diary> {
    graph.compile().unwrap().checkpointer(Arc::clone(saver))
}

pub(crate) fn in_memory(graph: &StateGraph<Diary>) -> CompiledStateGraph<Diary> {
    over(graph, &memory())
}

pub(crate) fn memory() -> Arc<dyn Checkpointer> {
    Arc::new(MemorySaver::new())
}

pub(crate) async fn state(graph: &CompiledStateGraph<Diary>, thread: &str) -> Snapshot<Diary> {
    graph.thread(thread).state().await.unwrap().unwrap()
}

pub(crate) async fn log_of(graph: &CompiledStateGraph<Diary>, thread: &str) -> Vec<String> {
    state(graph, thread).await.values.log
}

/// What must not depend on how often a thread was disturbed: its checkpoints, oldest first, with
/// the numbers of their parents in place of ids.
pub(crate) async fn shown(graph: &CompiledStateGraph<Diary>, thread: &str) -> Vec<String> {
    let mut history = graph.thread(thread).history().await.unwrap();
    history.reverse();
    let number = |id| history.iter().position(|snapshot| snapshot.id == id);
    let lines = history.iter().map(|snapshot| {
        let parent = snapshot.parent.map(number);
        format!("{} after {parent:?}", line(snapshot))
    });
    lines.collect()
}

/// A checkpoint without its id.
pub(crate) fn line(snapshot: &Snapshot<Diary>) -> String {
    let tasks = snapshot.tasks.iter().map(|task| {
        let asked = task.interrupts.iter();
        let asked: Vec<_> = asked.map(|i| (&i.key, &i.payload)).collect();
        let node = &task.node;
        format!(
            "{node} {} {:?} {:?} {asked:?}",
            task.sent, task.result, task.error
        )
    });
    let tasks: Vec<_> = tasks.collect();
    format!(
        "{} {:?} {:?} next {:?} tasks {tasks:?} joins {:?}",
        snapshot.step, snapshot.source, snapshot.values.log, snapshot.next, snapshot.unfilled_joins
    )
}
