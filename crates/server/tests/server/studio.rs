//! The page of the server: everyone gets it, and gets it once.

#![cfg(feature = "studio")]

use crate::states::Text;
use crate::support::Api;
use langgraph::graph::{END, EdgeBound, START, StateGraph};
use langgraph_server::{BearerTokens, Server, User};
use reqwest::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use reqwest::{Method, StatusCode};
use serde_json::json;

#[tokio::test]
async fn l5_everyone_gets_the_page_and_no_more_by_it() {
    let mut graph = StateGraph::<Text>::new();
    graph.add_node("n", |_: &Text| ()).add_sequence(&["n"]);
    let tokens = BearerTokens::new().token("secret", User::new("ada"));
    let server = Server::new().graph("g", graph.compile().unwrap());
    let api = Api::serve(server.authenticate(tokens)).await;

    let page = api.request(Method::GET, "/").send().await.unwrap();
    assert_eq!(page.status(), 200);
    let policy = page.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.contains("connect-src 'self'"), "{policy}");
    let text = page.text().await.unwrap();
    for (path, kind) in [
        ("/studio/studio.js", "text/javascript"),
        ("/studio/studio.css", "text/css"),
    ] {
        assert!(text.contains(path), "{text}");
        let file = api.request(Method::GET, path).send().await.unwrap();
        assert_eq!(file.status(), 200);
        let found = file.headers()[CONTENT_TYPE].to_str().unwrap();
        assert!(found.starts_with(kind), "{path}: {found}");
        let tag = file.headers()[ETAG].clone();
        let again = api.request(Method::GET, path).header(IF_NONE_MATCH, tag);
        let again = again.send().await.unwrap();
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
        assert!(again.bytes().await.unwrap().is_empty());
    }
    for path in ["/studio", "/studio/other.js", "/assistants/g/graph"] {
        let (status, _) = api.call(Method::GET, path, json!({})).await;
        assert_eq!(status, 401, "{path}");
    }
}

#[tokio::test]
async fn the_picture_of_a_graph_has_the_bounds_of_its_edges() {
    let mut graph = StateGraph::<Text>::new();
    graph
        .add_node("write", |_: &Text| ())
        .add_node("review", |_: &Text| ())
        .add_edge(START, "write")
        .add_edge("write", "review")
        .add_conditional_edges(
            "review",
            |_: &Text| END,
            [("again", "write"), ("good", END)],
        )
        .add_bound(EdgeBound::new("review", "write", 3).or_else(END))
        .add_bound(EdgeBound::new("write", "review", 9));
    let server = Server::new().graph("g", graph.compile().unwrap());
    let api = Api::serve(server).await;
    let drawn = api.get("/assistants/g/graph").await;
    let edges = json!([
        {"source": "__start__", "target": "write"},
        {"source": "write", "target": "review", "data": "at most 9", "conditional": true},
        {"source": "review", "target": "write", "data": "again, at most 3", "conditional": true},
        {"source": "review", "target": "__end__", "data": "good", "conditional": true},
        {"source": "review", "target": "__end__", "data": "after 3 to write", "conditional": true},
    ]);
    assert_eq!(drawn["edges"], edges);
}
