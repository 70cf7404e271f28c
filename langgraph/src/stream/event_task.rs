//! The task of an event.

use std::fmt;
use std::sync::Arc;

use langgraph_topology::{NodeName, START};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::checkpoint::{CheckpointId, task_id};

/// The task that an event belongs to: tells the items of a map, and parallel subgraphs, apart.
///
/// It serializes as `{"id": .., "node": .., "index": .., "item": ..}`; `item` is absent for a task of no map.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
///
/// #[derive(Clone, Default, State)]
/// struct Trip {
///     cities: Vec<String>,
///     #[reducer(append)]
///     notes: Vec<String>,
/// }
///
/// #[node]
/// async fn research(city: String, _: &Trip, cx: &Context) -> Result<TripUpdate, NodeError> {
///     cx.emit("reading").await?;
///     Ok(TripUpdate::default().notes(vec![city]))
/// }
///
/// fn cities(trip: &Trip) -> Vec<String> {
///     trip.cities.clone()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let graph = graph! {
///     type State = Trip;
///     START => for city in cities { research(city) } => END;
/// }
/// .compile()?;
/// let trip = TripUpdate::default().cities(vec!["Oslo".to_owned(), "Rome".to_owned()]);
/// let mut events = graph.run(trip).stream(StreamMode::Custom);
/// let mut items = Vec::new();
/// while let Some(event) = events.next().await {
///     let event = event?;
///     items.extend(event.task.as_ref().and_then(|task| task.item()));
/// }
/// items.sort();
/// assert_eq!(items, [0, 1]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct EventTask {
    /// The names of the graph's nodes: those of a chain's tasks are the same.
    names: Arc<[NodeName]>,
    /// The place of its node among them.
    node: usize,
    index: usize,
    item: Option<usize>,
    parent: Option<Arc<Self>>,
    superstep: Superstep,
}

/// The superstep of a task.
#[derive(Clone, Copy)]
pub(crate) enum Superstep {
    /// That after a checkpoint.
    After(CheckpointId),
    /// One of a run without a thread.
    Of { run: Uuid, step: usize },
}

impl EventTask {
    pub(crate) fn new(
        names: &Arc<[NodeName]>,
        node: usize,
        index: usize,
        item: Option<usize>,
        parent: Option<Arc<Self>>,
        superstep: Superstep,
    ) -> Self {
        Self {
            names: Arc::clone(names),
            node,
            index,
            item,
            parent,
            superstep,
        }
    }

    /// Turns it into the only task of another superstep of its graph.
    #[inline]
    pub(super) fn become_task(&mut self, node: usize, superstep: Superstep) {
        self.node = node;
        self.index = 0;
        self.item = None;
        self.superstep = superstep;
    }

    /// Returns the id of the task. The task has the same one in all events, and on a thread as
    /// [`Snapshot::task_id`](crate::checkpoint::Snapshot::task_id).
    pub fn id(&self) -> String {
        self.uuid().to_string()
    }

    fn uuid(&self) -> Uuid {
        match self.superstep {
            Superstep::After(checkpoint) => task_id::of(checkpoint, self.index, self.node()),
            Superstep::Of { run, step } => {
                let parent = self.parent.as_ref();
                let around = parent.map_or(run, |parent| parent.uuid());
                task_id::derived(around.as_bytes(), &[step, self.index], self.node())
            }
        }
    }

    /// Returns the node.
    pub fn node(&self) -> &str {
        self.names.get(self.node).map_or(START, |name| name)
    }

    /// Returns the place of the task among the tasks of its superstep, counted from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the place of the task's item in its map, counted from 0; `None` if it has no item.
    pub fn item(&self) -> Option<usize> {
        self.item
    }

    /// Returns the checkpoint that was the newest of its graph when the task began; `None` in a run without a thread.
    pub fn checkpoint(&self) -> Option<CheckpointId> {
        match self.superstep {
            Superstep::After(checkpoint) => Some(checkpoint),
            Superstep::Of { .. } => None,
        }
    }

    /// Returns the task of the parent graph that runs the graph of this task; `None` in the root graph.
    pub fn parent(&self) -> Option<&Self> {
        self.parent.as_deref()
    }
}

impl Serialize for EventTask {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let fields = 3 + usize::from(self.item.is_some());
        let mut task = serializer.serialize_struct("EventTask", fields)?;
        task.serialize_field("id", &self.uuid().hyphenated().to_string())?;
        task.serialize_field("node", self.node())?;
        task.serialize_field("index", &self.index)?;
        if let Some(item) = self.item {
            task.serialize_field("item", &item)?;
        }
        task.end()
    }
}

impl PartialEq for EventTask {
    fn eq(&self, other: &Self) -> bool {
        self.uuid() == other.uuid()
    }
}

impl Eq for EventTask {}

impl fmt::Debug for EventTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EventTask({}:{})", self.node(), self.uuid())
    }
}
