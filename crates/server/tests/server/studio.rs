//! The page of the server: everyone gets it, and gets it once.

#![cfg(feature = "studio")]
#![allow(clippy::unwrap_used, clippy::expect_used)] // in what the tests share

use crate::support::Api;
use langgraph::State;
use langgraph::graph::StateGraph;
use langgraph_server::{BearerTokens, Server, User};
use reqwest::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use reqwest::{Method, StatusCode};
use serde_json::json;

#[derive(State, Clone, Debug, Default)]
struct Nothing {
    text: String,
}

#[tokio::test]
async fn l5_everyone_gets_the_page_and_no_more_by_it() {
    let mut graph = StateGraph::<Nothing>::new();
    graph.add_node("n", |_: &Nothing| ()).add_sequence(&["n"]);
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
