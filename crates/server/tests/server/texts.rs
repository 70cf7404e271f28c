//! Texts that not every database takes, and what searches make of documents: the same on each.

use crate::states::{Notes, NotesUpdate};
use crate::support::Api;
use langgraph::graph::StateGraph;
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

fn server() -> Server {
    let mut graph = StateGraph::<Notes>::new();
    graph.add_node("noop", |_: &Notes| NotesUpdate::default());
    graph.add_sequence(&["noop"]);
    Server::new().graph("notes", graph.compile().unwrap())
}

#[tokio::test]
async fn the_character_nul_is_refused_or_kept_and_breaks_nothing() {
    try_nul(&Api::serve(server()).await).await;
}

#[tokio::test]
async fn a_search_finds_documents_by_a_part_of_them() {
    search_parts(&Api::serve(server()).await).await;
}

#[cfg(feature = "postgres")]
mod postgres {
    use langgraph_postgres::{Database, Options};

    use super::*;

    async fn api() -> Api {
        let url = std::env::var("DATABASE_URL");
        let url = url.expect("needs PostgreSQL: run it with tests/servers.sh");
        let schema = format!("texts_{}", uuid::Uuid::new_v4().simple());
        let options = Options::default().schema(schema).max_connections(4);
        let database = Database::connect_with(&url, options).await.unwrap();
        Api::serve(server().postgres(database)).await
    }

    #[tokio::test]
    async fn the_character_nul_is_refused_or_kept_in_postgres() {
        try_nul(&api().await).await;
    }

    #[tokio::test]
    async fn a_search_in_postgres_finds_documents_by_a_part_of_them() {
        search_parts(&api().await).await;
    }
}

async fn try_nul(api: &Api) {
    let nul = "a\0b";
    let thread = json!({"metadata": {"x": nul}});
    let thread = api.post("/threads", thread).await;
    let runs = format!("/threads/{}/runs", thread["thread_id"].as_str().unwrap());
    let cron = json!({"assistant_id": "notes", "schedule": "0 0 1 1 *", "input": {"notes": [nul]}});
    let filter = |filter: Value| json!({"namespace_prefix": ["n"], "filter": filter});
    let assistant = |name: &str, value: Value| json!({"graph_id": "notes", name: value});
    let run = json!({"assistant_id": "notes", "input": {"notes": [nul]}, "metadata": {"x": nul}});
    for (method, path, body, expected) in [
        (
            Method::POST,
            "/assistants",
            assistant("name", json!(nul)),
            422,
        ),
        (
            Method::POST,
            "/assistants",
            assistant("metadata", json!({nul: 1})),
            422,
        ),
        (
            Method::POST,
            "/assistants/search",
            json!({"name": nul}),
            200,
        ),
        (Method::POST, "/runs/crons", cron, 422),
        (
            Method::POST,
            "/runs/crons/search",
            json!({"thread_id": nul}),
            422,
        ),
        (Method::POST, "/threads/search", thread, 200),
        (Method::POST, &format!("{runs}/wait"), run, 200),
        (Method::GET, &format!("{runs}?status=%00"), json!({}), 422),
        (
            Method::POST,
            "/store/items/search",
            filter(json!({nul: 1})),
            422,
        ),
        (
            Method::POST,
            "/store/items/search",
            filter(json!({"x": nul})),
            422,
        ),
        (
            Method::POST,
            "/store/namespaces",
            json!({"prefix": [nul]}),
            200,
        ),
    ] {
        let (status, answer) = api.call(method, path, body.clone()).await;
        assert_eq!(status, expected, "{path} {body}: {answer}");
    }
}

async fn search_parts(api: &Api) {
    let metadata =
        json!({"n": 1, "tags": ["a", "b"], "who": {"id": 7, "name": "ü"}, "a.b": "'$x\""});
    api.post("/threads", json!({"metadata": metadata})).await;
    api.post(
        "/assistants",
        json!({"graph_id": "notes", "metadata": metadata}),
    )
    .await;
    for (part, found) in [
        (json!({"n": 1.0}), 1),
        (json!({"n": "1"}), 0),
        (json!({"tags": ["b"]}), 1),
        (json!({"tags": ["b", "c"]}), 0),
        (json!({"who": {"name": "ü"}}), 1),
        (json!({"a.b": "'$x\""}), 1),
        (json!({"gone": null}), 0),
    ] {
        let search = json!({"metadata": part});
        for path in ["/threads/count", "/assistants/count"] {
            let count = api.post(path, search.clone()).await;
            assert_eq!(count, found, "{path} {part}");
        }
    }
}
