//! Random graphs whose nodes have effects.

use std::sync::Arc;

use langgraph::checkpoint::Checkpointer;
use langgraph::node::Send;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use serde::{Deserialize, Serialize};

use crate::trace::{Phase, Trace};

#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Log {
    #[reducer(append)]
    pub(crate) keys: Vec<String>,
}

fn wrote(key: String) -> LogUpdate {
    LogUpdate::default().keys(vec![key])
}

fn trace(cx: &Context) -> Result<Arc<Trace>, NodeError> {
    Ok(cx.resource_arc::<Trace>()?)
}

/// Does something outside that a second time would do harm.
async fn effect(cx: &Context, name: &str, log: &Log) -> Result<LogUpdate, NodeError> {
    let key = format!("key:{name}@{}", log.keys.len());
    let trace = trace(cx)?;
    let work = async {
        trace.line(&format!("start {key}"));
        tokio::task::yield_now().await;
        trace.line(&format!("effect {key}"));
    };
    trace.within(Phase::Node, work).await;
    Ok(wrote(key))
}

async fn plain(log: &Log, cx: &Context) -> Result<LogUpdate, NodeError> {
    effect(cx, cx.node(), log).await
}

/// Fails at first.
async fn flaky(log: &Log, cx: &Context) -> Result<LogUpdate, NodeError> {
    once(cx, log).await?;
    if cx.attempt() == 1 {
        return Err(NodeError::msg("not yet"));
    }
    effect(cx, cx.node(), log).await
}

async fn careful(log: &Log, cx: &Context) -> Result<LogUpdate, NodeError> {
    once(cx, log).await?;
    effect(cx, cx.node(), log).await
}

async fn once(cx: &Context, log: &Log) -> Result<(), NodeError> {
    let key = format!("once:{}@{}", cx.node(), log.keys.len());
    let trace = trace(cx)?;
    let work = async {
        trace.line(&format!("start {key}"));
        tokio::task::yield_now().await;
        trace.line(&format!("effect {key}"));
        Ok::<_, NodeError>(())
    };
    trace.within(Phase::Node, cx.once(key.as_str(), work)).await
}

/// Works once, asks, and has an effect.
async fn asking(log: &Log, cx: &Context) -> Result<LogUpdate, NodeError> {
    once(cx, log).await?;
    let answer: String = cx.interrupt(cx.node(), "who?")?;
    effect(cx, &answer, log).await
}

async fn item(name: String, log: &Log, cx: &Context) -> Result<LogUpdate, NodeError> {
    effect(cx, &name, log).await
}

/// A router with two targets.
fn either(
    left: String,
    right: String,
) -> impl Fn(&Log, &Context) -> Result<String, NodeError> + Clone {
    move |log: &Log, cx: &Context| {
        trace(cx)?.routing(|| match log.keys.len() % 2 {
            0 => Ok(left.clone()),
            _ => Ok(right.clone()),
        })
    }
}

/// Stages one after the other, each of another kind, between nodes `s0`, `s1`, … with routers.
pub(crate) fn build(seed: u64, trace: &Arc<Trace>) -> StateGraph<Log> {
    let mut graph = stages(seed, 5, "");
    graph.resource(Arc::clone(trace));
    graph
}

fn stages(seed: u64, stages: usize, prefix: &str) -> StateGraph<Log> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut graph = StateGraph::new();
    let name = |stage: usize, part: &str| format!("{prefix}s{stage}{part}");
    for stage in 0..=stages {
        graph.add_node(name(stage, ""), plain);
    }
    graph.add_edge(START, name(0, ""));
    for stage in 0..stages {
        let (here, next) = (name(stage, ""), name(stage + 1, ""));
        let (left, right) = (name(stage, "l"), name(stage, "r"));
        match random.u8(..7) {
            0 => {
                graph
                    .add_node(left.clone(), plain)
                    .add_node(right.clone(), careful);
                graph.add_router(here, either(left.clone(), right.clone()));
                graph.add_edge(left, next.clone()).add_edge(right, next);
            }
            1 => {
                graph
                    .add_node(left.clone(), careful)
                    .add_node(right.clone(), plain);
                graph
                    .add_edge(here.clone(), left.clone())
                    .add_edge(here, right.clone());
                graph.add_edge([left, right], next);
            }
            2 => {
                let worker = graph.add_worker(left.clone(), item);
                let items = 2 + random.usize(..2);
                let prefix = left.clone();
                let sends = move |_: &Log, cx: &Context| -> Result<_, NodeError> {
                    let trace = trace(cx)?;
                    let sends = (0..items).map(|item| Send::to(&worker, format!("{prefix}{item}")));
                    let sends: Vec<_> = trace.routing(|| sends.collect());
                    Ok(Command::goto(sends))
                };
                graph.add_node(right.clone(), sends).add_edge(here, right);
                graph.add_edge(left, next);
            }
            3 if prefix.is_empty() => {
                let inner = self::stages(random.u64(..), 1, &left).compile();
                graph.add_node(left.clone(), inner.expect("it is a graph"));
                graph.add_node(right.clone(), plain);
                graph
                    .add_edge(here.clone(), left.clone())
                    .add_edge(here, right.clone());
                graph.add_edge([left, right], next);
            }
            4 => {
                let retry = RetryPolicy::attempts(2).retry_on(|_| true).immediately();
                graph.add_node(left.clone(), flaky.retry(retry));
                graph.add_router(here, either(left.clone(), left.clone()));
                graph.add_edge(left, next);
            }
            5 => {
                graph
                    .add_node(left.clone(), asking)
                    .add_node(right.clone(), careful);
                graph
                    .add_edge(here.clone(), left.clone())
                    .add_edge(here, right.clone());
                graph.add_edge([left, right], next);
            }
            _ => {
                graph.add_router(here, either(next.clone(), next));
            }
        }
    }
    graph
}

/// Brings a thread to its end, from any position. Runs with `watched` wait for their readers.
pub(crate) async fn finish(
    graph: &CompiledStateGraph<Log>,
    thread: &str,
    durability: langgraph::checkpoint::Durability,
    trace: Option<&Trace>,
) -> Result<(), AgentError> {
    loop {
        let state = graph.thread(thread).state().await?;
        let run = match &state {
            None => graph.run(wrote("in".to_owned())).thread(thread),
            Some(state) if state.next.is_empty() => return Ok(()),
            Some(state) => match state.interrupts.first() {
                Some(question) => graph
                    .thread(thread)
                    .resume(&question.id, format!("answered {}", question.key)),
                None => graph.thread(thread).proceed(),
            },
        };
        let run = run.durability(durability);
        let Some(trace) = trace else {
            run.await?;
            continue;
        };
        let mut events =
            run.stream(langgraph::stream::StreamOptions::new(StreamMode::Updates).buffer(1));
        while let Some(event) = events.next().await {
            event?;
            trace.within(Phase::Between, async {}).await;
        }
    }
}

/// The thread without what differs from one run of it to another.
pub(crate) async fn shown(
    graph: &CompiledStateGraph<Log>,
    thread: &str,
) -> Result<Vec<String>, String> {
    let history = graph.thread(thread).history().await;
    let mut history = history.map_err(|error| error.to_string())?;
    history.reverse();
    let number = |id| history.iter().position(|snapshot| snapshot.id == id);
    let lines = history.iter().map(|snapshot| {
        let parent = snapshot.parent.map(number);
        let tasks = snapshot.tasks.iter().map(|task| {
            let asked: Vec<_> = task.interrupts.iter().map(|i| &i.key).collect();
            (
                &task.node,
                task.sent,
                &task.result,
                &task.error,
                asked.len(),
            )
        });
        format!(
            "{} {:?} {:?} {:?} {:?} after {parent:?}",
            snapshot.step,
            snapshot.source,
            snapshot.values.keys,
            snapshot.next,
            tasks.collect::<Vec<_>>(),
        )
    });
    Ok(lines.collect())
}

pub(crate) fn over(
    graph: &StateGraph<Log>,
    saver: Arc<dyn Checkpointer>,
) -> CompiledStateGraph<Log> {
    graph.compile().expect("it is a graph").checkpointer(saver)
}
