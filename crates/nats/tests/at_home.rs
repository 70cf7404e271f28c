//! What a task does elsewhere is what it would have done at home. The network is in this process.

#![allow(clippy::unwrap_used)] // in what the tests share

mod support;

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::MessageChunk;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph::run::CancelToken;
use langgraph_nats::{Queue, Worker};
use support::{Machine, Net, Weather};
use tokio::task::JoinHandle;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Sum {
    items: Vec<u64>,
    #[reducer(append)]
    done: Vec<u64>,
    note: String,
}

fn items(state: &Sum) -> Vec<u64> {
    state.items.clone()
}

fn done(item: u64) -> SumUpdate {
    SumUpdate::default().done(vec![item])
}

fn input(items: impl IntoIterator<Item = u64>) -> SumUpdate {
    SumUpdate::default().items(items.into_iter().collect())
}

/// A worker process in this one: it stops when it is dropped.
struct Process {
    work: JoinHandle<()>,
    machine: Machine,
    net: Net,
}

impl Process {
    fn start(net: &Net, graph: &CompiledStateGraph<Sum>, slots: usize) -> Self {
        let machine = net.machine();
        let worker = Worker::new(graph)
            .slots(slots)
            .name(format!("w{}", machine.number));
        let queue = Queue::over(machine.clone(), "test");
        let work = tokio::spawn(async move { worker.serve(&queue).await.unwrap() });
        let net = net.clone();
        Self { work, machine, net }
    }

    fn kill(self) {
        self.net.crash(self.machine.number);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.work.abort();
    }
}

fn queue(net: &Net) -> Queue {
    Queue::over(net.machine(), "test")
}

#[tokio::test(start_paused = true)]
async fn m3_a_map_over_four_workers_gives_each_result_once_and_in_order() {
    #[node]
    async fn twice(item: u64, state: &Sum) -> SumUpdate {
        assert_eq!(state.items.len(), 500); // the snapshot is here
        done(item * 2)
    }
    let graph = || {
        let graph = graph! {
            type State = Sum;
            let twice = worker(twice).anywhere();
            START => for item in items { twice(item) } => END;
        };
        graph.compile().unwrap()
    };
    let net = Net::new(1, Weather::FINE);
    let workers: Vec<_> = (0..4).map(|_| Process::start(&net, &graph(), 4)).collect();
    let queue = queue(&net);
    let state = graph()
        .executor(queue.clone())
        .invoke(input(0..500))
        .await
        .unwrap();
    assert_eq!(
        state.done,
        (0..500).map(|item| item * 2).collect::<Vec<_>>()
    );
    let metrics = queue.metrics();
    assert_eq!((metrics.begun, metrics.done, metrics.sent), (500, 500, 500));
    // Once for each worker, and not for each task.
    assert_eq!(metrics.snapshots, 4);
    assert!(
        queue.workers().iter().all(|worker| worker.done > 50),
        "{:?}",
        queue.workers()
    );
    assert_eq!(workers.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn m3_nodes_that_stay_at_home_stay_there() {
    struct Where(&'static str);
    #[node]
    async fn here(_: &Sum, cx: &Context) -> Result<SumUpdate, NodeError> {
        assert_eq!(cx.resource::<Where>()?.0, "home");
        Ok(done(1))
    }
    #[node]
    async fn there(_: &Sum, cx: &Context) -> Result<SumUpdate, NodeError> {
        assert_eq!(cx.resource::<Where>()?.0, "away");
        assert_eq!((cx.thread_id(), cx.node(), cx.step()), (None, "there", 2));
        assert_eq!(cx.metadata("who"), Some(&"me".into()));
        Ok(done(2))
    }
    let graph = |place| {
        let graph = graph! {
            type State = Sum;
            let there = there.anywhere();
            START => here => there => END;
        };
        graph.compile().unwrap().resource(Arc::new(Where(place)))
    };
    let net = Net::new(1, Weather::FINE);
    let _worker = Process::start(&net, &graph("away"), 1);
    let graph = graph("home").executor(queue(&net));
    let outcome = graph.run(()).metadata("who", "me").await.unwrap();
    assert_eq!(outcome.state().done, [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn m3_events_errors_panics_retries_and_time_limits_are_those_of_home() {
    #[node]
    async fn work(item: u64, _: &Sum, cx: &Context) -> Result<SumUpdate, NodeError> {
        match item {
            0 => cx.emit(&"zero").await?,
            1 => {
                let mut chunk = MessageChunk::default();
                chunk.text = "one".to_owned();
                cx.emit_chunk(chunk).await;
            }
            2 if cx.attempt() < 3 => return Err(NodeError::msg("again")),
            3 => return Err("x".parse::<u64>().unwrap_err().into()),
            4 => panic!("no {item}"),
            5 => std::future::pending().await,
            _ => {}
        }
        Ok(done(item))
    }
    let graph = || {
        let graph = graph! {
            type State = Sum;
            let work = worker(work).anywhere().timeout(Duration::from_secs(9))
                .retry(RetryPolicy::attempts(3).retry_on(|error| error.to_string() == "again"));
            START => for item in items { work(item) } => END;
        };
        graph.compile().unwrap()
    };
    let net = Net::new(1, Weather::FINE);
    let _worker = Process::start(&net, &graph(), 2);
    let away = graph().executor(queue(&net));
    let mut events = Vec::new();
    let mut stream = away
        .run(input([0, 1, 2]))
        .stream(StreamMode::Custom | StreamMode::Messages);
    while let Some(event) = stream.next().await {
        events.push(event.unwrap());
    }
    assert_eq!(stream.finish().await.unwrap().state().done, [0, 1, 2]);
    let custom = events.iter().any(
        |event| matches!(&event.kind, EventKind::Custom { node, value } if &**node == "work" && value == "zero"),
    );
    let chunk = events.iter().any(
        |event| matches!(&event.kind, EventKind::MessageChunk { chunk, .. } if chunk.text == "one"),
    );
    assert!(custom && chunk, "{events:?}");
    for item in [3, 4, 5] {
        let at_home = graph().invoke(input([item])).await.unwrap_err();
        let away = away.invoke(input([item])).await.unwrap_err();
        assert_eq!(away.to_string(), at_home.to_string());
        assert_eq!(away.is_retryable(), at_home.is_retryable(), "{away}");
        assert_eq!(away.kind(), at_home.kind());
    }
}

#[tokio::test(start_paused = true)]
async fn m3_interrupts_and_once_work_over_a_killed_worker() {
    static CHARGED: AtomicU32 = AtomicU32::new(0);
    static ASKED: AtomicU32 = AtomicU32::new(0);
    #[node]
    async fn pay(item: u64, _: &Sum, cx: &Context) -> Result<SumUpdate, NodeError> {
        let charged: u32 = cx
            .once(("charge", &item), async {
                Ok::<_, Infallible>(CHARGED.fetch_add(1, Ordering::SeqCst) + 1)
            })
            .await?;
        assert!(cx.idempotency_key("charge").starts_with("charge:"));
        if ASKED.fetch_add(1, Ordering::SeqCst) == 0 {
            // The first worker dies here.
            std::future::pending::<()>().await;
        }
        let tip: u64 = cx.interrupt_checked("tip", &item, |tip| match tip {
            0..10 => Ok(tip),
            _ => Err("too much".to_owned()),
        })?;
        Ok(done(u64::from(charged) + tip))
    }
    let graph = || {
        let graph = graph! {
            type State = Sum;
            let pay = worker(pay).anywhere();
            START => for item in items { pay(item) } => END;
        };
        graph.compile().unwrap()
    };
    let net = Net::new(1, Weather::FINE);
    let first = Process::start(&net, &graph(), 1);
    let queue = queue(&net);
    let saver = Arc::new(MemorySaver::new());
    let home = graph().executor(queue.clone()).checkpointer(saver);
    let thread = home.thread("t");
    let run = tokio::spawn({
        let thread = thread.clone();
        async move { thread.run(input([7])).await }
    });
    while ASKED.load(Ordering::SeqCst) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    first.kill();
    let _second = Process::start(&net, &graph(), 1);
    let outcome = run.await.unwrap().unwrap();
    assert_eq!(outcome.interrupts()[0].payload, 7);
    let metrics = queue.metrics();
    assert_eq!((metrics.lost, metrics.taken_back), (1, 1));

    let refused = thread.answer(99).await.unwrap_err();
    assert!(refused.refused_answer().is_some(), "{refused}");
    assert_eq!(thread.answer(5).await.unwrap().state().done, [6]);
    assert_eq!(CHARGED.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn m3_a_cancelled_run_stops_its_tasks_elsewhere() {
    static RUNNING: AtomicUsize = AtomicUsize::new(0);
    struct Alive;
    impl Drop for Alive {
        fn drop(&mut self) {
            RUNNING.fetch_sub(1, Ordering::SeqCst);
        }
    }
    #[node]
    async fn hang(_: u64, _: &Sum) -> SumUpdate {
        RUNNING.fetch_add(1, Ordering::SeqCst);
        let _alive = Alive;
        std::future::pending().await
    }
    let graph = || {
        let graph = graph! {
            type State = Sum;
            let hang = worker(hang).anywhere();
            START => for item in items { hang(item) } => END;
        };
        graph.compile().unwrap()
    };
    let net = Net::new(1, Weather::FINE);
    let _worker = Process::start(&net, &graph(), 3);
    let token = CancelToken::new();
    let home = graph().executor(queue(&net));
    let run = tokio::spawn({
        let run = home.run(input(0..3)).cancel(token.clone());
        async move { run.await }
    });
    while RUNNING.load(Ordering::SeqCst) < 3 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    token.cancel();
    assert!(matches!(run.await.unwrap(), Err(AgentError::Cancelled)));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(RUNNING.load(Ordering::SeqCst), 0);
    // A driver that dies says nothing: its tasks are dropped when it pings no more.
    let dead = net.machine();
    let home = graph().executor(Queue::over(dead.clone(), "test"));
    let run = tokio::spawn(async move { home.invoke(input(0..2)).await });
    while RUNNING.load(Ordering::SeqCst) < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    net.crash(dead.number);
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(RUNNING.load(Ordering::SeqCst), 0);
    run.abort();
}

#[tokio::test(start_paused = true)]
async fn m3_a_worker_of_another_graph_is_refused_and_named() {
    let graph = |nodes: &[&'static str]| {
        let mut graph = StateGraph::<Sum>::new();
        for node in nodes {
            graph.add_node(*node, (|_: &Sum| done(1)).anywhere());
        }
        graph.add_sequence(nodes);
        graph.compile().unwrap()
    };
    let net = Net::new(1, Weather::FINE);
    let old = graph(&["a", "b"]);
    let _worker = Process::start(&net, &old, 1);
    let queue = queue(&net).patience(Duration::from_secs(3));
    let error = graph(&["a"])
        .executor(queue.clone())
        .invoke(())
        .await
        .unwrap_err();
    let fingerprint = format!("{:016x}", old.topology().fingerprint());
    let text = error.to_string();
    assert!(
        text.contains("no worker of queue `test` took `a` within 3s"),
        "{text}"
    );
    assert!(
        text.contains(&format!("worker `w1` with graph {fingerprint}")),
        "{text}"
    );
    assert_eq!(queue.refused().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn m3_what_no_message_can_hold_goes_through_the_store() {
    let work = |state: &Sum| SumUpdate::default().note(state.note.repeat(2));
    let graph = || {
        let mut graph = StateGraph::<Sum>::new();
        graph
            .add_node("work", work.anywhere())
            .add_sequence(&["work"]);
        graph.compile().unwrap()
    };
    let weather = Weather {
        limit: 16 * 1_024,
        ..Weather::FINE
    };
    let net = Net::new(1, weather);
    let _worker = Process::start(&net, &graph(), 1);
    let note = "\"".repeat(20_000);
    let state = graph()
        .executor(queue(&net))
        .invoke(SumUpdate::default().note(note.clone()))
        .await
        .unwrap();
    assert_eq!(state.note, note.repeat(2));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (left, largest) = net.stored();
    assert!(
        left == 0 && largest > 40_000,
        "{left} values are left; {largest} bytes"
    );
}

#[tokio::test(start_paused = true)]
async fn m3_two_drivers_share_the_workers() {
    #[node]
    async fn slow(item: u64, _: &Sum) -> SumUpdate {
        tokio::time::sleep(Duration::from_millis(100)).await;
        done(item)
    }
    let graph = || {
        let graph = graph! {
            type State = Sum;
            let slow = worker(slow).anywhere();
            START => for item in items { slow(item) } => END;
        };
        graph.compile().unwrap()
    };
    let net = Net::new(1, Weather::FINE);
    let _workers = [
        Process::start(&net, &graph(), 2),
        Process::start(&net, &graph(), 2),
    ];
    let begun = tokio::time::Instant::now();
    let runs = [0, 1].map(|_| {
        let home = graph().executor(queue(&net));
        tokio::spawn(async move {
            home.invoke(input(0..100)).await.unwrap();
            tokio::time::Instant::now()
        })
    });
    let mut ends = Vec::new();
    for run in runs {
        ends.push(run.await.unwrap().duration_since(begun));
    }
    // 200 tasks of 0.1 s on four slots: both end at about 5 s, and neither waits for the other.
    assert!(
        ends.iter().all(|end| (4..7).contains(&end.as_secs())),
        "{ends:?}"
    );
}
