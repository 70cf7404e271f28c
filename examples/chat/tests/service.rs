//! The service as its clients see it: a process, a socket, a file.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};

/// A service that runs.
struct Service {
    process: Child,
    output: BufReader<std::process::ChildStdout>,
    address: String,
    client: Client,
}

impl Service {
    fn start(database: &Path, grace: Duration) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_chat"))
            .arg(database)
            .arg("127.0.0.1:0")
            .arg(grace.as_millis().to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("listening on ") {
            line.clear();
            assert!(output.read_line(&mut line).unwrap() > 0, "it has ended");
        }
        let address = line["listening on ".len()..].trim().to_owned();
        Self {
            process,
            output,
            address,
            client: Client::new(),
        }
    }

    async fn post(&self, path: &str, body: Value) -> Response {
        let request = self.client.post(format!("{}{path}", self.address));
        request.json(&body).send().await.unwrap()
    }

    async fn get(&self, path: &str) -> Response {
        let request = self.client.get(format!("{}{path}", self.address));
        request.send().await.unwrap()
    }

    async fn resume(&self, path: &str, last: &str) -> Response {
        let request = self.client.get(format!("{}{path}", self.address));
        request.header("Last-Event-ID", last).send().await.unwrap()
    }

    async fn say(&self, thread: &str, text: &str) -> Response {
        self.post(
            &format!("/threads/{thread}/messages"),
            json!({"text": text}),
        )
        .await
    }

    /// The thread, once `ready` is true of it.
    async fn thread_when(&self, thread: &str, ready: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..1200 {
            let response = self.get(&format!("/threads/{thread}")).await;
            if response.status() == StatusCode::OK {
                let found: Value = response.json().await.unwrap();
                if ready(&found) {
                    return found;
                }
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("thread `{thread}` does not get there");
    }

    /// Sends SIGTERM and returns what the process prints until it ends.
    fn terminate(mut self) -> String {
        let id = self.process.id().to_string();
        let killed = Command::new("kill").args(["-TERM", &id]).status().unwrap();
        assert!(killed.success());
        let mut printed = String::new();
        while self.output.read_line(&mut printed).unwrap() > 0 {}
        assert!(self.process.wait().unwrap().success());
        printed
    }
}

impl Drop for Service {
    /// SIGKILL: a crash.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A server-sent event.
#[derive(Debug)]
struct Event {
    id: String,
    name: String,
    data: Value,
}

/// A response that streams events.
struct Events {
    response: Response,
    text: String,
}

impl Events {
    fn of(response: Response) -> Self {
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            response,
            text: String::new(),
        }
    }

    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let mut lines = event.lines();
                    lines.find_map(|line| line.strip_prefix(name).map(str::to_owned))
                };
                let event = field("id: ").map(|id| Event {
                    id,
                    name: field("event: ").unwrap(),
                    data: serde_json::from_str(&field("data: ").unwrap()).unwrap(),
                });
                self.text = String::from(rest);
                match event {
                    Some(event) => return Some(event),
                    None => continue, // a comment
                }
            }
            let chunk = self.response.chunk().await.unwrap()?;
            self.text += std::str::from_utf8(&chunk).unwrap();
        }
    }

    async fn rest(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}

/// The text that the model has streamed.
fn streamed(events: &[Event]) -> String {
    let chunks = events.iter().filter(|event| event.name == "message_chunk");
    let texts = chunks.filter_map(|event| event.data["data"]["chunk"]["text"].as_str());
    texts.collect()
}

fn texts(thread: &Value) -> Vec<String> {
    let messages = thread["messages"].as_array().unwrap();
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    messages.iter().map(text).collect()
}

async fn problem(response: Response) -> (u16, String) {
    let status = response.status().as_u16();
    let body: Value = response.json().await.unwrap();
    assert!(body["message"].is_string(), "{body}");
    (status, body["code"].as_str().unwrap().to_owned())
}

const LONG: Duration = Duration::from_secs(60);

fn words(count: usize) -> String {
    vec!["word"; count].join(" ")
}

#[tokio::test]
async fn a_chat_streams_is_remembered_and_forks() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(&folder.path().join("chat.db"), LONG);
    assert_eq!(
        problem(service.get("/threads/t").await).await,
        (404, "not_found".to_owned())
    );
    let events = Events::of(service.say("t", "hello there").await)
        .rest()
        .await;
    assert_eq!(streamed(&events), "You said: hello there");
    let end = events.last().unwrap();
    assert_eq!(end.name, "end");
    assert_eq!(end.data, json!({"status": "done"}));
    // Ids count the frames of the run.
    for (number, event) in events.iter().enumerate() {
        let (_, id) = event.id.rsplit_once(':').unwrap();
        assert_eq!(id, number.to_string());
    }
    let first: Value = service.get("/threads/t").await.json().await.unwrap();
    Events::of(service.say("t", "and again").await).rest().await;
    let second: Value = service.get("/threads/t").await.json().await.unwrap();
    assert_eq!(texts(&second).len(), 4);
    let fork = json!({"checkpoint": first["checkpoint"]});
    let forked = service.post("/threads/t/fork", fork).await;
    assert_eq!(forked.status(), StatusCode::OK);
    Events::of(service.say("t", "otherwise").await).rest().await;
    let third: Value = service.get("/threads/t").await.json().await.unwrap();
    assert_eq!(
        texts(&third),
        [
            "hello there",
            "You said: hello there",
            "otherwise",
            "You said: otherwise"
        ]
    );
    let history: Value = service
        .get("/threads/t/history")
        .await
        .json()
        .await
        .unwrap();
    assert!(history.as_array().unwrap().len() > 6);
}

#[tokio::test]
async fn a_person_decides_about_a_call() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(&folder.path().join("chat.db"), LONG);
    let events = Events::of(service.say("t", "delete notes.txt").await)
        .rest()
        .await;
    let end = &events.last().unwrap().data;
    assert_eq!(end["status"], "interrupted");
    let question = end["interrupts"][0]["id"].clone();
    let thread: Value = service.get("/threads/t").await.json().await.unwrap();
    assert_eq!(thread["questions"][0]["id"], question);

    let answer =
        |question: &Value, decision: Value| json!({"question": question, "decision": decision});
    let post = |body: Value| service.post("/threads/t/answers", body);
    let nowhere = post(answer(&json!("other"), json!({"type": "approve"}))).await;
    assert_eq!(problem(nowhere).await, (404, "not_found".to_owned()));
    let nonsense = post(answer(&question, json!({"type": "perhaps"}))).await;
    assert_eq!(problem(nonsense).await, (422, "refused_answer".to_owned()));
    let approved = post(answer(&question, json!({"type": "approve"}))).await;
    let events = Events::of(approved).rest().await;
    assert_eq!(streamed(&events), "You said: notes.txt is gone");
    let again = post(answer(&question, json!({"type": "approve"}))).await;
    assert_eq!(problem(again).await, (404, "not_found".to_owned()));
}

#[tokio::test]
async fn a_second_run_is_a_409_and_the_first_one_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(&folder.path().join("chat.db"), LONG);
    let mut first = Events::of(service.say("t", &words(40)).await);
    first.next().await.unwrap();
    let second = service.say("t", "me too").await;
    assert_eq!(problem(second).await, (409, "conflict".to_owned()));
    // Another thread is free.
    let other = Events::of(service.say("u", "hello").await).rest().await;
    assert_eq!(other.last().unwrap().name, "end");
    assert_eq!(first.rest().await.last().unwrap().data["status"], "done");
}

#[tokio::test]
async fn a_client_that_has_lost_its_connection_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(&folder.path().join("chat.db"), LONG);
    let mut first = Events::of(service.say("t", &words(30)).await);
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.push(first.next().await.unwrap());
    }
    drop(first);
    let last = seen.last().unwrap().id.clone();
    // A second window joins from the beginning.
    let joined = Events::of(service.get("/threads/t/events").await);
    let resumed = Events::of(service.resume("/threads/t/events", &last).await);
    let (joined, resumed) = tokio::join!(joined.rest(), resumed.rest());
    seen.extend(resumed);
    assert_eq!(streamed(&seen), format!("You said: {}", words(30)));
    let ids = |events: &[Event]| events.iter().map(|e| e.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&seen), ids(&joined));
    let end = service
        .resume("/threads/t/events", &seen.last().unwrap().id)
        .await;
    assert_eq!(end.status(), StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn a_run_stops_on_request_or_when_its_client_goes_away() {
    let folder = tempfile::tempdir().unwrap();
    let service = Service::start(&folder.path().join("chat.db"), Duration::from_millis(100));
    let mut events = Events::of(service.say("t", &words(2000)).await);
    events.next().await.unwrap();
    let run = format!("{}/threads/t/run", service.address);
    let cancelled = service.client.delete(&run).send().await.unwrap();
    assert_eq!(cancelled.status(), StatusCode::NO_CONTENT);
    let end = events.rest().await.pop().unwrap();
    assert_eq!(
        (end.name.as_str(), &end.data["code"]),
        ("error", &json!("cancelled"))
    );
    let nothing = service.client.delete(&run).send().await.unwrap();
    assert_eq!(nothing.status(), StatusCode::NOT_FOUND);

    let mut gone = Events::of(service.say("u", &words(2000)).await);
    gone.next().await.unwrap();
    drop(gone);
    // The thread is free long before 2,000 words are said.
    let mut free = false;
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        free = service.say("u", "hello").await.status() == StatusCode::OK;
        if free {
            break;
        }
    }
    assert!(free);
}

#[tokio::test]
async fn what_a_crash_cuts_off_is_recovered_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("chat.db");
    let service = Service::start(&database, LONG);
    let mut events = Events::of(service.say("t", &words(100)).await);
    events.next().await.unwrap();
    drop(service); // kill -9
    let began = Instant::now();
    let service = Service::start(&database, LONG);
    let thread = service
        .thread_when("t", |thread| texts(thread).len() == 2)
        .await;
    // The dead process has a lease for 30 seconds. On this system it is seen that it is gone.
    if cfg!(target_os = "linux") {
        assert!(began.elapsed() < Duration::from_secs(20));
    }
    assert_eq!(texts(&thread)[1], format!("You said: {}", words(100)));
}

#[tokio::test]
async fn a_stop_waits_for_the_runs() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("chat.db");
    let service = Service::start(&database, LONG);
    let mut events = Events::of(service.say("t", &words(50)).await);
    events.next().await.unwrap();
    let stopped = tokio::task::spawn_blocking(|| service.terminate());
    let rest = events.rest().await;
    assert_eq!(rest.last().unwrap().data, json!({"status": "done"}));
    let printed = stopped.await.unwrap();
    assert!(
        printed.contains("stopping, 1 runs are under way"),
        "{printed}"
    );
    assert!(printed.ends_with("stopped\n"), "{printed}");
}
