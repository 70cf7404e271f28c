//! Tasks of entrypoints in workers. The network is in this process.

#![allow(clippy::unwrap_used)] // in what the tests share

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::policy::RetryPolicy;
use langgraph::prelude::*;
use langgraph_functional::{EntrypointExt, Tasks, entrypoint, task};
use langgraph_nats::{Queue, Worker};
use langgraph_simulation::{Conditions, Machine, Net};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// What a process is, and what has happened in it.
#[derive(Debug)]
struct Process {
    name: &'static str,
    squared: AtomicU32,
    /// Notified when a task that holds has begun.
    holding: Notify,
    /// True in a process whose tasks hold for ever.
    holds: bool,
}

impl Process {
    fn new(name: &'static str, holds: bool) -> Arc<Self> {
        Arc::new(Self {
            name,
            squared: AtomicU32::new(0),
            holding: Notify::new(),
            holds,
        })
    }
}

#[task(anywhere)]
async fn square(number: u64, cx: &Context) -> Result<u64, NodeError> {
    let process = cx.resource::<Process>()?;
    if process.holds {
        process.holding.notify_one();
        std::future::pending::<()>().await;
    }
    process.squared.fetch_add(1, Ordering::Relaxed);
    cx.emit(format!("{number} in {}", process.name)).await?;
    Ok(number * number)
}

/// Fails at first: the policies are those of the task.
#[task(anywhere, retry = twice())]
async fn ask(number: u64, cx: &Context) -> Result<u64, NodeError> {
    if cx.attempt() == 1 && number > 0 {
        return Err(NodeError::msg("not yet"));
    }
    Ok(number + cx.interrupt::<u64>("more", &number)?)
}

#[task]
async fn name(cx: &Context) -> Result<String, NodeError> {
    Ok(cx.resource::<Process>()?.name.to_owned())
}

#[entrypoint]
async fn sum(cx: &Context) -> Result<String, NodeError> {
    let (first, second) = tokio::try_join!(square(2).on(cx), square(3).on(cx))?;
    let third = ask(first + second).on(cx).await?;
    Ok(format!("{third} in {}", name().on(cx).await?))
}

fn tasks() -> Tasks {
    Tasks::new().task(square).task(ask)
}

/// A worker of the tasks; it stops when it is dropped.
struct Running(JoinHandle<()>, Machine);

impl Running {
    fn start(net: &Net, tasks: &Tasks, process: &Arc<Process>) -> Self {
        let machine = net.machine();
        let graph = tasks.compile().unwrap().resource(Arc::clone(process));
        let worker = Worker::new(&graph).slots(4).name(process.name);
        let queue = Queue::over(machine.clone(), "test");
        let work = tokio::spawn(async move { worker.serve(&queue).await.unwrap() });
        Self(work, machine)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The entrypoint in a driver, whose tasks are in the queue.
fn driver(queue: &Queue) -> CompiledStateGraph<SumState> {
    let graph = sum.compile().unwrap();
    graph
        .resource(Process::new("driver", false))
        .resource(Arc::new(tasks().executor(queue.clone()).unwrap()))
        .checkpointer(Arc::new(MemorySaver::new()))
}

#[tokio::test(start_paused = true)]
async fn tasks_that_may_run_anywhere_run_in_workers_and_each_is_recorded_once() {
    let net = Net::new(1, Conditions::FINE);
    let process = Process::new("worker", false);
    let _worker = Running::start(&net, &tasks(), &process);
    let queue = Queue::over(net.machine(), "test");
    let graph = driver(&queue);
    let thread = graph.thread("t");

    let options = langgraph::stream::StreamOptions::new(StreamMode::Custom).subgraphs();
    let mut events = thread.run(sum()).stream(options);
    let mut emitted = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Custom { value, .. } = event.unwrap().kind {
            emitted.push(value.as_str().unwrap().to_owned());
        }
    }
    emitted.sort();
    assert_eq!(emitted, ["2 in worker", "3 in worker"]);
    let paused = events.finish().await.unwrap();
    assert_eq!(paused.interrupts()[0].payload, 13);

    let state = thread.resume("more", 7).await.unwrap().finished().unwrap();
    assert_eq!(state.output.as_deref(), Some("20 in driver"));
    assert_eq!(process.squared.load(Ordering::Relaxed), 2);
    // Two squares, and the task that asks twice.
    assert_eq!(queue.metrics().done, 4);
}

fn twice() -> RetryPolicy {
    RetryPolicy::attempts(2).retry_on(|_| true).immediately()
}

/// Fails behind the first of its own tasks.
#[task(anywhere, retry = twice())]
async fn squares(cx: &Context) -> Result<u64, NodeError> {
    let first = square(2).on(cx).await?;
    if cx.attempt() == 1 {
        return Err(NodeError::msg("not yet"));
    }
    Ok(first + square(3).on(cx).await?)
}

#[entrypoint(retry = twice())]
async fn patient(cx: &Context) -> Result<u64, NodeError> {
    let (one, more) = (square(1).on(cx).await?, squares().on(cx).await?);
    if cx.attempt() == 1 {
        return Err(NodeError::msg("not yet"));
    }
    Ok(one + more + square(4).on(cx).await?)
}

#[tokio::test(start_paused = true)]
async fn another_attempt_finds_the_results_of_tasks_in_workers_with_and_without_a_thread() {
    for has_thread in [false, true] {
        let net = Net::new(1, Conditions::FINE);
        let process = Process::new("worker", false);
        let tasks = tasks().task(squares);
        let _worker = Running::start(&net, &tasks, &process);
        let queue = Queue::over(net.machine(), "test");
        let executor = tasks.executor(queue.clone()).unwrap();
        let graph = patient.compile().unwrap().resource(Arc::new(executor));
        let state = if has_thread {
            let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
            graph.thread("t").run(patient()).await.unwrap().finished()
        } else {
            Ok(graph.invoke(patient()).await.unwrap())
        };
        assert_eq!(state.unwrap().output, Some(1 + 4 + 9 + 16));
        assert_eq!(process.squared.load(Ordering::Relaxed), 4, "{has_thread}");
        assert_eq!(queue.metrics().done, 3, "{has_thread}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_tasks_of_a_worker_that_dies_run_in_another() {
    let net = Net::new(1, Conditions::FINE);
    let (dying, other) = (Process::new("dying", true), Process::new("other", false));
    let worker = Running::start(&net, &tasks(), &dying);
    let queue = Queue::over(net.machine(), "test");
    let run = tokio::spawn({
        let thread = driver(&queue).thread("t");
        async move { thread.run(sum()).await }
    });
    dying.holding.notified().await;
    net.crash(worker.1.number);
    drop(worker);
    let _other = Running::start(&net, &tasks(), &other);
    let paused = run.await.unwrap().unwrap();
    assert_eq!(paused.interrupts()[0].payload, 13);
    assert_eq!(other.squared.load(Ordering::Relaxed), 2);
}

#[tokio::test(start_paused = true)]
async fn a_worker_with_other_tasks_is_refused_by_name() {
    let net = Net::new(1, Conditions::FINE);
    let old = Process::new("an older program", false);
    let _worker = Running::start(&net, &Tasks::new().task(square), &old);
    let queue = Queue::over(net.machine(), "test");
    let error = driver(&queue).thread("t").run(sum()).await.unwrap_err();
    let error = error.to_string();
    assert!(error.contains("an older program"), "{error}");
    assert_eq!(queue.refused().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_task_that_the_executor_lacks_is_named() {
    let net = Net::new(1, Conditions::FINE);
    let queue = Queue::over(net.machine(), "test");
    let executor = Tasks::new().task(ask).executor(queue).unwrap();
    let graph = sum.compile().unwrap().resource(Arc::new(executor));
    let error = graph.invoke(sum()).await.unwrap_err().to_string();
    assert!(error.contains("`Tasks::task(square)`"), "{error}");
}
