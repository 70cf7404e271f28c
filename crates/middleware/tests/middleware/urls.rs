//! Checks of URLs.

use langgraph_agent::{FnTool, ScriptedModel, Turn, react_agent};
use langgraph_middleware::UrlCheck;
use serde_json::{Value, json};

use super::support::{ask, call, texts};

async fn fetched(check: UrlCheck, arguments: Value) -> String {
    let model = ScriptedModel::new([
        Turn::tool_calls([call("c1", "fetch", arguments)]),
        Turn::text("done"),
    ]);
    let fetch = FnTool::new("fetch", "Fetches.", |_: serde_json::Value| async {
        "fetched"
    });
    let state = ask(react_agent(model, (fetch,)), check, "?").await;
    assert_eq!(
        state.messages[2].tool_result().unwrap().is_error(),
        texts(&state.messages)[2] != "fetched"
    );
    texts(&state.messages)[2].clone()
}

#[tokio::test]
async fn public_pages_are_fetched_and_local_networks_are_not() {
    let check = || UrlCheck::of(["fetch"]);
    for url in [
        "https://example.org/a?b#c",
        "http://8.8.8.8:8080/",
        "https://[2606:4700::1111]/",
        "HTTPS://EXAMPLE.ORG.",
        " https://example.org ",
    ] {
        assert_eq!(
            fetched(check(), json!({"url": url})).await,
            "fetched",
            "{url}"
        );
    }
    for url in [
        "file:///etc/passwd",
        "ftp://example.org/",
        "javascript:alert(1)",
        "/etc/passwd",
        "https://user:password@example.org/",
        "https://good.org@evil.org/",
        "http://localhost:8123/",
        "http://LOCALHOST./",
        "http://printer/",
        "http://db.internal/",
        "http://nas.local/",
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://0.0.0.0/",
        "http://10.1.2.3/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://100.64.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[::1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[fd00::1]/",
        "http://[fe80::1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
    ] {
        let answer = fetched(check(), json!({"url": url})).await;
        assert!(answer.contains("choose another one"), "{url}: {answer}");
    }
}

#[tokio::test]
async fn only_hosts_that_are_allowed_are_fetched() {
    let check = || UrlCheck::of(["fetch"]).allow(["docs.rs", "*.Example.org"]);
    for url in [
        "https://docs.rs/",
        "https://a.example.org/",
        "https://a.b.EXAMPLE.org/",
    ] {
        assert_eq!(
            fetched(check(), json!({"url": url})).await,
            "fetched",
            "{url}"
        );
    }
    for url in [
        "https://example.org/",
        "https://notexample.org/",
        "https://docs.rs.evil.org/",
        "https://evil.org/?docs.rs",
    ] {
        let answer = fetched(check(), json!({"url": url})).await;
        assert!(
            answer.contains("is not allowed (allowed: docs.rs"),
            "{url}: {answer}"
        );
    }
    // URLs are found wherever they are.
    let nested = json!({"pages": [{"link": "https://docs.rs/"}, {"link": "see http://evil.org/"}]});
    assert!(fetched(check(), nested).await.contains("is not valid"));
    let nested = json!({"pages": [{"link": "https://evil.org/"}]});
    assert!(fetched(check(), nested).await.contains("is not allowed"));
}

#[test]
fn a_check_of_a_tool_that_is_not_there_is_refused() {
    let agent = react_agent(ScriptedModel::new(["hi"]), ()).with(UrlCheck::of(["fetch"]));
    assert!(agent.compile().unwrap_err().to_string().contains("fetch"));
}
