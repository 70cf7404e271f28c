//! The routes over a socket: what the recorded exchanges of the reference show, and what other
//! servers got wrong.

use std::time::Duration;

use crate::states::{Notes, NotesUpdate};
use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::message::{FinishReason, Message, MessageChunk, Usage};
use langgraph::node::Context;
use langgraph::{State, node};
use langgraph_agent::{MessagesState, MessagesStateUpdate};
use langgraph_server::{GraphHandle, RunContext, Server};
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[derive(State, Clone, Debug, Default)]
struct Inner {
    said: String,
}

/// Says a message in three chunks, and writes it.
#[node]
async fn say(_: &MessagesState, cx: &Context) -> MessagesStateUpdate {
    for text in ["one ", "two ", "three"] {
        cx.emit_chunk(MessageChunk::text(text).with_id("m1")).await;
    }
    let end = MessageChunk::finish(FinishReason::Stop).with_usage(Usage::new(7, 3));
    cx.emit_chunk(end.with_id("m1")).await;
    let message = Message::assistant("one two three").with_id("m1");
    MessagesStateUpdate::default().messages(vec![message])
}

#[node]
async fn emit(_: &Inner, cx: &Context) -> Result<InnerUpdate, NodeError> {
    cx.emit(json!("inside")).await?;
    let context = cx.resource::<RunContext>()?;
    let said = context.configurable["word"].as_str().unwrap_or("nothing");
    Ok(InnerUpdate::default().said(said.to_owned()))
}

#[derive(State, Clone, Debug, Default)]
struct Draft {
    #[reducer(append)]
    steps: Vec<String>,
}

/// A graph whose subgraph asks in its second node.
fn nested() -> GraphHandle<Notes> {
    let write = async |_: &Draft, cx: &Context| -> Result<DraftUpdate, NodeError> {
        cx.emit(json!("writes")).await?;
        Ok(DraftUpdate::default().steps(vec!["write".to_owned()]))
    };
    let check = |_: &Draft, cx: &Context| -> Result<DraftUpdate, NodeError> {
        let answer: String = cx.interrupt("check", &json!("right?"))?;
        Ok(DraftUpdate::default().steps(vec![format!("check: {answer}")]))
    };
    let mut inner = StateGraph::<Draft>::new();
    inner.add_node("write", write).add_node("check", check);
    inner.add_sequence(&["write", "check"]);
    let inner = inner.compile().unwrap().mapped(
        |_: &Notes| Draft::default(),
        |draft: Draft| NotesUpdate::default().notes(draft.steps),
    );
    let mut outer = StateGraph::<Notes>::new();
    let begin = |_: &Notes| NotesUpdate::default().notes(vec!["begin".to_owned()]);
    outer.add_node("begin", begin).add_node("inner", inner);
    outer.add_sequence(&["begin", "inner"]);
    GraphHandle::new(outer.compile().unwrap()).subgraph_state::<Draft>()
}

fn ask(name: &'static str) -> impl Fn(&Notes, &Context) -> Result<NotesUpdate, NodeError> + Clone {
    move |_, cx| {
        let answer: String = cx.interrupt("ask", &json!({"from": name}))?;
        Ok(NotesUpdate::default().notes(vec![format!("{name}: {answer}")]))
    }
}

fn server() -> Server {
    let mut chat = StateGraph::<MessagesState>::new();
    chat.add_node("say", say).add_sequence(&["say"]);

    let mut inner = StateGraph::<Inner>::new();
    inner.add_node("emit", emit).add_sequence(&["emit"]);
    let inner = inner.compile().unwrap();
    let mut outer = StateGraph::<Notes>::new();
    let mapped = inner.mapped(
        |_: &Notes| Inner::default(),
        |inner: Inner| NotesUpdate::default().notes(vec![inner.said]),
    );
    outer.add_node("inner", mapped).add_sequence(&["inner"]);
    let outer = GraphHandle::new(outer.compile().unwrap()).subgraph_state::<Inner>();

    let mut asks = StateGraph::<Notes>::new();
    asks.add_node("left", ask("left"))
        .add_node("right", ask("right"));
    asks.add_edge(langgraph::START, "left")
        .add_edge(langgraph::START, "right");
    asks.add_edge("left", langgraph::END)
        .add_edge("right", langgraph::END);

    let mut number = StateGraph::<i64>::new();
    let double = |n: &i64| n * 2;
    number.add_node("double", double).add_sequence(&["double"]);

    Server::new()
        .graph("chat", chat.compile().unwrap())
        .graph("outer", outer)
        .graph("asks", asks.compile().unwrap())
        .graph("number", number.compile().unwrap())
        .graph("nested", nested())
}

#[tokio::test]
async fn l1_a_run_starts_from_a_checkpoint_inside_a_subgraph() {
    let api = Api::serve(server()).await;
    let thread = api.thread().await;
    let wait = format!("/threads/{thread}/runs/wait");
    let body = json!({"assistant_id": "nested", "input": {}});
    let asked = api.post(&wait, body).await;
    assert_eq!(asked["__interrupt__"][0]["value"], "right?");

    let state = format!("/threads/{thread}/state?subgraphs=true");
    let root = api.get(&state).await;
    let inner = &root["tasks"][0]["state"];
    assert_eq!(inner["next"], json!(["check"]));
    let task = root["tasks"][0]["id"].as_str().unwrap();
    let namespace = format!("inner:{task}");
    let before = inner["parent_checkpoint"].clone();
    assert_eq!(before["checkpoint_ns"], json!(namespace));
    assert_eq!(before["checkpoint_map"][""], root["checkpoint_id"]);
    assert_eq!(
        before["checkpoint_map"][&namespace],
        inner["parent_checkpoint_id"]
    );

    // Where the thread stands, and later, when it has gone on.
    for answer in ["once", "again"] {
        let body = json!({
            "assistant_id": "nested", "checkpoint": before, "stream_subgraphs": true,
            "stream_mode": ["custom", "values"],
        });
        let events = api.stream(&thread, body).await;
        let wrote = events.iter().filter(|(_, data)| *data == "writes");
        assert_eq!(wrote.count(), 1, "{events:?}");
        let body = json!({"assistant_id": "nested", "command": {"resume": answer}});
        let done = api.post(&wait, body).await;
        let notes = json!(["begin", "write", format!("check: {answer}")]);
        assert_eq!(done["notes"], notes);
    }

    let refused = |checkpoint: Value, input: Value| {
        let body = json!({"assistant_id": "nested", "checkpoint": checkpoint, "input": input});
        api.call(Method::POST, &wait, body)
    };
    let (status, answer) = refused(before.clone(), json!({})).await;
    assert_eq!(status, 422, "{answer}");
    let mut wrong = before.clone();
    wrong["checkpoint_ns"] = json!("inner");
    let (status, answer) = refused(wrong, Value::Null).await;
    assert_eq!(status, 422, "{answer}");
    let mut other = before;
    other["checkpoint_ns"] = json!("inner:none");
    let (_, answer) = refused(other, Value::Null).await;
    let error = answer["__error__"]["message"].as_str().unwrap();
    assert!(error.contains("checkpoint_ns"), "{error}");
}

#[tokio::test]
async fn l1_messages_say_what_they_have_cost() {
    let api = Api::serve(server()).await;
    let thread = api.thread().await;
    let cost = json!({"input_tokens": 7, "output_tokens": 3, "total_tokens": 10});
    let modes = ["messages-tuple", "values", "updates"];
    let body = json!({"assistant_id": "chat", "input": {}, "stream_mode": modes});
    let events = api.stream(&thread, body).await;
    let find = |name: &str| &events.iter().rfind(|(found, _)| found == name).unwrap().1;
    assert_eq!(find("messages")[0]["usage_metadata"], cost);
    assert_eq!(find("values")["messages"][0]["usage_metadata"], cost);
    assert_eq!(
        find("updates")["say"]["messages"][0]["usage_metadata"],
        cost
    );

    // Also what a client says, and after runs that stream no message.
    let given = json!({"input_tokens": 1, "output_tokens": 2, "total_tokens": 3});
    let message = json!({
        "type": "ai", "content": "before", "id": "given", "usage_metadata": given,
    });
    let body = json!({"assistant_id": "chat", "input": {"messages": [message]}});
    let done = api
        .post(&format!("/threads/{thread}/runs/wait"), body)
        .await;
    let row = api.get(&format!("/threads/{thread}")).await;
    let state = api.get(&format!("/threads/{thread}/state")).await;
    let history = api.get(&format!("/threads/{thread}/history")).await;
    for values in [
        &done,
        &row["values"],
        &state["values"],
        &history[0]["values"],
    ] {
        let of = |id: &str| {
            let messages = values["messages"].as_array().unwrap();
            let message = messages.iter().find(|message| message["id"] == *id);
            message.unwrap()["usage_metadata"].clone()
        };
        assert_eq!((of("m1"), of("given")), (cost.clone(), given.clone()));
    }
}

#[tokio::test]
async fn l1_a_server_without_components_says_so() {
    let api = Api::serve(server()).await;
    let name = json!({"name": "weather"});
    let answer = api.send(Method::POST, "/ui/chat", name).await;
    assert_eq!(answer.status(), 404);
    assert_eq!(
        answer.text().await.unwrap(),
        "UI not found for agent \"chat\""
    );
    let unnamed = api.send(Method::POST, "/ui/chat", json!({})).await;
    assert_eq!(unnamed.status(), 422);
    let file = api.send(Method::GET, "/ui/chat/x.js", json!({})).await;
    assert_eq!(file.status(), 404);
}

#[tokio::test]
async fn l1_a_message_that_came_in_chunks_does_not_come_again() {
    let api = Api::serve(server()).await;
    let thread = api.thread().await;
    let body = json!({"assistant_id": "chat", "input": {}, "stream_mode": "messages-tuple"});
    let events = api.stream(&thread, body).await;
    let texts: Vec<&str> = events[1..]
        .iter()
        .map(|(_, data)| data[0]["content"].as_str().unwrap())
        .collect();
    assert_eq!(texts, ["one ", "two ", "three", ""]);
    let (name, last) = events.last().unwrap();
    assert_eq!(name, "messages");
    assert_eq!(last[0]["type"], "AIMessageChunk");
    assert_eq!(last[0]["id"], "m1");
    assert_eq!(last[0]["chunk_position"], "last");
    assert_eq!(last[1]["langgraph_node"], "say");

    let thread = api.thread().await;
    let body = json!({"assistant_id": "chat", "input": {}, "stream_mode": "messages"});
    let events = api.stream(&thread, body).await;
    assert_eq!(events[1].0, "messages/metadata");
    assert_eq!(events[1].1["m1"]["metadata"]["langgraph_node"], "say");
    let (name, last) = events.last().unwrap();
    assert_eq!(name, "messages/partial");
    assert_eq!(last[0]["content"], "one two three");
    assert_eq!(last[0]["type"], "ai");
}

#[tokio::test]
async fn l1_events_of_subgraphs_are_named_after_their_tasks() {
    let api = Api::serve(server()).await;
    let thread = api.thread().await;
    let body = json!({
        "assistant_id": "outer", "input": {}, "stream_subgraphs": true,
        "stream_mode": ["updates", "custom", "tasks"],
        "config": {"configurable": {"word": "hello"}},
    });
    let events = api.stream(&thread, body.clone()).await;
    let task = &events.iter().find(|(name, _)| name == "tasks").unwrap().1;
    let inner = format!("|inner:{}", task["id"].as_str().unwrap());
    let find = |name: &str| {
        events
            .iter()
            .find(|(found, _)| found == name)
            .map(|(_, data)| data)
    };
    assert_eq!(find(&format!("custom{inner}")), Some(&json!("inside")));
    let update = find(&format!("updates{inner}"));
    assert_eq!(update, Some(&json!({"emit": {"said": "hello"}})));
    assert_eq!(
        find("updates"),
        Some(&json!({"inner": {"notes": ["hello"]}}))
    );

    let mut body = body;
    body["stream_subgraphs"] = json!(false);
    let events = api.stream(&thread, body).await;
    assert!(
        events.iter().all(|(name, _)| !name.contains('|')),
        "{events:?}"
    );
    let graph = api.get("/assistants/outer/graph?xray=true").await;
    let nodes = graph["nodes"].as_array().unwrap();
    assert!(nodes.iter().any(|node| node["id"] == "inner:emit"));
    assert!(api.get("/assistants/outer/subgraphs").await["inner"].is_object());
}

#[tokio::test]
async fn l1_several_interrupts_are_all_listed_and_answered_by_id() {
    let api = Api::serve(server()).await;
    let thread = api.thread().await;
    let body = json!({"assistant_id": "asks", "input": {}, "stream_mode": ["updates", "values"]});
    let events = api.stream(&thread, body).await;
    let open = events
        .iter()
        .filter(|(name, data)| name == "updates" && data["__interrupt__"].is_array());
    assert_eq!(open.count(), 2);
    let row = api.get(&format!("/threads/{thread}")).await;
    assert_eq!(row["interrupts"].as_object().unwrap().len(), 2);

    let body = json!({"assistant_id": "asks", "command": {"resume": "plain"}});
    let events = api.stream(&thread, body.clone()).await;
    let (name, data) = events.last().unwrap();
    assert_eq!(name, "error");
    assert_eq!(
        data["message"],
        "When there are multiple pending interrupts, you must specify the interrupt id when resuming."
    );
    let failed = api
        .post(&format!("/threads/{thread}/runs/wait"), body)
        .await;
    assert_eq!(failed["__error__"]["message"], data["message"]);

    let state = api.get(&format!("/threads/{thread}/state")).await;
    let ids: Vec<&str> = state["interrupts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|interrupt| interrupt["id"].as_str().unwrap())
        .collect();
    let wait = format!("/threads/{thread}/runs/wait");
    let one = json!({"assistant_id": "asks", "command": {"resume": {ids[0]: "a"}}});
    let after = api.post(&wait, one).await;
    assert_eq!(after["__interrupt__"].as_array().unwrap().len(), 1);
    let two = json!({"assistant_id": "asks", "command": {"resume": {ids[1]: "b"}}});
    assert_eq!(
        api.post(&wait, two).await["notes"],
        json!(["left: a", "right: b"])
    );
}

#[tokio::test]
async fn l1_a_state_may_be_a_single_value() {
    let api = Api::serve(server()).await;
    let wait = "/runs/wait";
    let body = json!({"assistant_id": "number", "input": 21});
    assert_eq!(api.post(wait, body).await, json!(42));
    let body = json!({"assistant_id": "number", "input": "many"});
    let failed = api.post(wait, body).await;
    assert_eq!(failed["__error__"]["error"], "ValueError");
}

#[tokio::test]
async fn l1_what_is_wrong_or_missing_is_refused() {
    let api = Api::serve(server()).await;
    let thread = api.thread().await;
    let runs = format!("/threads/{thread}/runs");
    for (path, body, says) in [
        (
            &*runs,
            json!({"assistant_id": "chat", "webhook": "http://x"}),
            "webhooks",
        ),
        (
            &*runs,
            json!({"assistant_id": "chat", "after_seconds": 1e30}),
            "after_seconds",
        ),
        (
            &*runs,
            json!({"assistant_id": "chat", "stream_mode": ["events"]}),
            "stream_mode",
        ),
        (
            &*runs,
            json!({"assistant_id": "chat", "multitask_strategy": "x"}),
            "multitask_strategy",
        ),
        (
            &*runs,
            json!({"assistant_id": "chat", "checkpoint_id": "x"}),
            "UUID",
        ),
        ("/threads/x/runs", json!({"assistant_id": "chat"}), "UUID"),
        (
            "/threads",
            json!({"ttl": {"ttl": -1}}),
            "ttl is a number of minutes",
        ),
    ] {
        let (status, answer) = api.call(Method::POST, path, body).await;
        assert_eq!(status, 422, "{answer}");
        assert!(
            answer["detail"].as_str().unwrap().contains(says),
            "{answer}"
        );
    }
    let broken = api
        .client
        .post(format!("{}/threads", api.url))
        .body("{")
        .send();
    assert_eq!(broken.await.unwrap().status(), 422);
    let (status, _) = api.call(Method::GET, "/threads/x/y/z", json!({})).await;
    assert_eq!(status, 404);
    assert!(
        server()
            .graph("chat", GraphHandle::new(one_step()))
            .router()
            .await
            .is_err()
    );
}

fn one_step() -> langgraph::CompiledStateGraph<i64> {
    let mut graph = StateGraph::new();
    graph.add_node("same", |n: &i64| *n).add_sequence(&["same"]);
    graph.compile().unwrap()
}

#[tokio::test]
async fn l1_odd_text_is_kept_and_found() {
    let api = Api::serve(server()).await;
    let odd = json!({"user": "a\u{0}b %_ '\" \u{1F600}"});
    let made = api.post("/threads", json!({"metadata": odd})).await;
    let found = api.post("/threads/search", json!({"metadata": odd})).await;
    assert_eq!(found[0]["thread_id"], made["thread_id"]);
    let none = api
        .post("/threads/search", json!({"metadata": {"user": "%"}}))
        .await;
    assert_eq!(none, json!([]));
    let nested = json!({"metadata": {"a": {"b": 1, "c": 2}}});
    api.post("/threads", nested).await;
    let part = json!({"metadata": {"a": {"b": 1}}});
    assert_eq!(api.post("/threads/count", part).await, json!(1));
}

#[tokio::test]
async fn l1_a_thread_that_is_deleted_leaves_nothing() {
    let api = Api::serve(server()).await;
    let thread = api.thread().await;
    let wait = format!("/threads/{thread}/runs/wait");
    api.post(&wait, json!({"assistant_id": "chat", "input": {}}))
        .await;
    let (status, _) = api
        .call(Method::DELETE, &format!("/threads/{thread}"), json!({}))
        .await;
    assert_eq!(status, 204);
    api.post("/threads", json!({"thread_id": thread, "graph_id": "chat"}))
        .await;
    let state = api.get(&format!("/threads/{thread}/state")).await;
    assert_eq!(state["values"], json!({}));
    assert_eq!(api.get(&format!("/threads/{thread}/runs")).await, json!([]));
}

#[tokio::test]
async fn l1_threads_and_events_are_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let api = Api::serve(server().file(&file)).await;
    let thread = api.thread().await;
    let body = json!({
        "assistant_id": "chat", "input": {}, "stream_mode": "updates", "stream_resumable": true,
    });
    api.stream(&thread, body).await;
    let runs = api.get(&format!("/threads/{thread}/runs")).await;
    let run = runs[0]["run_id"].as_str().unwrap();
    let path = format!("/threads/{thread}/runs/{run}/stream");
    let replay = async |api: &Api, last: &str| {
        let request = api.client.get(format!("{}{path}", api.url));
        let response = request.header("last-event-id", last).send().await.unwrap();
        response.text().await.unwrap()
    };
    let all = replay(&api, "-1").await;
    assert!(
        all.contains("event: metadata") && all.contains("event: updates"),
        "{all}"
    );
    let first = all
        .lines()
        .find_map(|line| line.strip_prefix("id: "))
        .unwrap();
    let rest = replay(&api, first).await;
    assert!(
        !rest.contains("event: metadata") && all.ends_with(&rest),
        "{rest}"
    );

    let other = Api::serve(server().file(&file)).await;
    assert_eq!(replay(&other, "-1").await, all);
    let values = other.get(&format!("/threads/{thread}/state")).await;
    assert_eq!(values["values"]["messages"][0]["content"], "one two three");
}

#[tokio::test]
async fn l1_the_routes_can_be_a_part_of_another_server() {
    let router = server().router().await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let app = axum::Router::new().nest("/graphs", router);
    tokio::spawn(async move { axum::serve(listener, app).await });
    let client = Client::new();
    let request = client
        .get(format!("{url}/graphs/ok"))
        .timeout(Duration::from_secs(5));
    assert_eq!(request.send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn l1_the_description_names_the_routes_that_are_there() {
    let api = Api::serve(server()).await;
    let description = api.get("/openapi.json").await;
    let mut described = Vec::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            described.push((method.to_uppercase(), path.clone()));
        }
    }
    let there = langgraph_server::routes().into_iter();
    let mut there: Vec<(String, String)> = there
        .map(|(method, path)| (method, path.to_owned()))
        .collect();
    described.sort();
    there.sort();
    assert_eq!(described, there);
    let page = api.send(Method::GET, "/docs", json!({})).await;
    assert!(page.text().await.unwrap().contains("openapi.json"));
}

/// Sends webhooks to the test.
struct ToTest(tokio::sync::mpsc::UnboundedSender<Value>);

#[langgraph::async_trait]
impl langgraph_server::Deliver for ToTest {
    fn allows(&self, url: &str) -> bool {
        url.starts_with("https://hooks.example/")
    }

    async fn deliver(&self, webhook: &langgraph_server::Webhook) -> Result<(), String> {
        let body: Value = serde_json::from_str(webhook.body()).unwrap();
        let sent = json!({"url": webhook.url(), "body": body});
        self.0.send(sent).map_err(|error| error.to_string())
    }
}

#[tokio::test]
async fn l1_the_end_of_a_run_is_sent_to_an_address_that_is_allowed() {
    let (sender, mut sent) = tokio::sync::mpsc::unbounded_channel();
    let api = Api::serve(server().webhooks(ToTest(sender), "key")).await;
    let mut body = json!({
        "assistant_id": "number", "input": 21, "webhook": "https://hooks.example/a",
    });
    let path = "/runs";
    let run = api.post(path, body.clone()).await;
    let hook = tokio::time::timeout(Duration::from_secs(10), sent.recv());
    let hook = hook.await.unwrap().unwrap();
    assert_eq!(hook["url"], "https://hooks.example/a");
    assert_eq!(hook["body"]["run_id"], run["run_id"]);
    assert_eq!(hook["body"]["status"], "success");
    assert_eq!(hook["body"]["values"], 42);
    body["webhook"] = json!("http://169.254.169.254/secrets");
    assert_eq!(api.call(Method::POST, path, body).await.0, 422);
}

#[tokio::test]
async fn l1_a_cron_fires_and_a_delayed_run_waits() {
    let api = Api::serve(server()).await;
    let thread = api.thread().await;
    let cron = json!({
        "assistant_id": "number", "schedule": "* * * * * *", "input": 21, "metadata": {"n": 1},
    });
    let made = api
        .post(&format!("/threads/{thread}/runs/crons"), cron.clone())
        .await;
    assert_eq!(made["thread_id"], thread, "{made}");
    let path = format!("/runs/crons/{}", made["cron_id"].as_str().unwrap());
    let found = api
        .post("/runs/crons/search", json!({"metadata": {"n": 1}}))
        .await;
    assert_eq!(found[0]["cron_id"], made["cron_id"]);
    assert_eq!(
        api.post("/runs/crons/count", json!({"enabled": false}))
            .await,
        0
    );

    let body = json!({"assistant_id": "number", "input": 1, "after_seconds": 0.5});
    let begun = std::time::Instant::now();
    assert_eq!(api.post("/runs/wait", body).await, json!(2));
    assert!(begun.elapsed() >= Duration::from_millis(450));

    for _ in 0..100 {
        let runs = api.get(&format!("/threads/{thread}/runs")).await;
        if runs
            .as_array()
            .unwrap()
            .iter()
            .any(|run| run["status"] == "success")
        {
            let off = json!({"enabled": false});
            let (_, off) = api.call(Method::PATCH, &path, off).await;
            assert_eq!(off["next_run_date"], json!(null), "{off}");
            assert_eq!(api.call(Method::DELETE, &path, json!({})).await.0, 204);
            assert_eq!(api.call(Method::GET, &path, json!({})).await.0, 404);
            let wrong = json!({"assistant_id": "number", "schedule": "sometimes"});
            assert_eq!(api.call(Method::POST, "/runs/crons", wrong).await.0, 422);
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the cron did not fire");
}

/// Works for longer than a client waits in silence.
async fn works(_: &i64) -> i64 {
    tokio::time::sleep(Duration::from_secs(6)).await;
    7
}

#[tokio::test]
async fn a_response_that_waits_is_not_silent() {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("works", works).add_sequence(&["works"]);
    let server = Server::new().graph("works", graph.compile().unwrap());
    let api = Api::serve(server).await;
    let body = json!({"assistant_id": "works", "input": 1});
    let thread = api.thread().await;
    let path = format!("/threads/{thread}/runs/wait");
    let wait = api.send(Method::POST, &path, body.clone());
    let stateless = api.send(Method::POST, "/runs/wait", body.clone());
    let other = api.thread().await;
    let run = api.post(&format!("/threads/{other}/runs"), body).await;
    let path = format!(
        "/threads/{other}/runs/{}/join",
        run["run_id"].as_str().unwrap()
    );
    let join = api.send(Method::GET, &path, json!({}));
    let (wait, stateless, join) = tokio::join!(wait, stateless, join);
    for answer in [wait, stateless, join] {
        assert_eq!(answer.headers()["content-type"], "application/json");
        assert!(answer.headers().contains_key("location"));
        assert_eq!(answer.text().await.unwrap(), "\n7");
    }
}
