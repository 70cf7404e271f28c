//! Spans, as a subscriber sees them.

use std::cell::RefCell;
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use tracing_core::span::Current;

use crate::checkpoint::MemorySaver;
use crate::graph::StateGraph;
use crate::policy::TraceNodes;
use crate::stream::StreamMode;
use crate::{CompiledStateGraph, Context, START};

thread_local! {
    /// The spans that this thread is in.
    static ENTERED: RefCell<Vec<Id>> = const { RefCell::new(Vec::new()) };
}

/// Writes down the path of each span.
#[derive(Clone, Default)]
struct Paths(Arc<Mutex<Vec<(String, &'static Metadata<'static>)>>>);

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Without the names of OpenTelemetry.
        if field.name() != "run" && !field.name().contains('.') {
            write!(self.0, " {field}={value:?}").unwrap();
        }
    }
}

impl Paths {
    fn get(&self) -> Vec<String> {
        let spans = self.0.lock().unwrap();
        spans.iter().map(|(path, _)| path.clone()).collect()
    }
}

fn index(id: &Id) -> usize {
    usize::try_from(id.into_u64()).unwrap() - 1
}

impl Subscriber for Paths {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "langgraph"
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut text = Text(span.metadata().name().to_owned());
        span.record(&mut text);
        let parent = ENTERED.with_borrow(|entered| entered.last().map(index));
        let mut spans = self.0.lock().unwrap();
        let path = match parent {
            Some(parent) => format!("{} / {}", spans[parent].0, text.0),
            None => text.0,
        };
        spans.push((path, span.metadata()));
        Id::from_u64(spans.len() as u64)
    }

    fn current_span(&self) -> Current {
        let id = ENTERED.with_borrow(|entered| entered.last().cloned());
        id.map_or_else(Current::none, |id| {
            let metadata = self.0.lock().unwrap()[index(&id)].1;
            Current::new(id, metadata)
        })
    }

    fn enter(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(span.clone()));
    }

    fn exit(&self, _: &Id) {
        ENTERED.with_borrow_mut(Vec::pop);
    }

    fn event(&self, _: &Event<'_>) {}
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
}

fn graph() -> CompiledStateGraph<i64> {
    let mut inner = StateGraph::<i64>::new();
    inner
        .add_node("deep", |_: &i64| ())
        .add_sequence(&["deep"])
        .middleware(TraceNodes);
    let mut graph = StateGraph::<i64>::new();
    graph
        .set_name("spans")
        .add_node("a", |_: &i64| ())
        .add_node("b", |_: &i64| ())
        .add_node("c", inner.compile().unwrap())
        .add_edge(START, "a")
        .add_edge("a", "b")
        .add_edge("a", "c")
        .middleware(TraceNodes);
    graph.compile().unwrap()
}

#[tokio::test]
async fn a_run_its_supersteps_and_their_tasks_are_spans_inside_each_other() {
    let paths = Paths::default();
    let _guard = tracing::subscriber::set_default(paths.clone());
    graph().invoke(1).await.unwrap();
    let run = "run graph=\"spans\"";
    let node = |name: &str, step| format!("node node=\"{name}\" step={step} attempt=1");
    let second = format!("{run} / superstep step=2 tasks=2");
    assert_eq!(
        paths.get(),
        [
            run.to_owned(),
            format!("{run} / superstep step=1 tasks=1"),
            format!("{run} / superstep step=1 tasks=1 / {}", node("a", 1)),
            second.clone(),
            // Side by side, as tasks of the runtime.
            format!("{second} / {}", node("b", 2)),
            format!("{second} / {}", node("c", 2)),
            format!(
                "{second} / {} / superstep step=1 tasks=1 path=\"c\"",
                node("c", 2)
            ),
            format!(
                "{second} / {} / superstep step=1 tasks=1 path=\"c\" / {}",
                node("c", 2),
                node("deep", 1)
            ),
        ]
    );
}

#[tokio::test]
async fn the_span_of_a_run_has_its_id_and_its_thread() {
    /// The value of the field `run`.
    #[derive(Clone, Default)]
    struct Runs(Arc<Mutex<Vec<String>>>);
    impl Visit for Runs {
        fn record_str(&mut self, field: &Field, value: &str) {
            if field.name() == "run" || field.name() == "thread" {
                self.0.lock().unwrap().push(value.to_owned());
            }
        }
        fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
    }
    impl Subscriber for Runs {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "langgraph"
        }
        fn new_span(&self, span: &Attributes<'_>) -> Id {
            span.record(&mut self.clone());
            Id::from_u64(1)
        }
        fn event(&self, _: &Event<'_>) {}
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    let mut graph = StateGraph::<String>::new();
    let id = |_: &String, cx: &Context| cx.run_id().to_owned();
    graph.add_node("id", id).add_sequence(&["id"]);
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));

    let runs = Runs::default();
    let _guard = tracing::subscriber::set_default(runs.clone());
    let seen = graph.run(String::new()).thread("t").await.unwrap();
    let id = seen.finished().unwrap();
    let recorded = std::mem::take(&mut *runs.0.lock().unwrap());
    assert_eq!(recorded, [id.clone(), "t".to_owned(), id]);

    let stream = graph
        .run(String::new())
        .thread("t")
        .stream(StreamMode::Values);
    let id = stream.run_id().to_owned();
    assert_eq!(stream.finish().await.unwrap().finished().unwrap(), id);
    assert_eq!(runs.0.lock().unwrap()[0], id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_spans_of_a_run_are_closed_when_it_ends() {
    /// Counts the handles of each span, and leaves spans of tasks late.
    #[derive(Clone, Default)]
    struct Open(Arc<Mutex<Vec<usize>>>);
    impl Open {
        fn count(&self, id: &Id, change: isize) -> bool {
            let mut handles = self.0.lock().unwrap();
            let count = &mut handles[index(id)];
            *count = count.checked_add_signed(change).unwrap();
            *count == 0
        }
    }
    impl Subscriber for Open {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "langgraph"
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            let mut handles = self.0.lock().unwrap();
            handles.push(1);
            Id::from_u64(handles.len() as u64)
        }
        fn current_span(&self) -> Current {
            let id = ENTERED.with_borrow(|entered| entered.last().cloned());
            let callsite = tracing::info_span!(target: "langgraph", "any").metadata();
            match (id, callsite) {
                (Some(id), Some(metadata)) => Current::new(id, metadata),
                _ => Current::none(),
            }
        }
        fn clone_span(&self, id: &Id) -> Id {
            self.count(id, 1);
            id.clone()
        }
        fn try_close(&self, id: Id) -> bool {
            self.count(&id, -1)
        }
        fn enter(&self, span: &Id) {
            ENTERED.with_borrow_mut(|entered| entered.push(span.clone()));
        }
        fn exit(&self, _: &Id) {
            ENTERED.with_borrow_mut(Vec::pop);
            let thread = std::thread::current();
            if thread.name().is_some_and(|name| name.contains("tokio")) {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        }
        fn event(&self, _: &Event<'_>) {}
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
    }

    let open = Open::default();
    let _guard = tracing::subscriber::set_default(open.clone());
    graph().invoke(1).await.unwrap();
    let handles = open.0.lock().unwrap().clone();
    assert!(handles.len() >= 4, "{handles:?}");
    assert!(handles.iter().all(|count| *count == 0), "{handles:?}");
}
