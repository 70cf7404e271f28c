//! The nodes of a simulated graph: when their tasks go on, and where the process crashes.

use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::ThreadId;
use std::time::Duration;

use langgraph::node::NodeRun;
use langgraph::policy::{Middleware, NodeCall};
use langgraph::state::State;
use tokio::time::{Sleep, sleep};

use super::acknowledged::Acknowledged;
use super::blocking::{BlockedNodes, Watch};
use super::event::SimulationEventKind;
use super::violation::{Rule, Violation};
use super::world::{NodeTask, World};

/// The number of a call, as a resource of its run.
pub(super) struct CallNumber(pub(super) u32);

/// Middleware around each node of a process.
pub(super) struct SimulatedNodes {
    pub(super) world: World,
    pub(super) process: u32,
    pub(super) acknowledged: Acknowledged,
    pub(super) blocked: BlockedNodes,
}

impl<S: State> Middleware<S> for SimulatedNodes {
    fn around<'a>(&'a self, call: NodeCall<'a, S>) -> NodeRun<'a, S> {
        NodeRun::future(async move {
            let pause = self.world.with(|world| world.dice.turn());
            self.pause(pause).await;
            let task = self.start(&call).await;
            let _running = RunningTask::new(&self.world, &task);
            let mut node = SimulatedNode {
                nodes: self,
                task: &task,
                call,
                run: None,
                pause: None,
            };
            let result = poll_fn(|cx| node.poll(cx)).await;
            let error = result.as_ref().err().map(ToString::to_string);
            let ended = SimulationEventKind::Ended { error };
            self.world.record(&task.thread, Some(&task.node), ended);
            result
        })
    }
}

impl SimulatedNodes {
    async fn pause(&self, pause: Option<Duration>) {
        if let Some(pause) = pause {
            sleep(pause).await;
        }
        if !self.world.is_alive(self.process) {
            pending::<()>().await;
        }
    }

    /// Notes the start of a task; a task that has ended before does not start again.
    async fn start<S: State>(&self, call: &NodeCall<'_, S>) -> NodeTask {
        let cx = call.context();
        let number = cx.resource::<CallNumber>().map_or(0, |call| call.0);
        let task = NodeTask {
            thread: cx.thread_id().unwrap_or_default().to_owned(),
            node: call.node().to_owned(),
            call: number,
        };
        let identity = cx.idempotency_key("");
        if self.acknowledged.had_ended(&task.thread, &identity, number) {
            self.world.violated(Violation::new(
                Rule::RunsOnce,
                Some(&task.thread),
                format!("`{}` runs again, and its result was stored", task.node),
            ));
            pending::<()>().await;
        }
        let started = SimulationEventKind::Started { call: number };
        self.world.record(&task.thread, Some(&task.node), started);
        task
    }
}

/// A task that has started and not ended, until this is dropped: with its run, or when its node panics.
struct RunningTask<'a> {
    world: &'a World,
    task: &'a NodeTask,
}

impl<'a> RunningTask<'a> {
    fn new(world: &'a World, task: &'a NodeTask) -> Self {
        world.with(|world| world.running.push(task.clone()));
        Self { world, task }
    }
}

impl Drop for RunningTask<'_> {
    fn drop(&mut self) {
        self.world.with(|world| {
            let place = world.running.iter().position(|task| task == self.task);
            if let Some(place) = place {
                world.running.swap_remove(place);
            }
        });
    }
}

/// A task of a node, poll by poll.
struct SimulatedNode<'n, 'a, S: State> {
    nodes: &'n SimulatedNodes,
    task: &'n NodeTask,
    call: NodeCall<'a, S>,
    run: Option<NodeRun<'a, S>>,
    /// The task waits for its turn, although it could go on.
    pause: Option<Pin<Box<Sleep>>>,
}

impl<'a, S: State> SimulatedNode<'_, 'a, S> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<<NodeRun<'a, S> as Future>::Output> {
        let world = &self.nodes.world;
        if !world.is_alive(self.nodes.process) {
            return Poll::Pending;
        }
        if let Some(pause) = &mut self.pause {
            if pause.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.pause = None;
        }
        let polled = self.poll_node(cx);
        let world = &self.nodes.world;
        let (thread, node) = (self.task.thread.as_str(), Some(self.task.node.as_str()));
        if let Some(place) = world.with(|world| world.doomed.take()) {
            world.with(|world| world.crash(thread, node, &place));
            return Poll::Pending;
        }
        let place = match polled {
            Poll::Pending => "while it waits",
            Poll::Ready(_) => "before its result is stored",
        };
        if world.crashes(thread, node, place) {
            return Poll::Pending;
        }
        if polled.is_pending() {
            let pause = world.with(|world| world.dice.turn());
            self.pause = pause.map(|pause| Box::pin(sleep(pause)));
            // The pause begins when the node could go on, so it is not polled now.
        }
        polled
    }

    fn poll_node(&mut self, cx: &mut Context<'_>) -> Poll<<NodeRun<'a, S> as Future>::Output> {
        let nodes = self.nodes;
        let _polled = Polled::new(&nodes.world, self.task);
        let _watch = Watch::new(&nodes.blocked, &nodes.world, self.task);
        let waker = Waker::from(Arc::new(TaskWaker {
            waker: cx.waker().clone(),
            home: std::thread::current().id(),
            world: nodes.world.clone(),
            task: self.task.clone(),
        }));
        let run = self.run.get_or_insert_with(|| self.call.run());
        Pin::new(run).poll(&mut Context::from_waker(&waker))
    }
}

/// Marks a task as the one that is polled, also if the node panics.
struct Polled<'a>(&'a World);

impl<'a> Polled<'a> {
    fn new(world: &'a World, task: &NodeTask) -> Self {
        world.with(|world| world.polled = Some(task.clone()));
        Self(world)
    }
}

impl Drop for Polled<'_> {
    fn drop(&mut self) {
        self.0.with(|world| world.polled = None);
    }
}

/// Finds out that a task was woken from outside the simulation.
struct TaskWaker {
    waker: Waker,
    home: ThreadId,
    world: World,
    task: NodeTask,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if std::thread::current().id() != self.home {
            self.world.violated(waits_outside(&self.task));
        }
        self.waker.wake_by_ref();
    }
}

/// The violation of a task that waits for something that is not simulated.
pub(super) fn waits_outside(task: &NodeTask) -> Violation {
    let text = format!(
        "`{}` waits for something outside the simulation: real I/O, another thread, or the clock of the \
         machine; give it a service that stands in for the real one, and `tokio::time` for its waits",
        task.node
    );
    Violation::new(Rule::Simulated, Some(&task.thread), text)
}
