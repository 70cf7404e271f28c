//! Runs tasks of other processes.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::time::{MissedTickBehavior, interval};

use super::{TaskOrder, TaskReply};
use crate::error::NodeError;
use crate::graph::CompiledStateGraph;
use crate::node::{
    Call, CancelToken, Context, ErasedItem, GraphPath, Heartbeat, Reporter, RunBounds, Scope,
    Shared, StoredItem, TaskReport, catch, state,
};
use crate::state::decoded::Decoded;
use crate::state::{State, StateCodec};
use crate::stream::{
    Emitter, EventReader, EventSender, Payload, RawEvent, StreamMode, StreamModes, event_queue,
};

/// How often a task's progress is reported.
const PULSE: Duration = Duration::from_millis(200);

/// Runs tasks of a graph whose runs are in other processes.
pub struct TaskHost<S: State> {
    graph: CompiledStateGraph<S>,
    codec: StateCodec<S>,
}

impl<S: State> CompiledStateGraph<S>
where
    S::Update: Serialize + DeserializeOwned,
{
    /// Returns the graph as a worker uses it.
    pub fn task_host(&self) -> TaskHost<S> {
        TaskHost {
            graph: self.clone(),
            codec: StateCodec::serde(),
        }
    }
}

impl<S: State> TaskHost<S> {
    /// Returns the graph.
    pub fn graph(&self) -> &CompiledStateGraph<S> {
        &self.graph
    }

    /// Decodes a snapshot; a worker keeps it for the tasks of the superstep.
    ///
    /// # Errors
    ///
    /// If the text is no state of this graph.
    pub fn snapshot(&self, text: &str) -> Result<Arc<S>, NodeError> {
        let Decoded {
            mut wire,
            mut updates,
        } = self.codec.read_text(text)?;
        let write = wire.writes.pop();
        let write = write.ok_or_else(|| NodeError::msg("a snapshot is empty"))?;
        let update = updates.take(write.into_update())?;
        Ok(Arc::new(state(update, &self.graph.plan.initial)))
    }

    /// Runs a task inside its policies, with the resources of this graph. Dropping the future stops
    /// it; `cancel` stops a task that computes for long without an `.await`.
    pub async fn run(
        &self,
        order: &TaskOrder,
        snapshot: &Arc<S>,
        reporter: Arc<dyn Reporter>,
        cancel: CancelToken,
    ) -> TaskReply {
        let plan = &self.graph.plan;
        let named = plan.node_named(&order.node);
        let Some((node, running)) = named.and_then(|node| Some((node, plan.node(node)?))) else {
            return TaskReply::failed(NodeError::msg(format!("there is no node `{}`", order.node)));
        };
        let item = order.item.clone().map(StoredItem);
        // One event waits while another is on its way.
        let (sender, mut events) = event_queue(1);
        let heartbeat = order.heartbeats.then(|| Arc::new(Heartbeat::new(None)));
        let scope = self.scope(order, sender, heartbeat.clone(), cancel);
        let cx = Context::new(Arc::new(scope), order.step, 0, node);
        let mut cx = cx.with_index(order.index);
        cx.remember(&order.answers, &order.once);
        cx.set_reporter(Arc::clone(&reporter), order.identity.clone());
        let call = Call {
            state: &**snapshot,
            written: None,
            item: item.as_ref().map(|item| item as &dyn ErasedItem),
            cx: &cx,
        };
        let run = catch(|| running.step.call(call));
        let result = reporting(run, &mut events, heartbeat, &*reporter).await;
        while let Some(event) = events.pop() {
            if let Some(report) = report_of(event) {
                let _ = reporter.report(report).await;
            }
        }
        TaskReply::new(&cx, self.codec, result)
    }

    fn scope(
        &self,
        order: &TaskOrder,
        sender: EventSender<RawEvent>,
        heartbeat: Option<Arc<Heartbeat>>,
        cancel: CancelToken,
    ) -> Scope {
        let plan = &self.graph.plan;
        let mut modes = StreamModes::NONE;
        if order.custom {
            modes |= StreamMode::Custom;
        }
        if order.messages {
            modes |= StreamMode::Messages;
        }
        let wanted = modes != StreamModes::NONE;
        let namespace = Arc::<[_]>::from(order.namespace.as_slice());
        let bounds = RunBounds::new(&plan.bounds);
        if let Some(bounds) = &bounds {
            bounds.restore(&order.followed, |name| plan.renamed(name));
        }
        Scope {
            names: Arc::clone(&plan.names),
            limit: order.remaining,
            bounds,
            resources: plan.resources.clone(),
            emitter: wanted.then(|| Box::new(Emitter::new(sender, modes, false))),
            path: GraphPath::from(namespace).with_call(order.call.clone()),
            heartbeat,
            finished_calls: None,
            shared: Arc::new(Shared {
                run_id: OnceLock::from(order.run.clone()),
                thread: order.thread.clone(),
                resources: plan.resources.clone(),
                metadata: Some(Arc::new(order.metadata.clone())),
                cancel: Some(cancel),
                ..Shared::default()
            }),
        }
    }
}

/// Returns the report of an event, if the driver wants it.
/// Runs a task, and reports its events and heartbeats meanwhile.
async fn reporting<T>(
    run: impl Future<Output = T>,
    events: &mut EventReader<RawEvent>,
    heartbeat: Option<Arc<Heartbeat>>,
    reporter: &dyn Reporter,
) -> T {
    let mut run = pin!(run);
    let mut pulse = heartbeat.map(|heartbeat| {
        let mut ticks = interval(PULSE);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        (ticks, heartbeat.last(), heartbeat)
    });
    loop {
        let report = poll_fn(|task| {
            if let Poll::Ready(Some(event)) = events.poll_pop(task) {
                return Poll::Ready(Ok(report_of(event)));
            }
            if let Some((ticks, seen, heartbeat)) = &mut pulse {
                while ticks.poll_tick(task).is_ready() {
                    if std::mem::replace(seen, heartbeat.last()) != *seen {
                        return Poll::Ready(Ok(Some(TaskReport::Heartbeat)));
                    }
                }
            }
            run.as_mut().poll(task).map(Err)
        })
        .await;
        match report {
            Err(result) => return result,
            Ok(None) => {}
            Ok(Some(report)) => {
                // An event that is lost fails no task.
                let _ = reporter.report(report).await;
            }
        }
    }
}

fn report_of(event: RawEvent) -> Option<TaskReport> {
    match event.payload {
        Payload::Custom { value, .. } => Some(TaskReport::Custom(value)),
        Payload::Chunk { chunk, .. } => Some(TaskReport::Chunk(chunk)),
        _ => None,
    }
}

impl_debug!([S: State] TaskHost<S>, |host| graph = host.graph);
