//! Searches read the documents of the page that they return, and no others.

use std::path::Path;
use std::time::Duration;

use crate::states::{Text, TextUpdate};
use crate::support::Api;
use langgraph::graph::StateGraph;
use langgraph_server::{BearerTokens, Server, User};
use reqwest::Method;
use rusqlite::Connection;
use serde_json::{Value, json};

/// How many rows are there beside those of the page.
const MORE: usize = 10_000;
/// How many are as the server writes them.
const WHOLE: usize = 12;

/// Adds `MORE` rows to each table, older than the others, whose documents cannot be read: a search that reads
/// one of them fails.
const OLDER: &str = "
    CREATE TEMP TABLE numbers AS WITH RECURSIVE n (n) AS (
        SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 10000
    ) SELECT n, printf('%08x-0000-7000-8000-000000000000', n) AS id FROM n;
    INSERT INTO served_threads (id, owner, status, temporary, made, changed, doc)
        SELECT n.id, t.owner, 'idle', 0, t.made - n.n, t.changed - n.n, '{}'
        FROM numbers AS n, (SELECT * FROM served_threads LIMIT 1) AS t;
    INSERT INTO served_runs (id, thread, status, updated, due, priority, attempt, fence, lease, doc, owner, made)
        SELECT n.id, r.thread, 'success', '', 0, 0, 1, 1, 0, '{}', r.owner, r.made - n.n
        FROM numbers AS n, (SELECT * FROM served_runs LIMIT 1) AS r;
    INSERT INTO served_assistants (id, version, latest, owner, doc)
        SELECT n.id, 1, 1, 'ada', json_object('graph_id', 'notes', 'created_at', printf('2000-%d', n.n))
        FROM numbers AS n;
    INSERT INTO served_crons (id, owner, due, doc)
        SELECT n.id, 'ada', NULL, json_object('created_at', printf('2000-%d', n.n)) FROM numbers AS n;
    INSERT INTO store_items (namespace, key, value, created_at, updated_at)
        SELECT i.namespace, n.id, 'no JSON', 0, i.updated_at - n.n
        FROM numbers AS n, (SELECT * FROM store_items ORDER BY updated_at LIMIT 1) AS i;
";

fn server(file: &Path) -> Server {
    let mut graph = StateGraph::<Text>::new();
    graph.add_node("noop", |_: &Text| TextUpdate::default());
    graph.add_sequence(&["noop"]);
    let tokens = BearerTokens::new()
        .token("token-of-ada", User::new("ada"))
        .token("token-of-ben", User::new("ben"));
    let server = Server::new().file(file).authenticate(tokens);
    server.graph("notes", graph.compile().unwrap())
}

/// Has the server write `WHOLE` resources of each kind, and returns the path of the thread with the runs.
async fn written(api: &Api) -> String {
    let thread = api.thread().await;
    for number in 0..WHOLE {
        if number > 0 {
            api.thread().await;
        }
        let run = json!({"assistant_id": "notes", "input": {"text": "x"}});
        api.post(&format!("/threads/{thread}/runs/wait"), run).await;
        let assistant = json!({"graph_id": "notes", "name": format!("notes {number}")});
        api.post("/assistants", assistant).await;
        let cron = json!({"assistant_id": "notes", "schedule": "0 0 1 1 *", "input": {}});
        api.post("/runs/crons", cron).await;
        let item =
            json!({"namespace": ["docs"], "key": format!("key {number}"), "value": {"n": number}});
        let (status, _) = api.call(Method::PUT, "/store/items", item).await;
        assert_eq!(status, 204);
    }
    format!("/threads/{thread}/runs")
}

#[tokio::test]
async fn a_search_reads_no_more_documents_than_it_returns() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let api = Api::serve(server(&file)).await;
    let (ada, ben) = (
        api.with_token("token-of-ada"),
        api.with_token("token-of-ben"),
    );
    let runs = written(&ada).await;
    tokio::task::spawn_blocking(move || {
        let rows = Connection::open(file).unwrap();
        rows.busy_timeout(Duration::from_secs(30)).unwrap();
        rows.execute_batch(OLDER).unwrap();
    })
    .await
    .unwrap();

    let page = |offset: usize| {
        json!({
            "limit": 10, "offset": offset, "graph_id": "notes",
            "namespace_prefix": ["docs"], "sort_by": "created_at", "sort_order": "desc",
        })
    };
    for path in [
        "/threads/search",
        "/assistants/search",
        "/runs/crons/search",
        "/store/items/search",
    ] {
        let found = ada.post(path, page(0)).await;
        let found = found.get("items").unwrap_or(&found);
        assert_eq!(found.as_array().map(Vec::len), Some(10), "{path}");
        // A page with one of the others cannot be read.
        let (status, _) = ada.call(Method::POST, path, page(10)).await;
        assert_eq!(status, 500, "{path}");
    }
    let found = ada.get(&format!("{runs}?limit=10")).await;
    assert_eq!(found.as_array().map(Vec::len), Some(10));
    let (status, _) = ada
        .call(
            Method::GET,
            &format!("{runs}?limit=10&offset=10"),
            json!({}),
        )
        .await;
    assert_eq!(status, 500);

    // They are counted without being read. The default assistant is everyone's.
    for (path, own) in [("/threads", 0), ("/assistants", 1), ("/runs/crons", 0)] {
        let count = ada.post(&format!("{path}/count"), json!({})).await;
        assert_eq!(count, MORE + WHOLE + own, "{path}");
    }
    // Another owner's search by metadata reads nothing of theirs.
    let tagged = json!({"metadata": {"tag": "x"}});
    for path in [
        "/threads/search",
        "/assistants/search",
        "/runs/crons/search",
    ] {
        assert_eq!(ben.post(path, tagged.clone()).await, json!([]), "{path}");
    }
}

#[tokio::test]
async fn assistants_and_crons_are_sorted_by_each_field_that_a_search_may_name() {
    let folder = tempfile::tempdir().unwrap();
    let api = Api::serve(server(&folder.path().join("server.db"))).await;
    let ada = api.with_token("token-of-ada");
    written(&ada).await;
    let cron_fields: &[&str] = &[
        "cron_id",
        "assistant_id",
        "thread_id",
        "created_at",
        "updated_at",
        "next_run_date",
        "end_time",
    ];
    let assistant_fields: &[&str] = &[
        "assistant_id",
        "graph_id",
        "name",
        "created_at",
        "updated_at",
    ];
    for (path, fields) in [
        ("/assistants/search", assistant_fields),
        ("/runs/crons/search", cron_fields),
    ] {
        for field in fields {
            for order in ["asc", "desc"] {
                let body = json!({"limit": 100, "sort_by": field, "sort_order": order});
                let found = ada.post(path, body).await;
                let keys: Vec<&str> = found
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|found| key(found, field))
                    .collect();
                let mut sorted = keys.clone();
                sorted.sort_unstable();
                if order == "desc" {
                    sorted.reverse();
                }
                assert_eq!(keys, sorted, "{path} by {field}");
                assert!(keys.len() >= WHOLE, "{path} by {field}");
            }
        }
        let body = json!({"sort_by": "size"});
        let (status, answer) = ada.call(Method::POST, path, body).await;
        assert_eq!(status, 422, "{path}: {answer}");
    }
}

fn key<'a>(found: &'a Value, field: &str) -> &'a str {
    found[field].as_str().unwrap_or_default()
}

#[tokio::test]
async fn threads_are_sorted_by_the_last_change_of_their_state() {
    let folder = tempfile::tempdir().unwrap();
    let api = Api::serve(server(&folder.path().join("server.db"))).await;
    let ada = api.with_token("token-of-ada");
    let mut threads = Vec::new();
    for _ in 0..3 {
        threads.push(ada.thread().await);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let [first, second, third] = <[String; 3]>::try_from(threads).unwrap();
    let run = json!({"assistant_id": "notes", "input": {"text": "x"}});
    ada.post(&format!("/threads/{second}/runs/wait"), run.clone())
        .await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    // The row changes, and the state does not.
    let change = json!({"metadata": {"title": "new"}});
    let (status, _) = ada
        .call(Method::PATCH, &format!("/threads/{first}"), change)
        .await;
    assert_eq!(status, 200);
    let refused = json!({"assistant_id": "notes", "input": {"text": 7}});
    ada.post(&format!("/threads/{third}/runs/wait"), refused)
        .await;

    let sorted = async |by: &str| {
        let body = json!({"sort_by": by, "sort_order": "desc"});
        let found = ada.post("/threads/search", body).await;
        let ids = found.as_array().unwrap().iter();
        ids.map(|thread| thread["thread_id"].as_str().unwrap().to_owned())
            .collect::<Vec<String>>()
    };
    let by_state = [second.as_str(), third.as_str(), first.as_str()];
    assert_eq!(sorted("state_updated_at").await, by_state);
    assert_eq!(
        sorted("updated_at").await,
        [third.as_str(), first.as_str(), second.as_str()]
    );
}

#[tokio::test]
async fn a_search_refuses_what_it_cannot_do() {
    let folder = tempfile::tempdir().unwrap();
    let api = Api::serve(server(&folder.path().join("server.db"))).await;
    let api = api.with_token("token-of-ada");
    let history = format!("/threads/{}/history", api.thread().await);
    let mistakes = [
        ("limit", json!(0)),
        ("limit", json!(1001)),
        ("limit", json!(-1)),
        ("metadata", json!("x")),
        ("select", json!(["nothing"])),
        ("sort_by", json!("nothing")),
        ("sort_order", json!("up")),
        ("values", json!(["x"])),
    ];
    let of_a_page = ["limit", "metadata"];
    for (path, fields) in [
        (
            "/threads/search",
            &["select", "sort_by", "sort_order", "values"][..],
        ),
        ("/assistants/search", &["select", "sort_by", "sort_order"]),
        ("/runs/crons/search", &["select", "sort_by", "sort_order"]),
        (&*history, &[]),
    ] {
        for (field, mistake) in &mistakes {
            if !of_a_page.contains(field) && !fields.contains(field) {
                continue;
            }
            let body = json!({*field: mistake});
            let (status, answer) = api.call(Method::POST, path, body).await;
            assert_eq!(status, 422, "{path}, {field}: {mistake}");
            let detail = answer["detail"].as_str().unwrap();
            assert!(detail.contains(field), "{detail}");
            assert!(!detail.contains("column"), "{detail}");
        }
    }
    for path in ["/threads", "/assistants"] {
        let body = json!({"graph_id": "notes", "if_exists": "nothing"});
        let (status, answer) = api.call(Method::POST, path, body).await;
        assert_eq!(status, 422, "{path}: {answer}");
    }
}

#[tokio::test]
async fn what_is_extracted_comes_beside_what_is_selected() {
    let folder = tempfile::tempdir().unwrap();
    let api = Api::serve(server(&folder.path().join("server.db"))).await;
    let api = api.with_token("token-of-ada");
    let body = json!({"assistant_id": "notes", "input": {"text": "hi"}});
    let thread = api.thread().await;
    api.post(&format!("/threads/{thread}/runs/wait"), body)
        .await;
    let search = json!({"select": ["thread_id"], "extract": {"said": "values.text"}});
    let found = api.post("/threads/search", search).await;
    let expected = json!([{"thread_id": thread, "extracted": {"said": "hi"}}]);
    assert_eq!(found, expected);
}
