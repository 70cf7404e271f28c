//! Who may call the server, and what they see: no route shows what belongs to others.

use std::time::Duration;

use crate::states::{Notes, NotesUpdate};
use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node;
use langgraph::node::Context;
use langgraph_server::{BearerTokens, Limits, RunContext, Server, User};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

const SECRET: &str = "only for ada";

/// Notes who has asked.
#[node]
async fn note(_: &Notes, cx: &Context) -> Result<NotesUpdate, NodeError> {
    let context = cx.resource::<RunContext>()?;
    let user = context.user.as_ref().map_or("no user", User::identity);
    Ok(NotesUpdate::default().notes(vec![format!("for {user}")]))
}

#[node]
async fn sleep(_: &Notes) -> NotesUpdate {
    tokio::time::sleep(Duration::from_secs(60)).await;
    NotesUpdate::default()
}

#[node]
#[allow(clippy::panic)] // what the test is about
async fn panics(_: &Notes) -> NotesUpdate {
    panic!("the password is 1234");
}

fn server() -> Server {
    let mut notes = StateGraph::<Notes>::new();
    notes.add_node("note", note).add_sequence(&["note"]);
    let mut sleeps = StateGraph::<Notes>::new();
    sleeps.add_node("sleep", sleep).add_sequence(&["sleep"]);
    Server::new()
        .graph("notes", notes.compile().unwrap())
        .graph("sleeps", sleeps.compile().unwrap())
}

fn tokens() -> BearerTokens {
    BearerTokens::new()
        .token("token-of-ada", User::new("ada"))
        .token("token-of-ben", User::new("ben"))
        .token("token-of-cy", User::new("cy").owner("ada"))
}

/// What Ada has on the server.
struct Ada {
    api: Api,
    thread: String,
    run: String,
    checkpoint: String,
    assistant: String,
    cron: String,
}

impl Ada {
    async fn settled(server: Server) -> Self {
        let api = Api::serve(server.authenticate(tokens())).await;
        let api = api.with_token("token-of-ada");
        let made = json!({"metadata": {"secret": SECRET}});
        let thread = api.post("/threads", made.clone()).await["thread_id"].clone();
        let thread = thread.as_str().unwrap().to_owned();
        let input = json!({
            "assistant_id": "notes", "input": {"notes": [SECRET]}, "stream_resumable": true,
            "metadata": {"secret": SECRET},
        });
        api.post(&format!("/threads/{thread}/runs/wait"), input)
            .await;
        let runs = api.get(&format!("/threads/{thread}/runs")).await;
        let state = api.get(&format!("/threads/{thread}/state")).await;
        let assistant = json!({"graph_id": "notes", "name": SECRET, "context": {"s": SECRET}});
        let assistant = api.post("/assistants", assistant).await;
        let item = json!({"namespace": ["memories"], "key": "k", "value": {"text": SECRET}});
        let (status, _) = api.call(Method::PUT, "/store/items", item).await;
        assert_eq!(status, 204);
        let cron = json!({
            "assistant_id": "notes", "schedule": "0 0 1 1 *", "metadata": {"secret": SECRET},
        });
        let cron = api
            .post(&format!("/threads/{thread}/runs/crons"), cron)
            .await;
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Self {
            thread,
            run: text(&runs[0]["run_id"]),
            checkpoint: text(&state["checkpoint_id"]),
            assistant: text(&assistant["assistant_id"]),
            cron: text(&cron["cron_id"]),
            api,
        }
    }

    /// Everything of Ada's, as she sees it.
    async fn everything(&self) -> Value {
        let thread = &self.thread;
        let mut all = Vec::new();
        for path in [
            format!("/threads/{thread}"),
            format!("/threads/{thread}/history"),
            format!("/threads/{thread}/runs"),
            format!("/assistants/{}", self.assistant),
            format!("/runs/crons/{}", self.cron),
            "/store/items?key=k&namespace=memories".to_owned(),
        ] {
            all.push(self.api.get(&path).await);
        }
        Value::Array(all)
    }

    /// Sends a request to every route that names whatever Ada has. Returns the routes, with what
    /// came back.
    async fn walk(&self, api: &Api) -> Vec<(String, StatusCode, String)> {
        let checkpoint = json!({"thread_id": self.thread, "checkpoint_id": self.checkpoint});
        let body = json!({
            "assistant_id": self.assistant, "graph_id": "notes", "thread_id": self.thread,
            "if_exists": "do_nothing", "if_not_exists": "create", "ids": [self.thread],
            "thread_ids": [self.thread], "run_ids": [self.run], "checkpoint": checkpoint,
            "config": {"configurable": {"thread_id": self.thread, "user_id": "ada"}},
            "namespace": ["memories"], "namespace_prefix": ["memories"], "key": "k",
            "prefix": ["memories"], "value": {"text": "changed"}, "values": {"notes": ["changed"]},
            "channels": ["values"], "metadata": {}, "version": 1, "schedule": "0 0 1 1 *", "limit": 100,
            "model": self.assistant, "messages": [], "threadId": self.thread, "runId": self.run,
        });
        let mut answers = Vec::new();
        let mut routes = langgraph_server::routes();
        // Nothing is left after this one.
        routes.sort_by_key(|(_, path)| *path == "/threads/prune");
        for (method, path) in routes {
            // With her own assistant another user would be refused for that.
            let path_of = path.replace("/ag-ui/{assistant}", "/ag-ui/notes");
            let filled = path_of
                .replace("{model}", "notes")
                .replace("{thread}", &self.thread)
                .replace("{run}", &self.run)
                .replace("{checkpoint}", &self.checkpoint)
                .replace("{assistant}", &self.assistant)
                .replace("{cron}", &self.cron)
                .replace("{namespace}", "x")
                .replace("{file}", "x");
            assert!(!filled.contains('{'), "{filled}");
            let query = format!("{filled}?key=k&namespace=memories&action=rollback&wait=true");
            let body = match path {
                // The thread of the body belongs to another.
                "/runs/batch" => json!([body]),
                "/threads/search" | "/threads/count" => json!({"ids": [self.thread]}),
                // With her own assistant she would be refused for that.
                path if path.starts_with("/threads/{thread}/runs") => {
                    let mut body = body.clone();
                    body["assistant_id"] = json!("notes");
                    body
                }
                _ => body.clone(),
            };
            let method: Method = method.parse().unwrap();
            let request = api.request(method.clone(), &query).json(&body);
            // No header says who it is.
            let request = request
                .header("x-user-id", "ada")
                .header("x-auth-user", "ada");
            let answer = request.send().await.unwrap();
            let status = answer.status();
            let reading = tokio::time::timeout(Duration::from_secs(1), answer.text()).await;
            let text = reading.map(Result::unwrap_or_default).unwrap_or_default();
            answers.push((format!("{method} {path}"), status, text));
        }
        answers
    }
}

#[tokio::test]
async fn l4_no_route_reads_or_changes_what_belongs_to_others() {
    let ada = Ada::settled(server()).await;
    let before = ada.everything().await;
    assert!(before.to_string().matches(SECRET).count() > 8, "{before}");

    let ben = ada.api.with_token("token-of-ben");
    for (route, status, text) in ada.walk(&ben).await {
        assert!(!text.contains(SECRET), "{route}: {status} {text}");
        assert_ne!(status, 500, "{route}: {text}");
        // Everything of Ada's thread does not exist.
        if route.contains("{thread}") {
            assert_eq!(status, 404, "{route}: {text}");
        }
    }
    assert_eq!(ada.everything().await, before);

    // The same walk finds it when it is her own, or her team's.
    let cy = ada.api.with_token("token-of-cy");
    let found = ada.walk(&cy).await;
    let found = found.iter().filter(|(_, _, text)| text.contains(SECRET));
    assert!(found.count() > 8);
}

#[tokio::test]
async fn l4_every_route_asks_who_sends_the_request() {
    let ada = Ada::settled(server()).await;
    let before = ada.everything().await;
    for api in [ada.api.without_token(), ada.api.with_token("token-of-ad")] {
        for (route, status, text) in ada.walk(&api).await {
            let open =
                ["GET /ok", "GET /ready", "GET /docs", "GET /openapi.json"].contains(&&*route);
            let expected = if open { 200 } else { 401 };
            assert_eq!(status, expected, "{route}: {text}");
        }
        let (status, _) = api.call(Method::GET, "/nothing", json!({})).await;
        assert_eq!(status, 401);
    }
    assert_eq!(ada.everything().await, before);
    let request = ada.api.without_token().request(Method::GET, "/info");
    let info = request.header("x-api-key", "token-of-ada").send().await;
    assert_eq!(info.unwrap().status(), 200);
}

#[tokio::test]
async fn l4_nodes_know_who_asked_for_their_run() {
    let ada = Ada::settled(server()).await;
    let state = ada.api.get(&format!("/threads/{}/state", ada.thread)).await;
    assert_eq!(state["values"]["notes"], json!([SECRET, "for ada"]));
    let open = Api::serve(server()).await;
    let body = json!({"assistant_id": "notes", "input": {}});
    let done = open.post("/runs/wait", body).await;
    assert_eq!(done["notes"], json!(["for no user"]));
}

#[tokio::test]
async fn l4_what_is_beyond_a_limit_is_refused() {
    let limits = Limits::default()
        .body(10_000)
        .threads(2)
        .streams(1)
        .run_time(Duration::from_millis(300));
    let api = Api::serve(server().limits(limits)).await;
    let thread = api.thread().await;
    api.thread().await;
    let (status, answer) = api.call(Method::POST, "/threads", json!({})).await;
    assert_eq!(status, 429, "{answer}");
    // What exists is no more.
    let same = json!({"thread_id": thread, "if_exists": "do_nothing"});
    assert_eq!(api.call(Method::POST, "/threads", same).await.0, 200);

    let large = json!({"metadata": {"text": "x".repeat(20_000)}});
    let path = format!("/threads/{thread}");
    let (status, answer) = api.call(Method::PATCH, &path, large).await;
    assert_eq!(status, 413, "{answer}");

    let body = json!({"assistant_id": "sleeps", "input": {}});
    let stream = format!("/threads/{thread}/runs/stream");
    let first = api.send(Method::POST, &stream, body.clone()).await;
    assert_eq!(first.status(), 200);
    let second = api.send(Method::POST, &stream, body.clone()).await;
    assert_eq!(second.status(), 429);
    // The run ends as well.
    assert!(first.text().await.unwrap().contains("TimeoutError"));
    let runs = api.get(&format!("/threads/{thread}/runs")).await;
    assert_eq!(runs[0]["status"], "timeout", "{runs}");
    let third = api.send(Method::POST, &stream, body).await;
    assert_eq!(third.status(), 200);
}

#[tokio::test]
async fn l4_a_panic_shows_clients_nothing() {
    let mut breaks = StateGraph::<Notes>::new();
    breaks.add_node("panics", panics).add_sequence(&["panics"]);
    let server = Server::new().graph("breaks", breaks.compile().unwrap());
    let api = Api::serve(server).await;
    let body = json!({"assistant_id": "breaks", "input": {}});
    let thread = api.thread().await;
    let path = format!("/threads/{thread}/runs/wait");
    let failed = api.post(&path, body.clone()).await;
    assert_eq!(failed["__error__"]["message"], "node `panics` failed");
    let modes = json!(["tasks", "debug", "checkpoints"]);
    let stream = json!({"assistant_id": "breaks", "input": {}, "stream_mode": modes});
    let events = api.stream(&thread, stream).await;
    assert!(events.iter().any(|(name, _)| name == "error"), "{events:?}");
    let row = api.get(&format!("/threads/{thread}")).await;
    let state = api.get(&format!("/threads/{thread}/state")).await;
    let history = api.get(&format!("/threads/{thread}/history")).await;
    assert_eq!(state["tasks"][0]["error"], "the node failed", "{state}");
    for shown in [
        format!("{events:?}"),
        format!("{row} {state} {history} {failed}"),
    ] {
        assert!(!shown.contains("password"), "{shown}");
    }

    // A program may say that its clients read the reason.
    let mut breaks = StateGraph::<Notes>::new();
    breaks.add_node("panics", panics).add_sequence(&["panics"]);
    let server = Server::new().graph("breaks", breaks.compile().unwrap());
    let api = Api::serve(server.show_node_errors()).await;
    let failed = api.post("/runs/wait", body).await.to_string();
    assert!(
        failed.contains("the password is 1234") && !failed.contains(".rs:"),
        "{failed}"
    );
}

#[tokio::test]
async fn odd_bodies_are_refused_and_the_graph_of_a_thread_stays() {
    let ada = Ada::settled(server()).await;
    let assistant = format!("/assistants/{}", ada.assistant);
    for body in [
        json!({"config": "x", "context": {"a": 1}}),
        json!({"config": [], "context": {}}),
        json!({"config": 5}),
        json!({"context": "x"}),
        json!({"metadata": "x"}),
    ] {
        let (status, answer) = ada.api.call(Method::PATCH, &assistant, body.clone()).await;
        assert_eq!(status, 422, "{body}: {answer}");
    }
    let thread = format!("/threads/{}", ada.thread);
    for graph in ["sleeps", "nope"] {
        let body = json!({"metadata": {"graph_id": graph}});
        let (status, answer) = ada.api.call(Method::PATCH, &thread, body.clone()).await;
        assert_eq!(status, 422, "{answer}");
    }
    assert!(ada.api.get(&format!("{thread}/state")).await["values"].is_object());
    let body = json!({"metadata": {"graph_id": "nope"}});
    assert_eq!(ada.api.call(Method::POST, "/threads", body).await.0, 422);

    let path = format!("{thread}/runs/{}/stream", ada.run);
    for (id, expected) in [
        ("x-9223372036854775807", 200),
        ("7-99999999999999999999", 422),
        ("-2", 422),
    ] {
        let request = ada
            .api
            .request(Method::GET, &path)
            .header("last-event-id", id);
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), expected, "{id}");
        assert!(!answer.text().await.unwrap().contains("data:"), "{id}");
    }
    let body = json!({"assistant_id": "notes", "input": {}, "on_disconnect": "leave"});
    let (status, answer) = ada.api.call(Method::POST, "/runs/wait", body).await;
    assert_eq!(status, 422);
    assert!(
        answer["detail"]
            .as_str()
            .unwrap()
            .starts_with("on_disconnect: "),
        "{answer}"
    );
}

#[tokio::test]
async fn an_address_that_is_taken_is_named() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let error = server().serve(&address).await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.starts_with(&format!("cannot serve {address}: ")),
        "{text}"
    );
}

#[tokio::test]
async fn a_server_without_authentication_is_for_this_machine_and_its_pages() {
    let listener = tokio::net::TcpListener::bind("0.0.0.0:0").await.unwrap();
    let error = server().serve_on(listener).await.unwrap_err();
    assert!(error.to_string().contains("allow_anonymous"), "{error}");

    let api = Api::serve(server()).await;
    let with = async |name: &str, value: &str| {
        let request = api.request(Method::POST, "/threads").json(&json!({}));
        let answer = request.header(name, value).send().await.unwrap();
        let allowed = answer.headers().get("access-control-allow-origin").cloned();
        (
            answer.status().as_u16(),
            allowed.map(|value| value.to_str().unwrap().to_owned()),
        )
    };
    assert_eq!(with("origin", "http://evil.example").await, (403, None));
    assert_eq!(with("host", "rebind.example").await, (403, None));
    let page = "http://localhost:3000";
    assert_eq!(with("origin", page).await, (200, Some(page.to_owned())));

    let docs = api.request(Method::GET, "/docs").send().await.unwrap();
    let policy = docs.headers()["content-security-policy"]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    let (_, nonce) = policy.split_once("'nonce-").unwrap();
    let nonce = nonce.split('\'').next().unwrap();
    assert!(
        docs.text()
            .await
            .unwrap()
            .contains(&format!("nonce=\"{nonce}\""))
    );
}

#[tokio::test]
async fn l4_odd_text_is_no_error_of_the_server() {
    let ada = Ada::settled(server()).await;
    let odd = "a\u{0}b' -- % _ \u{1F600}\u{202E}";
    for path in [
        "/threads/search",
        "/assistants/search",
        "/store/items/search",
    ] {
        let body = json!({
            "status": odd, "name": odd, "graph_id": odd, "metadata": {odd: odd},
            "namespace_prefix": [odd], "ids": [odd], "sort_by": odd,
        });
        let (status, answer) = ada.api.call(Method::POST, path, body).await;
        assert!(
            status.is_success() || status == 422,
            "{path}: {status} {answer}"
        );
    }
    let path = "/assistants/a%00b";
    assert_eq!(ada.api.call(Method::GET, path, json!({})).await.0, 422);
    let item = json!({"namespace": [odd], "key": odd, "value": {odd: odd}});
    let (status, answer) = ada.api.call(Method::PUT, "/store/items", item).await;
    assert!(status.is_success() || status == 422, "{status} {answer}");
    let body = json!({"assistant_id": odd, "input": {}});
    let (status, _) = ada.api.call(Method::POST, "/runs/wait", body).await;
    assert_eq!(status, 422);
    let body = json!({"assistant_id": "notes", "input": {"notes": [odd]}, "metadata": {odd: odd}});
    let done = ada.api.post("/runs/wait", body).await;
    assert_eq!(done["notes"][0], odd);
}
