//! Items of the store over HTTP: namespaces, owners, expiry, meaning.

use crate::states::{Text, TextUpdate};
use crate::support::Api;
use langgraph::graph::StateGraph;
use langgraph_server::{BearerTokens, Server, User};
use langgraph_store::{HashingEmbedder, StoreOptions};
use reqwest::Method;
use serde_json::{Value, json};

fn server() -> Server {
    let mut graph = StateGraph::<Text>::new();
    graph.add_node("noop", |_: &Text| TextUpdate::default());
    graph.add_sequence(&["noop"]);
    let store = StoreOptions::default().embedder(HashingEmbedder::new(64));
    Server::new()
        .store(store)
        .graph("notes", graph.compile().unwrap())
}

async fn put(api: &Api, namespace: &Value, key: &str, more: Value) {
    let mut item = json!({"namespace": namespace, "key": key, "value": {"text": key}});
    if let (Value::Object(item), Value::Object(more)) = (&mut item, more) {
        item.extend(more);
    }
    let (status, refused) = api.call(Method::PUT, "/store/items", item).await;
    assert_eq!(status, 204, "{refused}");
}

#[tokio::test]
async fn every_namespace_that_is_written_can_be_read() {
    let api = Api::serve(server()).await;
    for namespace in [
        json!(["a", "b"]),
        json!(["a.b"]),
        json!(["users", "ada@example.org"]),
        json!(["[1]"]),
        json!(["a&b=c d%+#é/", "\"quoted\""]),
    ] {
        let key = format!("key of {namespace}");
        put(&api, &namespace, &key, json!({})).await;
        let list = namespace.to_string();
        let query = [("namespace", &*list), ("key", &*key)];
        let request = api.request(Method::GET, "/store/items").query(&query);
        let found: Value = request.send().await.unwrap().json().await.unwrap();
        assert_eq!(found["namespace"], namespace, "{found}");
    }
    // No two of them are taken for each other.
    let key = "/store/items?namespace=a.b&key=key%20of%20%5B%22a.b%22%5D";
    assert_eq!(api.get(key).await, Value::Null);
}

#[tokio::test]
async fn the_part_of_an_owner_is_no_label_of_a_namespace() {
    let tokens = BearerTokens::new()
        .token("ada", User::new("ada@example.org"))
        .token("ben", User::new("ben"));
    let api = Api::serve(server().authenticate(tokens)).await;
    let (ada, ben) = (api.with_token("ada"), api.with_token("ben"));
    put(&ada, &json!(["notes", "x"]), "k", json!({})).await;
    put(&ben, &json!(["notes", "y"]), "k", json!({})).await;
    for (asked, found) in [
        (json!({}), json!([["notes", "x"]])),
        (json!({"prefix": ["*"]}), json!([["notes", "x"]])),
        (json!({"prefix": ["ben"]}), json!([])),
        (json!({"max_depth": 1}), json!([["notes"]])),
        (json!({"suffix": ["notes", "x"]}), json!([["notes", "x"]])),
        (json!({"suffix": ["*", "x"]}), json!([["notes", "x"]])),
        (json!({"suffix": ["*", "*", "*"]}), json!([])),
        (json!({"suffix": ["ada@example.org", "*", "x"]}), json!([])),
        (
            json!({"prefix": ["notes"], "suffix": ["x"]}),
            json!([["notes", "x"]]),
        ),
        (
            json!({"prefix": ["notes", "x"], "suffix": ["notes", "x"]}),
            json!([["notes", "x"]]),
        ),
    ] {
        let listed = ada.post("/store/namespaces", asked.clone()).await;
        assert_eq!(listed["namespaces"], found, "{asked}");
    }
}

#[tokio::test]
async fn an_error_names_a_namespace_as_its_user_does() {
    let tokens = BearerTokens::new().token("ada", User::new("ada@example.org"));
    let api = Api::serve(server().authenticate(tokens)).await;
    let ada = api.with_token("ada");
    for (method, path, body) in [
        (
            Method::PUT,
            "/store/items",
            json!({"namespace": ["n", "\0"], "key": "k", "value": {}}),
        ),
        (
            Method::PUT,
            "/store/items",
            json!({"namespace": ["n"], "key": "\0", "value": {}}),
        ),
        (
            Method::PUT,
            "/store/items",
            json!({"namespace": ["n"], "key": "k", "value": {"x": "\0"}}),
        ),
        (
            Method::DELETE,
            "/store/items",
            json!({"namespace": ["n"], "key": ""}),
        ),
        (Method::GET, "/store/items?namespace=n&key=", json!({})),
        (
            Method::POST,
            "/store/items/search",
            json!({"namespace_prefix": ["n", "\0"]}),
        ),
    ] {
        let (status, refused) = ada.call(method, path, body.clone()).await;
        assert_eq!(status, 422, "{body}: {refused}");
        let why = refused["detail"].as_str().unwrap();
        assert!(why.contains("`n") && !why.contains("ada"), "{body}: {why}");
    }
}

#[tokio::test]
async fn a_filter_looks_into_objects() {
    let api = Api::serve(server()).await;
    for n in 0..4 {
        let value = json!({"value": {"place": {"floor": n, "room.1": n}, "text": "x"}});
        put(&api, &json!(["rooms"]), &format!("{n}"), value).await;
    }
    for (filter, found) in [
        (json!({"place": {"floor": 2}}), json!(["2"])),
        (json!({"place": {"floor": {"$gte": 2}}}), json!(["3", "2"])),
        (
            json!({"place": {"floor": {"$gte": 2}, "room.1": 2}, "text": "x"}),
            json!(["2"]),
        ),
        (json!({"place": {"floor": 2, "room.1": 1}}), json!([])),
    ] {
        let search = json!({"namespace_prefix": ["rooms"], "filter": filter});
        let items = api.post("/store/items/search", search).await;
        let keys = items["items"].as_array().unwrap().iter();
        let keys: Value = keys.map(|item| item["key"].clone()).collect();
        assert_eq!(keys, found, "{filter}");
    }
}
