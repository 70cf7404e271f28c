//! Entrypoints and their tasks, on threads.

use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph::stream::StreamOptions;
use langgraph_functional::{Course, EntrypointExt, Final, entrypoint, task};
use tokio::sync::Barrier;

static WRITTEN: AtomicUsize = AtomicUsize::new(0);

#[task]
async fn write_essay(topic: String) -> Result<String, NodeError> {
    WRITTEN.fetch_add(1, Ordering::Relaxed);
    Ok(format!("On {topic}."))
}

#[entrypoint]
async fn publish(topic: String, cx: &Context) -> Result<String, NodeError> {
    let essay = write_essay(topic).on(cx).await?;
    let approved: bool = cx.interrupt("publish?", &essay)?;
    Ok(if approved { essay } else { String::new() })
}

#[tokio::test]
async fn a_task_that_has_ended_does_not_run_again() {
    let graph = publish
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    let paused = thread.run(publish("moss".to_owned())).await.unwrap();
    assert_eq!(paused.interrupts()[0].payload, "On moss.");
    let state = thread
        .resume("publish?", true)
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.output.as_deref(), Some("On moss."));
    assert_eq!(WRITTEN.load(Ordering::Relaxed), 1);
}

#[task]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[entrypoint]
async fn sums(cx: &Context) -> Result<Vec<i64>, NodeError> {
    let (first, second) = tokio::try_join!(add(1, 2).on(cx), add(3, 4).on(cx))?;
    let third = add(first, second).on(cx).await?;
    Ok(vec![first, second, third])
}

#[tokio::test]
async fn tasks_run_side_by_side() {
    let graph = sums.compile().unwrap();
    let state = graph.invoke(sums()).await.unwrap();
    assert_eq!(state.output, Some(vec![3, 7, 10]));
}

#[entrypoint]
async fn count(step: i64, cx: &Context, previous: Option<&i64>) -> Final<String, i64> {
    let total = previous.copied().unwrap_or_default() + step;
    Final::new(format!("{} has counted to {total}", cx.node())).save(total)
}

#[tokio::test]
async fn a_run_gets_what_the_run_before_has_saved() {
    let graph = count
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    for (step, said) in [(1, "count has counted to 1"), (4, "count has counted to 5")] {
        let outcome = graph.thread("t").run(count(step)).await.unwrap();
        assert_eq!(outcome.finished().unwrap().output.as_deref(), Some(said));
    }
}

static CHANGED: AtomicI64 = AtomicI64::new(0);

#[entrypoint]
async fn fickle(cx: &Context) -> Result<i64, NodeError> {
    let changed = CHANGED.fetch_add(1, Ordering::Relaxed);
    let sum = add(1, changed).on(cx).await?;
    let more: i64 = cx.interrupt("more?", &sum)?;
    Ok(sum + more)
}

#[tokio::test]
async fn a_function_that_changes_its_course_is_caught() {
    let graph = fickle
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    thread.run(fickle()).await.unwrap();
    let error = thread.resume("more?", 1).await.unwrap_err().to_string();
    assert!(error.contains("`add` with [1,0] before"), "{error}");
    assert!(error.contains("with [1,1] now"), "{error}");
}

#[task]
async fn ask(what: String, cx: &Context) -> Result<i64, NodeError> {
    Ok(cx.interrupt("number", &what)?)
}

#[entrypoint]
async fn survey(cx: &Context) -> Result<i64, NodeError> {
    let (first, second) = tokio::join!(
        ask("first".to_owned()).on(cx),
        ask("second".to_owned()).on(cx)
    );
    Ok(first? * second?)
}

#[tokio::test]
async fn tasks_ask_at_the_same_time() {
    let graph = survey
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    let paused = thread.run(survey()).await.unwrap();
    assert_eq!(paused.interrupts().len(), 2);
    let first = paused.interrupts()[0].id.clone();
    let second = paused.interrupts()[1].id.clone();
    thread.resume(&first, 6).await.unwrap();
    let state = thread.resume(&second, 7).await.unwrap().finished().unwrap();
    assert_eq!(state.output, Some(42));
}

#[task]
async fn double(number: i64, cx: &Context) -> Result<i64, NodeError> {
    add(number, number).on(cx).await
}

/// Fails at the first attempt of each number.
#[task(retry = langgraph::policy::RetryPolicy::attempts(2).retry_on(|_| true).immediately())]
async fn unsteady(number: i64, cx: &Context) -> Result<i64, NodeError> {
    if cx.attempt() == 1 {
        return Err(NodeError::msg("away"));
    }
    Ok(number)
}

#[task]
async fn fails() -> Result<i64, NodeError> {
    Err(NodeError::msg("there is no more"))
}

#[entrypoint]
async fn mixed(cx: &Context) -> Result<i64, NodeError> {
    let doubled = double(4).on(cx).await?;
    let steady = unsteady(doubled).on(cx).await?;
    let failed = fails().on(cx).await.unwrap_err().to_string();
    assert!(failed.contains("there is no more"), "{failed}");
    Ok(steady)
}

#[tokio::test]
async fn tasks_call_tasks_are_tried_again_and_their_errors_are_caught() {
    let graph = mixed.compile().unwrap();
    assert_eq!(graph.invoke(mixed()).await.unwrap().output, Some(8));
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let outcome = graph.thread("t").run(mixed()).await.unwrap();
    assert_eq!(outcome.finished().unwrap().output, Some(8));
}

/// Ends otherwise than with a value.
#[task]
async fn end(how: String, cx: &Context) -> Result<i64, NodeError> {
    assert_ne!(how, "panics");
    match &*how {
        "fails" => Err(NodeError::msg("there is no more")),
        "goes on" => Ok(cx.interrupt("number", &how).unwrap_or_default()),
        _ => Ok(cx.interrupt("number", &how)?),
    }
}

#[entrypoint]
async fn ends(how: String, cx: &Context) -> Result<i64, NodeError> {
    end(how).on(cx).await
}

#[tokio::test]
async fn a_task_that_nothing_observes_ends_as_one_that_is_observed() {
    let graph = ends.compile().unwrap();
    for how in ["fails", "panics", "interrupts", "goes on"] {
        let plain = graph.invoke(ends(how.to_owned())).await.unwrap_err();
        let observed = StreamOptions::new(StreamMode::Tasks).subgraphs();
        let mut events = graph.run(ends(how.to_owned())).stream(observed);
        let mut failed = None;
        while let Some(event) = events.next().await {
            failed = event.err().or(failed);
        }
        let observed = match failed {
            Some(error) => error,
            None => events
                .finish()
                .await
                .and_then(Outcome::finished)
                .unwrap_err(),
        };
        assert_eq!(plain.to_string(), observed.to_string(), "{how}");
        assert_eq!(plain.kind(), observed.kind(), "{how}");
    }
}

static TURN: AtomicUsize = AtomicUsize::new(0);
static ADDED: AtomicUsize = AtomicUsize::new(0);

#[task]
async fn slowly(number: usize) -> usize {
    ADDED.fetch_add(1, Ordering::Relaxed);
    number * 10
}

/// Calls its tasks in another order when it runs again.
#[entrypoint]
async fn any_order(cx: &Context) -> Result<usize, NodeError> {
    let mut numbers = vec![1, 2, 3];
    if TURN.fetch_add(1, Ordering::Relaxed) == 1 {
        numbers.reverse();
    }
    let mut sum = 0;
    for number in numbers {
        sum += slowly(number)
            .key(format!("slowly {number}"))
            .on(cx)
            .await?;
    }
    let more: usize = cx.interrupt("more?", &sum)?;
    Ok(sum + more)
}

#[tokio::test]
async fn calls_with_keys_may_change_their_order() {
    let graph = any_order
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    thread.run(any_order()).await.unwrap();
    let outcome = thread.resume("more?", 1).await.unwrap();
    assert_eq!(outcome.finished().unwrap().output, Some(61));
    assert_eq!(ADDED.load(Ordering::Relaxed), 3);
}

#[derive(State, Clone, Debug, Default)]
struct Paper {
    topic: String,
    length: i64,
}

#[entrypoint]
async fn measure(topic: String, cx: &Context) -> Result<i64, NodeError> {
    let length = i64::try_from(topic.len())?;
    double(length).on(cx).await
}

#[tokio::test]
async fn an_entrypoint_is_a_node_of_a_graph_and_its_tasks_are_in_the_stream() {
    let node = measure.compile().unwrap().mapped(
        |paper: &Paper| measure(paper.topic.clone()),
        |state| PaperUpdate::default().length(state.output.unwrap_or_default()),
    );
    let mut graph = StateGraph::<Paper>::new();
    graph.add_node("measure", node).add_sequence(&["measure"]);
    let graph = graph.compile().unwrap();
    let topic = PaperUpdate::default().topic("moss".to_owned());
    let mut stream = graph
        .run(topic)
        .stream(StreamOptions::new(StreamMode::Tasks).subgraphs());
    let mut within = Vec::new();
    while let Some(event) = stream.next().await {
        let path: Vec<_> = event
            .unwrap()
            .namespace
            .iter()
            .map(ToString::to_string)
            .collect();
        if !within.contains(&path.join("/")) {
            within.push(path.join("/"));
        }
    }
    let state = stream.finish().await.unwrap().finished().unwrap();
    assert_eq!(state.length, 8);
    // The graph, the entrypoint, its task, and the task of that one.
    assert_eq!(
        within,
        ["", "measure", "measure/measure", "measure/measure/double"]
    );
}

static MEETING: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(2));

/// Ends when two of them run.
#[task]
async fn meet(number: i64) -> i64 {
    MEETING.wait().await;
    number
}

#[entrypoint]
async fn report(cx: &Context) -> Result<i64, NodeError> {
    let first = add(1, 2).on(cx).await?;
    let (second, third) = tokio::try_join!(meet(first).on(cx), meet(4).on(cx))?;
    let more: i64 = cx.interrupt("more?", "")?;
    add(second + third, more).on(cx).await
}

#[tokio::test]
async fn a_course_shows_what_has_run_over_an_interrupt() {
    let graph = report
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("t");
    let mut course = Course::default();
    for resumes in [false, true] {
        let run = if resumes {
            thread.resume("more?", 4)
        } else {
            thread.run(report())
        };
        let mut events = run.stream(StreamOptions::new(StreamMode::Tasks).subgraphs());
        while let Some(event) = events.next().await {
            course.read(&event.unwrap());
        }
    }
    let topology = course.topology().unwrap();
    let edges = topology.edges.iter();
    let edges: Vec<_> = edges
        .map(|edge| format!("{} => {}", edge.from, edge.to))
        .collect();
    assert_eq!(
        edges,
        [
            "__start__ => add",
            "add => meet",
            "add => meet 2",
            "meet => add 2",
            "meet 2 => add 2"
        ]
    );
    let picture = topology.draw().terminal();
    assert!(picture.contains("meet 2"), "{picture}");
}

#[task]
async fn gauge(first: f64) -> Vec<Option<f64>> {
    vec![Some(first), Some(f64::NAN)]
}

#[task]
async fn written(value: Option<f64>) -> String {
    format!("{value:?}")
}

#[entrypoint]
async fn gauges(shows: bool, cx: &Context) -> Result<String, NodeError> {
    if shows {
        return written(Some(f64::INFINITY)).on(cx).await;
    }
    let values = gauge(1.0).on(cx).await?;
    Ok(format!("{values:?}"))
}

#[tokio::test]
async fn a_value_that_would_change_in_storage_is_refused() {
    let graph = gauges.compile().unwrap();
    let state = graph.invoke(gauges(false)).await.unwrap();
    assert_eq!(state.output.as_deref(), Some("[Some(1.0), Some(NaN)]"));

    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    for (shows, expected) in [
        (
            false,
            "the result of `gauge` cannot be stored: field `[1]`: `NaN` cannot be stored as JSON",
        ),
        (
            true,
            "the arguments of `written` cannot be stored: `inf` cannot be stored as JSON",
        ),
    ] {
        let thread = graph.thread(expected);
        let error = thread.run(gauges(shows)).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
