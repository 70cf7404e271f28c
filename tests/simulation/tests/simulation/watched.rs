//! The queue as a server's executor: each task of a map has to get its own result.

use langgraph::executor::{Executor, Running, TaskCall, TaskOrder};
use langgraph_nats::Queue;
use serde::Serialize;

use crate::world::World;

pub(crate) struct Watched {
    pub(crate) queue: Queue,
    pub(crate) world: World,
}

impl Executor for Watched {
    fn run<'a>(&'a self, task: TaskCall<'a>) -> Running<'a> {
        Box::pin(async move {
            let (order, state) = (task.order(), task.snapshot()?);
            let reply = self.queue.run(task).await?;
            let got = text(&reply);
            if reply.failure().is_none() && !is_of(&got, &order, &state.text) {
                let text = format!("{} gets {got}", text(&order));
                self.world.violate(text);
            }
            Ok(reply)
        })
    }

    fn at_once(&self) -> Option<usize> {
        Executor::at_once(&self.queue)
    }
}

/// Returns true if a reply has the parcel of the task, for the order in the state of its map.
fn is_of(reply: &str, task: &TaskOrder, state: &str) -> bool {
    let Ok(task) = serde_json::to_value(task) else {
        return false;
    };
    let parcel = format!("/parcel {}", task["item"].as_str().unwrap_or_default());
    let mut words = reply.split('"').map(|word| word.trim_end_matches('\\'));
    let order = words.find_map(|word| word.strip_suffix(&*parcel));
    let is_order = |order| {
        let mut words = state.split('"').map(|word| word.trim_end_matches('\\'));
        words.any(|word| word == order)
    };
    order.is_some_and(is_order)
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
