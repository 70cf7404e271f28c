//! Orders that no message can hold are objects of the queue.

#![allow(clippy::unwrap_used, clippy::expect_used)] // a test fails by panicking

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use langgraph::prelude::*;
use langgraph_nats::link::{Link, LinkFuture, Packet};
use langgraph_nats::{Queue, Worker};
use langgraph_simulation::{Conditions, Machine, Net};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinHandle;
use tokio::time::timeout;

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Parcels {
    items: Vec<String>,
    #[reducer(append)]
    done: Vec<usize>,
}

fn items(parcels: &Parcels) -> Vec<String> {
    parcels.items.clone()
}

#[node]
async fn wrap(item: String, _: &Parcels) -> ParcelsUpdate {
    ParcelsUpdate::default().done(vec![item.len()])
}

fn graph() -> CompiledStateGraph<Parcels> {
    let graph = graph! {
        type State = Parcels;
        let wrap = worker(wrap).anywhere();
        START => for item in items { wrap(item) } => END;
    };
    graph.compile().unwrap()
}

/// The link of a worker that waits for a permit before it takes an order.
#[derive(Debug)]
struct Waiting {
    machine: Machine,
    permits: Arc<Semaphore>,
    /// The orders that it is about to take, and those that it has deleted.
    orders: mpsc::UnboundedSender<String>,
}

impl Waiting {
    fn report(&self, order: &str) {
        if order.starts_with("order-") {
            self.orders.send(order.to_owned()).unwrap();
        }
    }
}

impl Link for Waiting {
    fn send(&self, subject: String, reply: Option<String>, payload: Bytes) -> LinkFuture<'_, ()> {
        self.machine.send(subject, reply, payload)
    }

    fn listen(&self, subject: String) -> LinkFuture<'_, mpsc::Receiver<Packet>> {
        self.machine.listen(subject)
    }

    fn limit(&self) -> usize {
        self.machine.limit()
    }

    fn put<'a>(&'a self, queue: &'a str, name: String, value: Bytes) -> LinkFuture<'a, ()> {
        self.machine.put(queue, name, value)
    }

    fn get<'a>(&'a self, queue: &'a str, name: String) -> LinkFuture<'a, Bytes> {
        Box::pin(async move {
            if name.starts_with("order-") {
                self.report(&name);
                self.permits.acquire().await.unwrap().forget();
            }
            self.machine.get(queue, name).await
        })
    }

    fn delete<'a>(&'a self, queue: &'a str, name: String) -> LinkFuture<'a, ()> {
        Box::pin(async move {
            self.machine.delete(queue, name.clone()).await?;
            self.report(&name);
            Ok(())
        })
    }
}

/// A worker whose link waits; it stops when it is dropped.
struct Process {
    machine: usize,
    permits: Arc<Semaphore>,
    orders: mpsc::UnboundedReceiver<String>,
    work: JoinHandle<()>,
}

impl Process {
    fn start(net: &Net) -> Self {
        let machine = net.machine();
        let number = machine.number;
        let permits = Arc::new(Semaphore::new(0));
        let (reports, orders) = mpsc::unbounded_channel();
        let link = Waiting {
            machine,
            permits: Arc::clone(&permits),
            orders: reports,
        };
        let queue = Queue::over(link, "test");
        let worker = Worker::new(&graph()).slots(1).name(format!("w{number}"));
        Self {
            machine: number,
            permits,
            orders,
            work: tokio::spawn(async move { worker.serve(&queue).await.unwrap() }),
        }
    }

    async fn order(&mut self) -> String {
        let order = timeout(Duration::from_secs(60), self.orders.recv()).await;
        order.expect("an order comes").expect("the worker lives")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.work.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_counts_as_lost_deletes_no_order_of_the_next_one() {
    let conditions = Conditions {
        limit: 4_096,
        ..Conditions::FINE
    };
    let net = Net::new(1, conditions);
    let mut first = Process::start(&net);
    let driver = graph().executor(Queue::over(net.machine(), "test"));
    let input = ParcelsUpdate::default().items(vec!["x".repeat(10_000)]);
    let run = tokio::spawn(async move { driver.invoke(input).await });
    let order = first.order().await;
    net.cut_off(first.machine, true);
    // The driver gives the task to the next one.
    let mut next = Process::start(&net);
    let again = next.order().await;
    net.cut_off(first.machine, false);
    first.permits.add_permits(1);
    assert_eq!(first.order().await, order, "it is deleted");
    next.permits.add_permits(1);
    assert_eq!(next.order().await, again, "it is deleted");
    assert_eq!(run.await.unwrap().unwrap().done, [10_000]);
}
