//! Random entrypoints whose tasks have effects.

use std::sync::Arc;

use langgraph::checkpoint::{Checkpointer, Durability, MemorySaver};
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph::stream::StreamOptions;
use langgraph_functional::{EntrypointExt, entrypoint, task};

use crate::storage::Storage;
use crate::trace::{Phase, Trace};

/// Does something outside that a second time would do harm.
///
/// The key is the result of the task, and no argument: it is in the log when the task has ended.
async fn effect(cx: &Context, name: &str) -> Result<String, NodeError> {
    let key = format!("key:{name}");
    let trace = cx.resource_arc::<Trace>()?;
    let work = async {
        trace.line(&format!("start {key}"));
        tokio::task::yield_now().await;
        trace.line(&format!("effect {key}"));
    };
    trace.within(Phase::Node, work).await;
    Ok(key)
}

async fn once(cx: &Context, name: &str) -> Result<(), NodeError> {
    let trace = cx.resource_arc::<Trace>()?;
    let key = format!("once:{name}");
    let work = async {
        trace.line(&format!("start {key}"));
        tokio::task::yield_now().await;
        trace.line(&format!("effect {key}"));
        Ok::<_, NodeError>(())
    };
    trace.within(Phase::Node, cx.once(key.as_str(), work)).await
}

#[task]
async fn work(name: String, cx: &Context) -> Result<String, NodeError> {
    effect(cx, &name).await
}

/// Calls a task before its own effect.
#[task]
async fn nested(name: String, cx: &Context) -> Result<String, NodeError> {
    work(format!("{name}/inner")).on(cx).await?;
    effect(cx, &name).await
}

/// Fails at first.
#[task(retry = RetryPolicy::attempts(2).retry_on(|_| true).immediately())]
async fn flaky(name: String, cx: &Context) -> Result<String, NodeError> {
    once(cx, &name).await?;
    if cx.attempt() == 1 {
        return Err(NodeError::msg("not yet"));
    }
    effect(cx, &name).await
}

/// Works once, asks, and has an effect.
#[task]
async fn asking(name: String, cx: &Context) -> Result<String, NodeError> {
    once(cx, &name).await?;
    let answer: String = cx.interrupt("who", "who?")?;
    effect(cx, &format!("{name}, {answer}")).await
}

/// Stages one after the other, each of another kind.
#[entrypoint]
async fn course(seed: u64, cx: &Context) -> Result<Vec<String>, NodeError> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut keys = Vec::new();
    for stage in 0..5 {
        let name = |part: &str| format!("s{stage}{part}");
        match random.u8(..6) {
            0 => {
                let (left, right) = tokio::join!(work(name("l")).on(cx), nested(name("r")).on(cx));
                keys.extend([left?, right?]);
            }
            1 => {
                let (left, right) = tokio::join!(asking(name("l")).on(cx), work(name("r")).on(cx));
                keys.extend([left?, right?]);
            }
            2 => {
                let answer: String = cx.interrupt(&format!("s{stage}"), "what?")?;
                keys.push(work(format!("{}, {answer}", name(""))).on(cx).await?);
            }
            3 => keys.push(flaky(name("")).on(cx).await?),
            4 => {
                let (left, right) =
                    tokio::join!(asking(name("l")).on(cx), asking(name("r")).on(cx));
                keys.extend([left?, right?]);
            }
            _ => keys.push(
                nested(name(""))
                    .key(format!("stage {stage}"))
                    .on(cx)
                    .await?,
            ),
        }
    }
    Ok(keys)
}

/// Brings a thread to its end, from any position. Runs with a trace wait for their readers.
pub(crate) async fn finish(
    seed: u64,
    saver: Arc<dyn Checkpointer>,
    (thread, durability): (&str, Durability),
    trace: &Arc<Trace>,
) -> Result<Vec<String>, AgentError> {
    let graph = course.compile().expect("it is a graph");
    let graph = graph.resource(Arc::clone(trace)).checkpointer(saver);
    let thread = graph.thread(thread);
    loop {
        let state = thread.state().await?;
        let run = match state {
            None => thread.run(course(seed)),
            Some(state) if state.next.is_empty() => {
                return Ok(state.values.output.unwrap_or_default());
            }
            Some(state) => match state.interrupts.first() {
                Some(question) => thread.resume(&question.id, format!("answered {}", question.key)),
                None => thread.proceed(),
            },
        };
        let run = run.durability(durability);
        let options = StreamOptions::new(StreamMode::Updates)
            .subgraphs()
            .buffer(1);
        let mut events = run.stream(options);
        while let Some(event) = events.next().await {
            event?;
            trace.within(Phase::Between, async {}).await;
        }
    }
}

/// The thread has the result of a run without a kill.
pub(crate) async fn check_end(
    seed: u64,
    storage: &Storage,
    run: (&str, Durability),
) -> Result<(), String> {
    let trace = Arc::<Trace>::default();
    let undisturbed = finish(seed, Arc::new(MemorySaver::new()), run, &trace).await;
    let expected = undisturbed.map_err(|error| format!("undisturbed: {error}"))?;
    let found = finish(seed, storage.open().await?, run, &trace).await;
    let found = found.map_err(|error| error.to_string())?;
    if found != expected {
        return Err(format!("the result is {found:?} and not {expected:?}"));
    }
    Ok(())
}
