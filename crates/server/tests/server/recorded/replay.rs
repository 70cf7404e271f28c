//! Sends recorded requests to our server, with our ids in place of the recorded ones.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::StreamExt;
use reqwest::{Method, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::shape::{Shape, differences, is_id, lines, plain};
use crate::support::Api;

/// Where a recording was cut.
const CUT: usize = 20_000;

#[derive(Deserialize)]
pub(crate) struct Exchange {
    method: String,
    path: String,
    headers: BTreeMap<String, String>,
    body: Value,
    status: u16,
    response_headers: BTreeMap<String, String>,
    response: Value,
}

/// An event of a stream.
struct Event {
    name: String,
    id: Option<String>,
    data: Value,
}

fn events(text: &str) -> Vec<Event> {
    let text = text.replace("\r\n", "\n");
    let mut frames: Vec<&str> = text.split("\n\n").collect();
    if text.len() + 1_000 > CUT && !text.ends_with("\n\n") {
        frames.pop();
    }
    let read = |frame: &str| {
        let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name));
        Some(Event {
            name: field("event: ")?.to_owned(),
            id: field("id: ").map(str::to_owned),
            data: serde_json::from_str(field("data: ")?).ok()?,
        })
    };
    frames.into_iter().filter_map(read).collect()
}

fn shape(stream: &[Event]) -> Shape {
    let mut shape = Shape::new();
    let mut order: Vec<String> = Vec::new();
    for event in stream {
        let name = plain(&event.name);
        lines(&format!("{name}:"), &event.data, &mut shape);
        shape.insert((format!("{name}: id"), event.id.is_some().to_string()));
        if order.last() != Some(&name) {
            order.push(name);
        }
    }
    shape.insert(("order".to_owned(), order.join(" ")));
    shape
}

/// Our ids for theirs.
#[derive(Default)]
pub(crate) struct Ids(BTreeMap<String, String>);

impl Ids {
    fn learn(&mut self, theirs: &Value, ours: &Value) {
        match (theirs, ours) {
            (Value::String(theirs), Value::String(ours)) => self.learn_text(theirs, ours),
            (Value::Array(theirs), Value::Array(ours)) => {
                for (theirs, ours) in theirs.iter().zip(ours) {
                    self.learn(theirs, ours);
                }
            }
            (Value::Object(theirs), Value::Object(ours)) => {
                for (name, value) in theirs {
                    if let Some(ours) = ours.get(name) {
                        self.learn(value, ours);
                    }
                }
                let id = |fields: &serde_json::Map<String, Value>| {
                    fields
                        .iter()
                        .find(|(name, _)| is_id(name))
                        .map(|(n, v)| (n.clone(), v.clone()))
                };
                if let (Some((name, value)), Some((own, mine))) = (id(theirs), id(ours)) {
                    self.learn_text(&name, &own);
                    self.learn(&value, &mine);
                }
            }
            _ => {}
        }
    }

    fn learn_text(&mut self, theirs: &str, ours: &str) {
        if theirs != ours && (is_id(theirs) || plain(theirs) == "{id}") {
            self.0
                .entry(theirs.to_owned())
                .or_insert_with(|| ours.to_owned());
        }
    }

    fn ours(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (theirs, ours) in &self.0 {
            text = text.replace(theirs, ours);
        }
        text
    }
}

/// Reads a stream: whole; or as many events as were recorded, of one that its client left; or what
/// has happened so far, of one that does not end.
async fn read(response: Response, exchange: &Exchange, wanted: usize) -> String {
    let endless = exchange.path.ends_with("/stream/events") || exchange.path.ends_with("/stream");
    let left = exchange.path.contains("cancel_on_disconnect=false");
    let mut text = String::new();
    let mut body = response.bytes_stream();
    let wait = Duration::from_millis(if endless { 700 } else { 20_000 });
    let end = tokio::time::Instant::now() + Duration::from_secs(20);
    while let Ok(Some(bytes)) = tokio::time::timeout(wait, body.next()).await {
        if tokio::time::Instant::now() > end {
            break;
        }
        text.push_str(&String::from_utf8_lossy(&bytes.unwrap()));
        if left && events(&text).len() >= wanted {
            break;
        }
    }
    text
}

/// Waits until the thread of a command has a question, and learns its id.
async fn find_question(api: &Api, exchange: &Exchange, path: &str, ids: &mut Ids) {
    let asked = exchange.body["params"]["interrupt_id"]
        .as_str()
        .unwrap_or_default();
    if !is_id(asked) || ids.0.contains_key(asked) {
        return;
    }
    let thread = path.trim_end_matches("/commands");
    for _ in 0..100 {
        let row = api.get(thread).await;
        let open = row["interrupts"]
            .as_object()
            .and_then(|open| open.values().next().cloned());
        if let Some(id) = open.and_then(|open| open[0]["id"].as_str().map(str::to_owned)) {
            ids.0.insert(asked.to_owned(), id);
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until nothing runs on the thread, where the recording came after the end of its runs.
async fn quiet_before(api: &Api, exchange: &Exchange, path: &str) {
    let thread = match (
        exchange.method.as_str(),
        exchange.body["thread_id"].as_str(),
    ) {
        ("GET", _) if path.contains("/state") => path.split("/state").next().map(str::to_owned),
        ("POST", Some(thread)) if path == "/threads" => Some(format!("/threads/{thread}")),
        _ => None,
    };
    if let Some(thread) = thread {
        quiet(api, &thread).await;
    }
}

/// Waits until a run that was cancelled has ended: the recording shows a later moment.
async fn quiet_after(api: &Api, exchange: &Exchange, path: &str, ids: &Ids) {
    let of_path = || path.split("/runs").next().map(str::to_owned);
    let thread = match exchange.body["thread_id"].as_str() {
        Some(thread) if path == "/runs/cancel" => Some(format!("/threads/{}", ids.ours(thread))),
        _ if path.contains("/cancel") => of_path(),
        _ => None,
    };
    if let Some(thread) = thread {
        quiet(api, &thread).await;
    }
}

async fn quiet(api: &Api, thread: &str) {
    for _ in 0..100 {
        let runs = api.get(&format!("{thread}/runs")).await;
        let open = |run: &Value| run["status"] == "pending" || run["status"] == "running";
        if !runs.as_array().is_some_and(|runs| runs.iter().any(open)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Sends the request of an exchange, and returns how the answer differs.
pub(crate) async fn replay(api: &Api, exchange: &Exchange, ids: &mut Ids) -> Vec<String> {
    let path = ids.ours(&exchange.path);
    if path.contains("/cancel") || exchange.body["method"] == "agent.getTree" {
        // The run that is asked about is under way.
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    find_question(api, exchange, &path, ids).await;
    quiet_before(api, exchange, &path).await;
    let method: Method = exchange.method.parse().unwrap();
    let mut request = api.request(method, &path);
    for (name, value) in &exchange.headers {
        request = request.header(name, ids.ours(value));
    }
    if !exchange.body.is_null() {
        let body = ids.ours(&exchange.body.to_string());
        request = request
            .header("content-type", "application/json")
            .body(body);
    }
    let sent = tokio::time::timeout(Duration::from_secs(15), request.send()).await;
    let Ok(response) = sent.map(Result::unwrap) else {
        return vec![format!(
            "{} {}: no answer",
            exchange.method,
            plain(&exchange.path)
        )];
    };

    let (mut theirs, mut ours) = (Shape::new(), Shape::new());
    let say = |shape: &mut Shape, name: &str, value: String| {
        shape.insert((name.to_owned(), value));
    };
    say(&mut theirs, "status", exchange.status.to_string());
    say(&mut ours, "status", response.status().as_u16().to_string());
    for (name, value) in &exchange.response_headers {
        say(&mut theirs, &format!("header {name}"), plain(value));
        if let Some(value) = response.headers().get(name) {
            let value = plain(value.to_str().unwrap());
            say(&mut ours, &format!("header {name}"), value);
        }
    }
    let kind = exchange.response_headers.get("content-type");
    let is_stream = kind.is_some_and(|kind| kind.starts_with("text/event-stream"));
    if is_stream && response.status() == 200 {
        let recorded = events(exchange.response.as_str().unwrap_or_default());
        let text = read(response, exchange, recorded.len()).await;
        let heard = events(&text);
        for (one, other) in recorded.iter().zip(&heard) {
            if let (Some(one), Some(other)) = (&one.id, &other.id) {
                ids.learn_text(one, other);
            }
        }
        // The same event: the next one of that name.
        let mut rest: Vec<&Event> = heard.iter().collect();
        for event in &recorded {
            let same = |other: &&Event| plain(&other.name) == plain(&event.name);
            let question = |event: &Event| event.data["__interrupt__"][0]["value"].clone();
            let equal = |other: &&Event| same(other) && question(other) == question(event);
            let place = rest.iter().position(equal);
            if let Some(place) = place.or_else(|| rest.iter().position(same)) {
                let other = rest.remove(place);
                ids.learn(&event.data, &other.data);
            }
        }
        theirs.extend(shape(&recorded));
        ours.extend(shape(&heard));
    } else {
        let read = tokio::time::timeout(Duration::from_secs(15), response.text()).await;
        let text = read.map_or_else(|_| "no end".to_owned(), Result::unwrap);
        let answer: Value = serde_json::from_str(&text).unwrap_or(json!(text));
        ids.learn(&exchange.response, &answer);
        let recorded = match &exchange.response {
            Value::Null => json!(""),
            recorded => recorded.clone(),
        };
        lines("body", &recorded, &mut theirs);
        lines("body", &answer, &mut ours);
    }
    quiet_after(api, exchange, &path, ids).await;
    let route = plain(exchange.path.split('?').next().unwrap());
    differences(&theirs, &ours)
        .into_iter()
        .map(|line| format!("{} {route}: {line}", exchange.method))
        .collect()
}
