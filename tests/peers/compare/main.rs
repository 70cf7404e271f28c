//! Small graphs in this crate, in `graph-flow`, and by hand: prints form, workload, size and the
//! nanoseconds of each node. `tests/peers/compare.sh` builds and runs it.

use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use langgraph::prelude::*;

#[derive(State, Clone, Debug, Default)]
struct Counter {
    #[reducer(add)]
    total: i64,
}

async fn count(_: &Counter) -> CounterUpdate {
    CounterUpdate::default().total(black_box(1))
}

/// A task of `graph-flow` with the same body. The last one ends the run.
struct Count {
    id: String,
    last: bool,
}

#[async_trait::async_trait]
impl graph_flow::Task for Count {
    fn id(&self) -> &str {
        &self.id
    }

    async fn run(&self, cx: graph_flow::Context) -> graph_flow::Result<graph_flow::TaskResult> {
        use graph_flow::{NextAction, TaskResult};
        let total: i64 = cx.get("total").unwrap_or(0);
        cx.set("total", total + black_box(1))?;
        let next = if self.last {
            NextAction::End
        } else {
            NextAction::ContinueAndExecute
        };
        Ok(TaskResult::new(None, next))
    }
}

/// Ends a loop: `graph-flow` needs a task for that.
struct End;

#[async_trait::async_trait]
impl graph_flow::Task for End {
    fn id(&self) -> &str {
        "end"
    }

    async fn run(&self, _: graph_flow::Context) -> graph_flow::Result<graph_flow::TaskResult> {
        use graph_flow::{NextAction, TaskResult};
        Ok(TaskResult::new(None, NextAction::End))
    }
}

type Run = Pin<Box<dyn Future<Output = i64> + Send>>;
type Work = Box<dyn Fn() -> Run + Send + Sync>;

fn names(nodes: usize) -> Vec<String> {
    (0..nodes).map(|index| format!("n{index}")).collect()
}

fn ours(graph: CompiledStateGraph<Counter>, limit: usize) -> Work {
    Box::new(move || {
        let graph = graph.clone();
        Box::pin(async move {
            let ended = graph.run(()).limit(limit).await;
            ended.unwrap().into_state().total
        })
    })
}

fn chain(nodes: usize) -> Work {
    let mut graph = StateGraph::<Counter>::new();
    for name in names(nodes) {
        graph.add_node(name, count);
    }
    ours(graph.add_sequence(&names(nodes)).compile().unwrap(), nodes)
}

fn turns(turns: usize) -> Work {
    let end = i64::try_from(turns).unwrap();
    let more = move |state: &Counter| state.total < end;
    let graph = graph! {
        type State = Counter;
        START => count => if more { count } else { END };
    };
    ours(graph.compile().unwrap(), turns)
}

fn theirs(graph: graph_flow::Graph) -> Work {
    let graph = Arc::new(graph);
    Box::new(move || {
        let graph = Arc::clone(&graph);
        Box::pin(async move {
            let mut session = graph_flow::Session::new_from_task("s".to_owned(), "n0");
            graph.execute_session(&mut session).await.unwrap();
            session.context.get("total").unwrap()
        })
    })
}

fn their_chain(nodes: usize) -> Work {
    let names = names(nodes);
    let mut graph = graph_flow::GraphBuilder::new("chain");
    for (index, id) in names.iter().enumerate() {
        let (id, last) = (id.clone(), index + 1 == nodes);
        graph = graph.add_task(Arc::new(Count { id, last }));
    }
    for pair in names.windows(2) {
        graph = graph.add_edge(&*pair[0], &*pair[1]);
    }
    theirs(graph.build().unwrap())
}

fn their_turns(turns: usize) -> Work {
    let end = i64::try_from(turns).unwrap();
    let (id, last) = ("n0".to_owned(), false);
    let more = move |cx: &graph_flow::Context| cx.get::<i64>("total").unwrap_or(0) < end;
    let graph = graph_flow::GraphBuilder::new("loop")
        .add_task(Arc::new(Count { id, last }))
        .add_task(Arc::new(End))
        .add_conditional_edge("n0", more, "n0", "end");
    theirs(graph.build().unwrap())
}

type Step =
    Box<dyn for<'a> Fn(&'a Counter) -> Pin<Box<dyn Future<Output = CounterUpdate> + Send + 'a>> + Send + Sync>;

fn by_hand(nodes: usize) -> Work {
    let steps: Arc<[Step]> = (0..nodes)
        .map(|_| -> Step { Box::new(|state| Box::pin(count(state))) })
        .collect();
    Box::new(move || {
        let steps = Arc::clone(&steps);
        Box::pin(async move {
            let mut state = Counter::default();
            for step in &*steps {
                let update = step(&state).await;
                state.try_merge(update).unwrap();
            }
            state.total
        })
    })
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_time()
        .build()
        .unwrap();
    let forms: [(&str, [fn(usize) -> Work; 2]); 3] = [
        ("langgraph", [chain, turns]),
        ("graph-flow", [their_chain, their_turns]),
        ("by hand", [by_hand, by_hand]),
    ];
    for (form, makes) in forms {
        for (workload, make, size) in [
            ("chain", makes[0], 10),
            ("chain", makes[0], 1_000),
            ("loop", makes[1], 1_000),
        ] {
            let work = Arc::new(make(size));
            let nanoseconds = runtime.block_on(runtime.spawn(measure(work, size)));
            println!("{form}\t{workload}\t{size}\t{:.1}", nanoseconds.unwrap());
        }
    }
}

/// The nanoseconds of each node, in the fastest of thirty samples.
async fn measure(work: Arc<Work>, size: usize) -> f64 {
    let runs = 20_000 / size;
    let mut best = Duration::MAX;
    for _ in 0..30 {
        let start = Instant::now();
        for _ in 0..runs {
            assert_eq!(work().await, i64::try_from(size).unwrap());
        }
        best = best.min(start.elapsed());
    }
    best.as_secs_f64() * 1e9 / (runs * size) as f64
}
