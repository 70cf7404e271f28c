//! A client with a thread of its own: what it asks for, and what it then may rely on.

use std::time::Duration;

use serde_json::{Value, json};

use crate::client::{Client, Event};
use crate::order::Order;
use crate::site::Site;
use crate::trades;

/// A customer. It knows what its thread has to hold.
pub(crate) struct Customer {
    pub(crate) site: Site,
    pub(crate) client: Client,
    pub(crate) number: usize,
    /// The path of its thread.
    pub(crate) thread: String,
    /// What its thread has done.
    pub(crate) done: Vec<String>,
    /// How many orders it has placed.
    orders: usize,
    /// The runs that have ended, and what their webhooks say of that; nothing if it is not known.
    runs: Vec<(String, String)>,
}

/// A run that has ended.
pub(crate) struct Ended {
    pub(crate) path: String,
    /// Empty if the run was removed.
    pub(crate) status: String,
    pub(crate) events: Vec<Event>,
    /// When its client knew.
    pub(crate) when: Duration,
}

/// Why a customer stops: a run was given up, or a promise was broken.
#[derive(Debug)]
pub(crate) struct Stopped;

impl Customer {
    pub(crate) fn new(site: Site, client: Client, number: usize) -> Self {
        Self {
            site,
            client,
            number,
            thread: String::new(),
            done: Vec::new(),
            orders: 0,
            runs: Vec::new(),
        }
    }

    /// Trades for a while.
    pub(crate) async fn shop(mut self) {
        self.open_thread().await;
        for _ in 0..=self.site.world.below(4) {
            let traded = trades::next(&mut self).await;
            if traded.is_err() || self.check_thread().await.is_err() {
                return;
            }
        }
        let _ = self.check_webhooks().await;
    }

    /// Opens a thread.
    pub(crate) async fn open_thread(&mut self) {
        let id = langgraph_core::new_id().to_string();
        let body = json!({"thread_id": id, "if_exists": "do_nothing"});
        self.client.post("/threads", None, &body).await;
        self.thread = format!("/threads/{id}");
        self.done.clear();
    }

    /// Opens a thread that was removed, under the same id.
    pub(crate) async fn reopen_thread(&mut self) {
        let id = self.thread.trim_start_matches("/threads/");
        let body = json!({"thread_id": id, "if_exists": "do_nothing", "graph_id": "work"});
        self.client.post("/threads", None, &body).await;
        self.done.clear();
    }

    /// Returns the name of a new order.
    pub(crate) fn order_name(&mut self) -> String {
        self.orders += 1;
        format!("customer {}/order {}", self.number, self.orders)
    }

    /// Returns a new order.
    pub(crate) fn order(&mut self, steps: u32, asks: bool) -> Order {
        let name = self.order_name();
        Order::new(&self.site, name, steps, asks)
    }

    /// Says that a promise was broken.
    pub(crate) fn violated(&self, what: impl Into<String>) -> Stopped {
        self.site.world.violate(what);
        Stopped
    }

    /// Returns the state of the thread.
    pub(crate) async fn state(&self) -> Value {
        self.client.get(&format!("{}/state", self.thread)).await
    }

    /// Returns what the thread has done.
    pub(crate) async fn stored(&self) -> Vec<String> {
        let state = self.state().await;
        serde_json::from_value(state["values"]["done"].clone()).unwrap_or_default()
    }

    /// Checks what the thread has done, and that its history can be read.
    async fn check_thread(&self) -> Result<(), Stopped> {
        let stored = self.stored().await;
        if stored != self.done {
            let text = format!("{} has {stored:?} and not {:?}", self.thread, self.done);
            return Err(self.violated(text));
        }
        let path = format!("{}/history", self.thread);
        let history = self.client.post(&path, None, &json!({"limit": 100})).await;
        if !history.is_array() {
            return Err(self.violated(format!("{path} answers {history}")));
        }
        Ok(())
    }

    /// Returns the request for a run that is given that.
    pub(crate) fn request(what: &Value) -> Value {
        let mut body = json!({
            "assistant_id": "work", "stream_mode": ["custom", "values"], "stream_resumable": true,
            "webhook": "http://customers/",
        });
        for (name, value) in what.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        body
    }

    /// Begins a run, and returns its path.
    pub(crate) async fn begin(&self, key: &str, what: &Value) -> String {
        self.site.world.record(format!("{key} is asked for"));
        let runs = format!("{}/runs", self.thread);
        let body = Self::request(what);
        let run = self.client.post(&runs, Some(key), &body).await;
        format!("{runs}/{}", run["run_id"].as_str().unwrap_or_default())
    }

    /// Asks for a run, and waits until it has ended.
    pub(crate) async fn run(&self, key: &str, what: &Value) -> Ended {
        let path = self.begin(key, what).await;
        self.ended(path, key).await
    }

    /// Waits until a run has ended.
    pub(crate) async fn ended(&self, path: String, key: &str) -> Ended {
        let (events, status) = self.client.watch(&path, "-1").await;
        let world = &self.site.world;
        let when = world.elapsed();
        world.record(format!("{key} has ended: {status}"));
        if !status.is_empty() {
            self.reread(&path, &events).await;
        }
        Ended {
            path,
            status,
            events,
            when,
        }
    }

    /// Reads the events of a run again, from some event on, and checks that they are the same.
    async fn reread(&self, run: &str, events: &[Event]) {
        let world = &self.site.world;
        if world.below(2) == 0 {
            return;
        }
        let from = usize::try_from(world.below(events.len() as u64 + 1)).unwrap_or_default();
        let (before, behind) = events.split_at(from);
        let last = before.last().map_or("-1", |(id, ..)| id);
        let (again, _) = self.client.watch(run, last).await;
        if again != behind {
            let text = format!("behind {last}, {run} has {again:?} and not {behind:?}");
            world.violate(text);
        }
    }

    /// Checks that a run has ended in one of these ways, and that its client has seen each event once.
    pub(crate) fn ends(&mut self, run: &Ended, ways: &[&str]) -> Result<(), Stopped> {
        let Ended {
            path,
            status,
            events,
            ..
        } = run;
        if status == "error" && self.site.world.may_give_up() {
            return Err(Stopped);
        }
        if !ways.contains(&&**status) {
            return Err(self.violated(format!("{path} has ended with {status}")));
        }
        self.sees_each_once(path, events)?;
        let says = match &**status {
            // It was taken back.
            "" => "interrupted",
            status => status,
        };
        self.expects_webhook(path, says);
        Ok(())
    }

    /// Checks that a client has seen each event of a run once.
    pub(crate) fn sees_each_once(&self, path: &str, events: &[Event]) -> Result<(), Stopped> {
        let numbers: Vec<_> = events.iter().map(number).collect();
        if numbers.is_sorted_by(|one, next| one < next) {
            return Ok(());
        }
        let text = format!("the events of {path} are not each once and in order: {events:?}");
        Err(self.violated(text))
    }

    /// Notes that a run has ended, and what its webhook says of that; nothing if it is not known.
    pub(crate) fn expects_webhook(&mut self, path: &str, says: &str) {
        self.runs.push((path.to_owned(), says.to_owned()));
    }

    /// Waits for the webhooks of all runs. One whose sender was lost comes after two minutes, for which few seeds
    /// wait.
    async fn check_webhooks(&self) -> Result<(), Stopped> {
        let is_patient = self.site.world.below(16) == 0;
        for (path, says) in &self.runs {
            let run = path.rsplit('/').next().unwrap_or_default();
            let mut pauses = 0;
            let said = loop {
                if let Some(said) = self.site.ledger.webhook(run) {
                    break said;
                }
                pauses += 1;
                if pauses > 10 && !is_patient {
                    return Ok(());
                }
                if pauses > 1_500 {
                    return Err(self.violated(format!("the webhook of {path} does not come")));
                }
                self.client.pause().await;
            };
            if !says.is_empty() && said != *says {
                return Err(self.violated(format!("the webhook of {path} says {said}")));
            }
        }
        Ok(())
    }
}

/// Returns the number of an event, and of its part.
fn number((id, ..): &Event) -> (Option<u64>, Option<u64>) {
    let id = id.rsplit_once('-').map_or("", |(_, number)| number);
    let (event, part) = id.split_once('.').unwrap_or((id, "999999"));
    (event.parse().ok(), part.parse().ok())
}
