//! What the users of one owner may do, action by action.

use crate::states::{Notes, NotesUpdate};
use crate::support::Api;
use langgraph::graph::StateGraph;
use langgraph_server::{Action, Authorize, BearerTokens, Filter, Refusal, Resource, Server, User};
use reqwest::Method;
use serde_json::{Value, json};

/// Members see what they have made; readers read all of it; nobody but an admin writes to `rules`.
struct Roles;

#[langgraph::async_trait]
impl Authorize for Roles {
    async fn authorize(&self, action: Action<'_>) -> Result<Filter, Refusal> {
        let user = action.user();
        if user.has_role("admin") {
            return Ok(Filter::all());
        }
        match (action.resource(), action.name()) {
            (Resource::Store, "put") if action.value()["namespace"][0] == "rules" => {
                Err(Refusal::Forbidden)
            }
            (Resource::Store, _) | (Resource::Assistants, "read" | "search") => Ok(Filter::all()),
            (_, "read" | "search") if user.has_role("reader") => Ok(Filter::all()),
            _ if user.has_role("reader") => Err(Refusal::Forbidden),
            _ => Ok(Filter::all().is("made_by", user.identity())),
        }
    }
}

async fn team() -> [Api; 4] {
    let mut graph = StateGraph::<Notes>::new();
    let note = |_: &Notes| NotesUpdate::default().notes(vec!["noted".to_owned()]);
    graph.add_node("note", note).add_sequence(&["note"]);
    let user = |name: &str, role: &str| {
        let details = json!({"roles": [role]});
        User::new(name).owner("team").details(details)
    };
    let tokens = BearerTokens::new()
        .token("ada", user("ada", "member"))
        .token("ben", user("ben", "member"))
        .token("rea", user("rea", "reader"))
        .token("amy", user("amy", "admin"));
    let server = Server::new().graph("notes", graph.compile().unwrap());
    let api = Api::serve(server.authenticate(tokens).authorize(Roles)).await;
    ["ada", "ben", "rea", "amy"].map(|token| api.with_token(token))
}

async fn status(api: &Api, method: Method, path: &str, body: Value) -> u16 {
    api.call(method, path, body).await.0.as_u16()
}

#[tokio::test]
async fn members_of_a_team_see_what_the_filter_shows() {
    let [ada, ben, rea, amy] = team().await;
    let thread = ada.thread().await;
    let path = format!("/threads/{thread}");
    let body = json!({"assistant_id": "notes", "input": {}});
    ada.post(&format!("{path}/runs/wait"), body.clone()).await;
    let row = ada.get(&path).await;
    assert_eq!(row["metadata"]["made_by"], "ada", "{row}");

    for suffix in ["", "/state", "/history", "/runs"] {
        let path = format!("{path}{suffix}");
        for (api, expected) in [(&ada, 200), (&ben, 404), (&rea, 200), (&amy, 200)] {
            let found = status(api, Method::GET, &path, json!({})).await;
            assert_eq!(found, expected, "{path}");
        }
    }
    for (api, expected) in [(&ada, 1), (&ben, 0), (&rea, 1), (&amy, 1)] {
        let found = api.post("/threads/search", json!({})).await;
        assert_eq!(found.as_array().unwrap().len(), expected);
        assert_eq!(api.post("/threads/count", json!({})).await, expected);
    }
    let run = format!("{path}/runs/wait");
    for (api, expected) in [(&ben, 404), (&rea, 403), (&amy, 200), (&ada, 200)] {
        assert_eq!(
            status(api, Method::POST, &run, body.clone()).await,
            expected
        );
    }
    let change = json!({"metadata": {"made_by": "ben"}});
    for (api, expected) in [(&ada, 403), (&ben, 404), (&rea, 403)] {
        let found = status(api, Method::PATCH, &path, change.clone()).await;
        assert_eq!(found, expected);
    }
    for (api, expected) in [(&ben, 404), (&rea, 403), (&ada, 204)] {
        let found = status(api, Method::DELETE, &path, json!({})).await;
        assert_eq!(found, expected);
    }
    // A run without a thread, and one that creates it.
    assert_eq!(
        status(&ben, Method::POST, "/runs/wait", body.clone()).await,
        200
    );
    assert_eq!(status(&rea, Method::POST, "/runs/wait", body).await, 403);
}

#[tokio::test]
async fn a_join_that_cancels_its_run_when_it_leaves_is_a_change() {
    let [ada, ben, rea, _] = team().await;
    let thread = ada.thread().await;
    let body = json!({"assistant_id": "notes", "input": {}});
    let run = ada.post(&format!("/threads/{thread}/runs"), body).await;
    let run = run["run_id"].as_str().unwrap();
    for path in [
        format!("/threads/{thread}/runs/{run}/join?"),
        format!("/threads/{thread}/runs/{run}/stream?"),
        format!("/runs/{run}/stream?"),
        format!("/runs/{run}/stream?cancel_on_disconnect=false&"),
    ] {
        for (cancels, reads) in [("false", 200), ("0", 200), ("true", 403), ("1", 403)] {
            let path = format!("{path}cancel_on_disconnect={cancels}");
            for (api, expected) in [(&ada, 200), (&ben, 404), (&rea, reads)] {
                let found = status(api, Method::GET, &path, json!({})).await;
                assert_eq!(found, expected, "{path}");
            }
        }
    }
}

#[tokio::test]
async fn assistants_crons_and_the_store_are_asked_about() {
    let [ada, ben, rea, amy] = team().await;
    let made = ada.post("/assistants", json!({"graph_id": "notes"})).await;
    assert_eq!(made["metadata"]["made_by"], "ada");
    let path = format!("/assistants/{}", made["assistant_id"].as_str().unwrap());
    let name = json!({"name": "mine"});
    for (api, expected) in [(&ben, 404), (&rea, 403), (&ada, 200), (&amy, 200)] {
        let found = status(api, Method::PATCH, &path, name.clone()).await;
        assert_eq!(found, expected);
    }
    let cron = json!({"assistant_id": "notes", "schedule": "0 0 1 1 *", "input": {}});
    let cron = ada.post("/runs/crons", cron).await;
    let path = format!("/runs/crons/{}", cron["cron_id"].as_str().unwrap());
    for (api, expected) in [(&ben, 404), (&rea, 200), (&ada, 200)] {
        assert_eq!(status(api, Method::GET, &path, json!({})).await, expected);
    }
    for (api, expected) in [(&ben, 0), (&ada, 1)] {
        let found = api.post("/runs/crons/count", json!({})).await;
        assert_eq!(found, expected);
    }
    for (namespace, expected) in [("rules", 403), ("notes", 204)] {
        let item = json!({"namespace": [namespace], "key": "k", "value": {}});
        let found = status(&ada, Method::PUT, "/store/items", item).await;
        assert_eq!(found, expected);
    }
}

#[tokio::test]
async fn a_cron_starts_what_its_user_may_start_and_shows_it_to_its_user() {
    let [ada, ben, rea, _] = team().await;
    let thread = ada.thread().await;
    let path = format!("/threads/{thread}/runs/crons");
    let cron = json!({"assistant_id": "notes", "schedule": "0 0 1 1 *", "input": {}});
    for (api, expected) in [(&ben, 404), (&rea, 403), (&ada, 200)] {
        let found = status(api, Method::POST, &path, cron.clone()).await;
        assert_eq!(found, expected);
    }
    let cron = json!({
        "assistant_id": "notes", "schedule": "* * * * * *", "input": {}, "on_run_completed": "keep",
    });
    let cron = ben.post("/runs/crons", cron).await;
    assert!(cron.get("thread_metadata").is_none(), "{cron}");
    for _ in 0..100 {
        let found = ben.post("/threads/search", json!({})).await;
        if found[0].is_object() {
            assert_eq!(found[0]["metadata"]["made_by"], "ben", "{found}");
            assert_eq!(ada.post("/threads/count", json!({})).await, 1);
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the user of the cron does not see its threads");
}

#[tokio::test]
async fn an_assistant_is_deleted_with_the_threads_that_its_user_may_delete() {
    let [ada, ben, rea, _] = team().await;
    let made = ada.post("/assistants", json!({"graph_id": "notes"})).await;
    let assistant = made["assistant_id"].as_str().unwrap();
    let mut threads = Vec::new();
    for api in [&ada, &ben] {
        let thread = api.thread().await;
        let run = json!({"assistant_id": assistant, "input": {}});
        api.post(&format!("/threads/{thread}/runs/wait"), run).await;
        threads.push(format!("/threads/{thread}"));
    }
    let path = format!("/assistants/{assistant}?delete_threads=true");
    for (api, expected) in [(&rea, 403), (&ada, 204)] {
        let found = status(api, Method::DELETE, &path, json!({})).await;
        assert_eq!(found, expected);
    }
    for (api, thread, expected) in [(&ada, &threads[0], 404), (&ben, &threads[1], 200)] {
        let found = status(api, Method::GET, thread, json!({})).await;
        assert_eq!(found, expected, "{thread}");
    }
}

/// What each user may do is said for the threads that are created, or for those that are read.
struct OneOf {
    filters: &'static str,
}

#[langgraph::async_trait]
impl Authorize for OneOf {
    async fn authorize(&self, action: Action<'_>) -> Result<Filter, Refusal> {
        if (action.resource(), action.name()) == (Resource::Threads, self.filters) {
            return Ok(Filter::all().is("made_by", action.user().identity()));
        }
        Ok(Filter::all())
    }
}

#[tokio::test]
async fn a_copy_is_made_of_a_thread_that_its_user_may_read_and_is_what_the_user_may_create() {
    for (filters, expected) in [("read", 404), ("create", 200)] {
        let mut graph = StateGraph::<Notes>::new();
        graph.add_node("note", |_: &Notes| NotesUpdate::default());
        graph.add_sequence(&["note"]);
        let user = |name: &str| User::new(name).owner("team");
        let tokens = BearerTokens::new()
            .token("ada", user("ada"))
            .token("ben", user("ben"));
        let server = Server::new().graph("notes", graph.compile().unwrap());
        let server = server.authenticate(tokens).authorize(OneOf { filters });
        let api = Api::serve(server).await;
        let (ada, ben) = (api.with_token("ada"), api.with_token("ben"));
        let made = json!({"metadata": {"made_by": "ada"}});
        let thread = ada.post("/threads", made).await;
        let path = format!("/threads/{}", thread["thread_id"].as_str().unwrap());
        assert_eq!(status(&ben, Method::GET, &path, json!({})).await, expected);

        let copy = format!("{path}/copy");
        let (status, answer) = ben.call(Method::POST, &copy, json!({})).await;
        assert_eq!(status, expected, "{filters}: {answer}");
        if status == 200 {
            assert_eq!(answer["metadata"]["made_by"], "ben", "{answer}");
        }
        let own = ada.post(&copy, json!({})).await;
        assert_eq!(own["metadata"]["made_by"], "ada", "{own}");
    }
}

#[tokio::test]
async fn a_thread_that_exists_already_is_shown_to_those_who_may_read_it() {
    /// Everyone creates; what is read is that of the reader.
    struct Readers;

    #[langgraph::async_trait]
    impl Authorize for Readers {
        async fn authorize(&self, action: Action<'_>) -> Result<Filter, Refusal> {
            let user = action.user().identity();
            match action.name() {
                "create" => Ok(Filter::all()),
                "read" if user == "eve" => Err(Refusal::Forbidden),
                _ => Ok(Filter::all().is("for", user)),
            }
        }
    }

    let mut graph = StateGraph::<Notes>::new();
    graph.add_node("noop", |_: &Notes| NotesUpdate::default());
    graph.add_sequence(&["noop"]);
    let user = |name: &str| User::new(name).owner("team");
    let tokens = BearerTokens::new()
        .token("ada", user("ada"))
        .token("ben", user("ben"))
        .token("eve", user("eve"));
    let server = Server::new().graph("notes", graph.compile().unwrap());
    let api = Api::serve(server.authenticate(tokens).authorize(Readers)).await;
    let [ada, ben, eve] = ["ada", "ben", "eve"].map(|token| api.with_token(token));
    for (path, id) in [("/threads", "thread_id"), ("/assistants", "assistant_id")] {
        let mut body = json!({
            id: "0199a000-0000-7000-8000-000000000099", "if_exists": "do_nothing",
            "metadata": {"for": "ada", "secret": 7},
        });
        if id == "assistant_id" {
            body["graph_id"] = json!("notes");
        }
        assert_eq!(ada.post(path, body.clone()).await["metadata"]["secret"], 7);
        assert_eq!(ada.post(path, body.clone()).await["metadata"]["secret"], 7);
        for other in [&ben, &eve] {
            let (status, answer) = other.call(Method::POST, path, body.clone()).await;
            assert_eq!(status, 409, "{path}: {answer}");
            assert_eq!(answer.get("metadata"), None, "{path}: {answer}");
        }
        // What is new needs no right to read.
        body[id] = json!("0199a000-0000-7000-8000-000000000098");
        assert_eq!(eve.post(path, body).await["metadata"]["for"], "ada");
    }
}

#[tokio::test]
async fn a_task_of_a2a_is_read_and_cancelled_by_those_who_may_do_so_with_its_run() {
    let [ada, ben, rea, _] = team().await;
    let path = format!("/threads/{}/runs", ada.thread().await);
    let run = json!({"assistant_id": "notes", "input": {}, "after_seconds": 600});
    let run = ada.post(&path, run).await;
    let call = |method: &str| {
        let params = json!({"id": run["run_id"]});
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    };
    for method in ["tasks/get", "GetTask"] {
        for (api, is_seen) in [(&ada, true), (&ben, false), (&rea, true)] {
            let answer = api.post("/a2a/notes", call(method)).await;
            assert_eq!(answer["result"].is_object(), is_seen, "{answer}");
        }
    }
    for method in ["tasks/cancel", "CancelTask"] {
        let refused = status(&rea, Method::POST, "/a2a/notes", call(method)).await;
        assert_eq!(refused, 403);
        let missing = ben.post("/a2a/notes", call(method)).await;
        assert_eq!(missing["error"]["code"], -32001, "{missing}");
    }
    let cancelled = ada.post("/a2a/notes", call("CancelTask")).await;
    assert!(cancelled["result"].is_object(), "{cancelled}");
    // To start one, a reader has no right.
    let refused = status(&rea, Method::POST, "/a2a/notes", call("message/send")).await;
    assert_eq!(refused, 403);
}
