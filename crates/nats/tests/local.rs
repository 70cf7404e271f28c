//! A task on a worker does what it would have done in the driver's process. The network is in this process.

#![allow(clippy::unwrap_used)] // in what the tests share

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use langgraph::checkpoint::MemorySaver;
use langgraph::message::MessageChunk;
use langgraph::node::OnceKey;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph::run::CancelToken;
use langgraph_nats::link::Link as _;
use langgraph_nats::{Queue, Worker};
use langgraph_simulation::{Conditions, Machine, Net};
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

/// A worker; it stops when it is dropped.
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
async fn a_map_over_four_workers_gives_each_result_once_and_in_order() {
    #[node]
    async fn twice(item: u64, state: &Sum) -> SumUpdate {
        assert_eq!(state.items.len(), 500); // the worker has the snapshot
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
    let net = Net::new(1, Conditions::FINE);
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
async fn nodes_that_are_not_anywhere_run_in_the_driver() {
    struct Where(&'static str);
    #[node]
    async fn here(_: &Sum, cx: &Context) -> Result<SumUpdate, NodeError> {
        assert_eq!(cx.resource::<Where>()?.0, "driver");
        Ok(done(1))
    }
    #[node]
    async fn there(_: &Sum, cx: &Context) -> Result<SumUpdate, NodeError> {
        assert_eq!(cx.resource::<Where>()?.0, "worker");
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
    let net = Net::new(1, Conditions::FINE);
    let _worker = Process::start(&net, &graph("worker"), 1);
    let graph = graph("driver").executor(queue(&net));
    let outcome = graph.run(()).metadata("who", "me").await.unwrap();
    assert_eq!(outcome.state().done, [1, 2]);
}

#[tokio::test(start_paused = true)]
async fn events_errors_panics_retries_and_time_limits_are_those_of_one_process() {
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
    let net = Net::new(1, Conditions::FINE);
    let _worker = Process::start(&net, &graph(), 2);
    let spread = graph().executor(queue(&net));
    let mut events = Vec::new();
    let mut stream = spread
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
        let local = graph().invoke(input([item])).await.unwrap_err();
        let remote = spread.invoke(input([item])).await.unwrap_err();
        assert_eq!(remote.to_string(), local.to_string());
        assert_eq!(remote.is_retryable(), local.is_retryable(), "{remote}");
        assert_eq!(remote.kind(), local.kind());
    }
}

#[tokio::test(start_paused = true)]
async fn interrupts_and_once_work_over_a_killed_worker() {
    static CHARGED: AtomicU32 = AtomicU32::new(0);
    static ASKED: AtomicU32 = AtomicU32::new(0);
    #[node]
    async fn pay(item: u64, _: &Sum, cx: &Context) -> Result<SumUpdate, NodeError> {
        let charged: u32 = cx
            .once(OnceKey::new("charge").with(&item), async {
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
    let net = Net::new(1, Conditions::FINE);
    let first = Process::start(&net, &graph(), 1);
    let queue = queue(&net);
    let saver = Arc::new(MemorySaver::new());
    let driver = graph().executor(queue.clone()).checkpointer(saver);
    let thread = driver.thread("t");
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
    assert_eq!((metrics.lost, metrics.reassigned), (1, 1));

    let refused = thread.answer(99).await.unwrap_err();
    assert!(refused.refused_answer().is_some(), "{refused}");
    assert_eq!(thread.answer(5).await.unwrap().state().done, [6]);
    assert_eq!(CHARGED.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_and_a_dead_driver_stop_their_tasks() {
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
    let net = Net::new(1, Conditions::FINE);
    let _worker = Process::start(&net, &graph(), 3);
    let token = CancelToken::new();
    let driver = graph().executor(queue(&net));
    let run = tokio::spawn({
        let run = driver.run(input(0..3)).cancel(token.clone());
        async move { run.await }
    });
    while RUNNING.load(Ordering::SeqCst) < 3 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    token.cancel();
    assert!(matches!(run.await.unwrap(), Err(AgentError::Cancelled)));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(RUNNING.load(Ordering::SeqCst), 0);
    // The tasks of a dead driver are dropped when its pings have stopped.
    let dead = net.machine();
    let driver = graph().executor(Queue::over(dead.clone(), "test"));
    let run = tokio::spawn(async move { driver.invoke(input(0..2)).await });
    while RUNNING.load(Ordering::SeqCst) < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    net.crash(dead.number);
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(RUNNING.load(Ordering::SeqCst), 0);
    run.abort();
}

#[tokio::test(start_paused = true)]
async fn a_worker_of_another_graph_is_refused_and_named() {
    let graph = |nodes: &[&'static str]| {
        let mut graph = StateGraph::<Sum>::new();
        for node in nodes {
            graph.add_node(*node, (|_: &Sum| done(1)).anywhere());
        }
        graph.add_sequence(nodes);
        graph.compile().unwrap()
    };
    let net = Net::new(1, Conditions::FINE);
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
async fn values_above_the_message_limit_go_through_the_object_store() {
    let net = Net::new(1, SMALL_MESSAGES);
    let _worker = Process::start(&net, &doubled_note(), 1);
    let note = "\"".repeat(20_000);
    let state = doubled_note()
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

/// A graph whose one node doubles a text, on a network with small messages.
fn doubled_note() -> CompiledStateGraph<Sum> {
    let work = |state: &Sum| SumUpdate::default().note(state.note.repeat(2));
    let mut graph = StateGraph::<Sum>::new();
    graph
        .add_node("work", work.anywhere())
        .add_sequence(&["work"]);
    graph.compile().unwrap()
}

const SMALL_MESSAGES: Conditions = Conditions {
    limit: 16 * 1_024,
    storing: Duration::from_millis(200),
    ..Conditions::FINE
};

#[tokio::test(start_paused = true)]
async fn large_replies_to_two_drivers_are_not_mixed_up() {
    let net = Net::new(1, SMALL_MESSAGES);
    let _worker = Process::start(&net, &doubled_note(), 2);
    let runs = ["a", "b"].map(|letter| {
        let graph = doubled_note().executor(queue(&net));
        let note = letter.repeat(20_000);
        tokio::spawn(async move {
            let input = SumUpdate::default().note(note.clone());
            (graph.invoke(input).await, note.repeat(2))
        })
    });
    for run in runs {
        let (state, expected) = run.await.unwrap();
        assert!(state.unwrap().note == expected, "the other driver's reply");
    }
}

#[tokio::test(start_paused = true)]
async fn a_message_can_delete_no_object_but_a_dropped_reply() {
    let net = Net::new(1, SMALL_MESSAGES);
    let attacker = net.machine();
    let mut all = attacker
        .listen("langgraph.test.all".to_owned())
        .await
        .unwrap();
    attacker
        .put("test", "state-1".to_owned(), Bytes::from_static(b"x"))
        .await
        .unwrap();
    let graph = doubled_note().executor(queue(&net));
    let note = "\"".repeat(20_000);
    let run = tokio::spawn(async move { graph.invoke(SumUpdate::default().note(note)).await });
    let announced = all.recv().await.unwrap().payload.unwrap();
    let announced: serde_json::Value = serde_json::from_slice(&announced).unwrap();
    let driver = announced["work"]["driver"].as_str().unwrap().to_owned();
    let worker = Process::start(&net, &doubled_note(), 1);
    for _ in 0..6 {
        tokio::time::sleep(Duration::from_millis(70)).await;
        for name in net.names() {
            let name = name.rsplit('/').next().unwrap_or_default();
            let forged = serde_json::json!({"done": {"worker": "w", "tasks": [
                {"task": 999_999, "reply": {"stored": name}}]}});
            let subject = format!("langgraph.test.driver.{driver}");
            let payload = serde_json::to_vec(&forged).unwrap().into();
            attacker.send(subject, None, payload).await.unwrap();
        }
    }
    assert_eq!(run.await.unwrap().unwrap().note.len(), 40_000);
    drop(worker);
    assert!(net.names().contains(&"test/state-1".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn two_drivers_share_the_workers() {
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
    let net = Net::new(1, Conditions::FINE);
    let _workers = [
        Process::start(&net, &graph(), 2),
        Process::start(&net, &graph(), 2),
    ];
    let begun = tokio::time::Instant::now();
    let runs = [0, 1].map(|_| {
        let driver = graph().executor(queue(&net));
        tokio::spawn(async move {
            driver.invoke(input(0..100)).await.unwrap();
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

/// A graph whose items each take 100 ms.
fn slow_items() -> CompiledStateGraph<Sum> {
    #[node]
    async fn slow(item: u64, _: &Sum) -> SumUpdate {
        tokio::time::sleep(Duration::from_millis(100)).await;
        done(item)
    }
    let graph = graph! {
        type State = Sum;
        let slow = worker(slow).anywhere();
        START => for item in items { slow(item) } => END;
    };
    graph.compile().unwrap()
}

/// Runs a map of 200 items of 100 ms on four slots, which takes 5 s, while a second driver is lost after
/// one second.
async fn time_beside_a_lost_driver(lose: impl FnOnce(&Net, usize)) -> Duration {
    let net = Net::new(1, Conditions::FINE);
    let _workers = [0, 1].map(|_| Process::start(&net, &slow_items(), 2));
    let lost = net.machine();
    let graph = slow_items().executor(Queue::over(lost.clone(), "test"));
    let lost_run = tokio::spawn(async move { graph.invoke(input(0..1_000)).await });
    let begun = tokio::time::Instant::now();
    let graph = slow_items().executor(queue(&net));
    let run = tokio::spawn(async move { graph.invoke(input(0..200)).await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    lose(&net, lost.number);
    run.await.unwrap().unwrap();
    lost_run.abort();
    begun.elapsed()
}

#[tokio::test(start_paused = true)]
async fn a_dead_driver_takes_no_slots_from_others() {
    let took = time_beside_a_lost_driver(Net::crash).await;
    assert!(took < Duration::from_secs(7), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn an_unreachable_driver_holds_slots_for_one_offer_only() {
    let took = time_beside_a_lost_driver(|net, driver| net.cut_off(driver, true)).await;
    assert!(took < Duration::from_secs(9), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_map_begins_and_sends_no_more_tasks_than_its_limits() {
    let net = Net::new(1, Conditions::FINE);
    let queue = queue(&net).at_once(16);
    let graph = slow_items().executor(queue.clone());
    let run = tokio::spawn(async move { graph.invoke(input(0..400)).await });
    // Without a worker, no more tasks begin than `at_once`.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let metrics = queue.metrics();
    assert_eq!((metrics.begun, metrics.sent), (16, 0));
    // No more are sent than the workers have slots.
    let _workers = [0, 1].map(|_| Process::start(&net, &slow_items(), 3));
    while !run.is_finished() {
        tokio::time::sleep(Duration::from_millis(7)).await;
        let metrics = queue.metrics();
        assert!(metrics.begun - metrics.done <= 16, "{metrics:?}");
        assert!(metrics.sent - metrics.done <= 6, "{metrics:?}");
    }
    assert_eq!(run.await.unwrap().unwrap().done.len(), 400);
}

#[tokio::test(start_paused = true)]
async fn a_large_state_is_stored_before_any_worker_fetches_it() {
    let net = Net::new(1, SMALL_MESSAGES);
    let _workers = [0, 1, 2].map(|_| Process::start(&net, &slow_items(), 4));
    let input = input(0..60).note("x".repeat(100_000));
    let state = slow_items().executor(queue(&net)).invoke(input).await;
    assert_eq!(state.unwrap().done.len(), 60);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(net.stored().0, 0);
}
