//! What clients do in a seed, and what has to be so in the end.

use serde_json::{Value, json};

use crate::client::{Client, Event};
use crate::graph::expected;
use crate::process::Site;

/// A client with a thread of its own.
pub(crate) struct Customer {
    pub(crate) site: Site,
    pub(crate) client: Client,
    pub(crate) number: usize,
}

/// A run that has ended.
struct Ended {
    path: String,
    status: String,
    events: Vec<Event>,
}

impl Customer {
    /// Places its orders, one after the other, and looks at what became of them.
    pub(crate) async fn shop(self) {
        let world = &self.site.world;
        let thread = self.thread().await;
        let mut wanted = Vec::new();
        for order in 0..=world.below(3) {
            let order = format!("customer {}/order {order}", self.number);
            let Some(done) = self.order(&thread, &order).await else {
                return;
            };
            wanted.extend(done);
        }
        let state = self.client.get(&format!("{thread}/state")).await;
        let done: Vec<String> =
            serde_json::from_value(state["values"]["done"].clone()).unwrap_or_default();
        if done != wanted {
            let text = format!("{thread} has {done:?} and not {wanted:?}");
            world.violate(text);
        }
    }

    /// Makes a thread, and returns its path.
    async fn thread(&self) -> String {
        let id = langgraph_core::new_id().to_string();
        let body = json!({"thread_id": id, "if_exists": "do_nothing"});
        self.client.post("/threads", None, &body).await;
        format!("/threads/{id}")
    }

    /// Places an order, and returns what the thread does for it.
    ///
    /// `None` if its run was given up, or a promise broken.
    async fn order(&self, thread: &str, order: &str) -> Option<Vec<String>> {
        let world = &self.site.world;
        let steps = u32::try_from(world.below(5)).unwrap_or_default();
        let asks = world.below(2) == 0;
        let input = json!({"order": order, "steps": steps, "asks": asks});
        let first = self.run(thread, order, "input", &input).await;
        if !self.ends_well(&first) {
            return None;
        }
        let mut events = first.events;
        let mut answer = None;
        if asks {
            let state = self.client.get(&format!("{thread}/state")).await;
            if state["next"] != json!(["ask"]) {
                world.violate(format!("{order} does not ask: {state}"));
                return None;
            }
            world.tell(format!("{order} is approved"));
            answer = Some("yes");
            let command = json!({"resume": answer});
            let key = format!("{order}/answer");
            let second = self.run(thread, &key, "command", &command).await;
            if !self.ends_well(&second) {
                return None;
            }
            events.extend(second.events);
        }
        if self.site.ledger.times(order) == 0 {
            world.violate(format!("{order} was not paid"));
        }
        let wanted = expected(order, steps, answer);
        for what in wanted.iter().filter(|what| what.contains("/step ")) {
            let is_shown = |(_, kind, data): &Event| kind == "custom" && data.contains(&**what);
            if !events.iter().any(is_shown) {
                world.violate(format!("no client has seen {what}"));
            }
        }
        Some(wanted)
    }

    /// Asks for a run, and waits until it has ended.
    async fn run(&self, thread: &str, key: &str, name: &str, what: &Value) -> Ended {
        let world = &self.site.world;
        let mut body = json!({
            "assistant_id": "work", "stream_mode": ["custom", "values"], "stream_resumable": true,
        });
        body[name] = what.clone();
        let runs = format!("{thread}/runs");
        world.tell(format!("{key} is asked for"));
        let run = self.client.post(&runs, Some(key), &body).await;
        let run = run["run_id"].as_str().unwrap_or_default().to_owned();
        let path = format!("{runs}/{run}");
        let events = self.client.watch(&path).await;
        let row = self.client.get(&path).await;
        let status = row["status"].as_str().unwrap_or_default().to_owned();
        world.tell(format!("{key} has ended: {status}"));
        Ended {
            path,
            status,
            events,
        }
    }

    /// Checks a run that has ended: how, and that its client has seen each event once.
    fn ends_well(&self, run: &Ended) -> bool {
        let Ended {
            path,
            status,
            events,
        } = run;
        if status == "error" && self.site.world.may_give_up() {
            return false;
        }
        if status != "success" {
            let text = format!("{path} has ended with {status}");
            self.site.world.violate(text);
            return false;
        }
        let number = |(id, ..): &Event| {
            let id = id.rsplit_once('-').map_or("", |(_, number)| number);
            let (event, part) = id.split_once('.').unwrap_or((id, "999999"));
            (event.parse::<u64>().ok(), part.parse::<u64>().ok())
        };
        let numbers: Vec<_> = events.iter().map(number).collect();
        if !numbers.is_sorted_by(|one, next| one < next) {
            let text = format!("the events of {path} are not each once and in order: {events:?}");
            self.site.world.violate(text);
        }
        true
    }
}
