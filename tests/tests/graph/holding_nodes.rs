//! Nodes and workers that hold something, with state and context.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use langgraph::graph::worker;
use langgraph::node::Send;
use langgraph::prelude::*;
use langgraph::stream::StreamMode;

use crate::list::{List, ListUpdate};

/// Something that a worker holds, and that is no resource.
struct Model(&'static str);

impl Model {
    fn grade(&self, doc: &str, of: usize) -> String {
        format!("{}: {doc} of {of}", self.0)
    }
}

struct Grader {
    model: Model,
}

#[node]
impl Grader {
    async fn run(&self, doc: String, state: &List, cx: &Context) -> Result<ListUpdate, NodeError> {
        let grade = self.model.grade(&doc, state.items.len());
        let name = cx.node();
        Ok(ListUpdate::default().log(vec![format!("{name} {grade}")]))
    }
}

struct Counter(AtomicU32);

#[node(state = List)]
impl Counter {
    async fn run(&self, doc: String) -> ListUpdate {
        let count = self.0.fetch_add(1, Ordering::Relaxed);
        ListUpdate::default().log(vec![format!("{doc} is number {count}")])
    }
}

fn docs(state: &List) -> Vec<String> {
    state.items.clone()
}

fn two() -> ListUpdate {
    ListUpdate::default().items(vec!["a".to_owned(), "b".to_owned()])
}

#[tokio::test]
async fn a_worker_holds_a_model() {
    let graph = graph! {
        let grade = Grader { model: Model("strict") };

        START => for doc in docs { grade(doc) } => END;
    };
    let state = graph.compile().unwrap().invoke(two()).await.unwrap();
    assert_eq!(state.log, ["grade strict: a of 2", "grade strict: b of 2"]);
}

#[tokio::test]
async fn a_worker_that_holds_something_takes_only_its_item_and_has_options() {
    let graph = graph! {
        let count = worker(Counter(AtomicU32::new(0))).retry(2);

        START => for doc in docs { count(doc) } => END;
    };
    let input = ListUpdate::default().items(vec!["a".to_owned()]);
    let state = graph.compile().unwrap().invoke(input).await.unwrap();
    assert_eq!(state.log, ["a is number 0"]);
}

#[tokio::test]
async fn closures_capture_and_take_state_and_context_by_value() {
    let model = Arc::new(Model("kind"));
    let held = Arc::clone(&model);
    let grade = move |doc: String, state: List, cx: Context| {
        let model = Arc::clone(&model);
        async move {
            let grade = model.grade(&doc, state.items.len());
            cx.emit(&grade).await?;
            Ok::<_, NodeError>(ListUpdate::default().log(vec![grade]))
        }
    };
    let sum = move |state: List, cx: Context| {
        let model = Arc::clone(&held);
        async move {
            let text = format!("{} {} {}", model.0, cx.node(), state.log.len());
            ListUpdate::default().log(vec![text])
        }
    };
    let graph = graph! {
        START => for doc in docs { grade(doc) } => sum => END;
    };
    let graph = graph.compile().unwrap();
    let mut stream = graph.run(two()).stream(StreamMode::Custom);
    let mut events = 0;
    while let Some(event) = stream.next().await {
        event.unwrap();
        events += 1;
    }
    let state = stream.finish().await.unwrap().finished().unwrap();
    assert_eq!(events, 2);
    assert_eq!(state.log, ["kind: a of 2", "kind: b of 2", "kind sum 2"]);
}

#[tokio::test]
async fn a_closure_may_take_its_item_with_the_state_or_the_context() {
    let graph = graph! {
        let by_state = |doc: String, state: List| async move {
            ListUpdate::default().log(vec![format!("{doc} {}", state.items.len())])
        };
        let by_context = |doc: String, cx: Context| async move {
            ListUpdate::default().log(vec![format!("{doc} {}", cx.node())])
        };

        START => for doc in docs { by_state(doc) } => next => for doc in docs { by_context(doc) } => END;
    };
    let input = ListUpdate::default().items(vec!["a".to_owned()]);
    let state = graph.compile().unwrap().invoke(input).await.unwrap();
    assert_eq!(state.log, ["a 1", "a by_context"]);
}

#[node]
async fn next(_: &List) {}

/// A clone of the context interrupts its task, and remembers what was done once.
#[tokio::test]
async fn a_clone_of_the_context_belongs_to_the_task() {
    static WORK: AtomicU32 = AtomicU32::new(0);
    let ask = |_: List, cx: Context| async move {
        let clone = cx.clone();
        let work = || Ok::<_, NodeError>(WORK.fetch_add(1, Ordering::Relaxed));
        let done: u32 = clone.once_with("work", work).await?;
        let name: String = clone.interrupt("name", "who?")?;
        let again: u32 = cx.once_with("work", work).await?;
        Ok::<_, NodeError>(ListUpdate::default().log(vec![format!("{name} {done} {again}")]))
    };
    let graph = graph! { START => ask => END };
    let saver = Arc::new(langgraph::checkpoint::MemorySaver::new());
    let graph = graph.compile().unwrap().checkpointer(saver);
    let paused = graph.run(()).thread("t").await.unwrap();
    assert_eq!(paused.interrupts().len(), 1);
    let state = graph.thread("t").resume("name", "Ada").await.unwrap();
    assert_eq!(state.finished().unwrap().log, ["Ada 0 0"]);
}

/// Graphs that a context and its clone call are two calls, with two logs.
#[tokio::test]
async fn graphs_that_clones_call_are_calls_of_their_own() {
    let ask = |_: &List, cx: &Context| {
        let key = format!("name {}", cx.namespace().len());
        let name: String = cx.interrupt(&key, "who?")?;
        Ok::<_, NodeError>(ListUpdate::default().log(vec![name]))
    };
    let inner = graph! { START => ask => END };
    let inner = inner.compile().unwrap();
    let outer = move |_: List, cx: Context| {
        let inner = inner.clone();
        async move {
            let clone = cx.clone();
            let (first, second) = tokio::join!(
                cx.run(&inner, ListUpdate::default()),
                clone.run(&inner, ListUpdate::default())
            );
            let mut notes = first?.log;
            notes.extend(second?.log);
            Ok::<_, NodeError>(ListUpdate::default().log(notes))
        }
    };
    let graph = graph! { START => outer => END };
    let saver = Arc::new(langgraph::checkpoint::MemorySaver::new());
    let graph = graph.compile().unwrap().checkpointer(saver);
    let paused = graph.run(()).thread("t").await.unwrap();
    assert_eq!(paused.interrupts().len(), 2);
    let ids: Vec<_> = paused
        .interrupts()
        .iter()
        .map(|one| one.id.clone())
        .collect();
    let answers = [(ids[0].clone(), "Ada"), (ids[1].clone(), "Bob")];
    let done = graph.thread("t").resume_all(answers).await.unwrap();
    let mut notes = done.finished().unwrap().log;
    notes.sort();
    assert_eq!(notes, ["Ada", "Bob"]);
}

/// A clone that outlives its run does not keep the stream open.
#[tokio::test]
async fn a_stream_ends_while_a_clone_of_a_context_lives() {
    let (sender, mut kept) = tokio::sync::mpsc::unbounded_channel();
    let keep = move |_: List, cx: Context| {
        let sender = sender.clone();
        async move { drop(sender.send(cx)) }
    };
    let graph = graph! { START => keep => END };
    let mut stream = graph.compile().unwrap().run(()).stream(StreamMode::Updates);
    while let Some(event) = stream.next().await {
        event.unwrap();
    }
    stream.finish().await.unwrap();
    assert_eq!(kept.recv().await.unwrap().node(), "keep");
}

/// `Send` names a worker function of every form.
#[test]
fn a_send_names_a_function_with_item_state_and_context() {
    #[node]
    async fn grade(_: String, _: &List, _: &Context) {}
    #[node]
    async fn count(_: String, _: &Context) {}
    assert_eq!(Send::<List>::to(grade, "a".to_owned()).node(), "grade");
    assert_eq!(Send::<List>::to(count, "a".to_owned()).node(), "count");
}
