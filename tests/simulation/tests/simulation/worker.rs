//! A worker of the queue that the servers send parcels to.

use langgraph_nats::{Queue, Worker};

use crate::graph::work;
use crate::host::{Drains, Program, Role, Running};
use crate::site::Site;

pub(crate) struct WorkerProgram {
    pub(crate) site: Site,
    pub(crate) name: String,
}

/// The name of the queue.
pub(crate) const QUEUE: &str = "orders";

/// Returns the queue of a host's process.
pub(crate) fn queue(site: &Site, host: &str) -> Queue {
    Queue::over(site.network.link(host), QUEUE)
}

impl Program for WorkerProgram {
    fn role(&self) -> Role {
        Role::Worker
    }

    fn run(&self, _: Drains) -> Running {
        let worker = Worker::new(&work(&self.site)).slots(2).name(&self.name);
        let (queue, world) = (queue(&self.site, &self.name), self.site.world.clone());
        Box::pin(async move {
            let ended = worker.serve(&queue).await;
            world.violate(format!("a worker has ended: {ended:?}"));
        })
    }
}
