//! Servers that refuse, or that are not there.

use std::time::Duration;

use langgraph_agent::{ChatModel, ModelErrorKind};
use langgraph_genai::Model;
use serde_json::json;

use super::support::{Answer, Server};
use super::{collect, hi};

/// Quirk 4: the model does not retry, and the caller learns how long to wait.
#[tokio::test]
async fn statuses_become_kinds_and_nothing_is_tried_twice() {
    let said = |message: &str| json!({"error": {"message": message}});
    let cases = [
        ("429 Too Many Requests", said("slow down"), "rate"),
        (
            "429 Too Many Requests",
            json!({"error": {"message": "pay", "code": "insufficient_quota"}}),
            "quota",
        ),
        ("500 Internal Server Error", said("oops"), "500"),
        ("401 Unauthorized", said("bad key"), "auth"),
        ("400 Bad Request", said("no such parameter"), "request"),
        (
            "400 Bad Request",
            said("This model's maximum context length is 8192 tokens"),
            "length",
        ),
    ];
    for (status, body, name) in cases {
        let expected = match name {
            "rate" => ModelErrorKind::RateLimited {
                retry_after: Some(Duration::from_secs(7)),
            },
            "quota" => ModelErrorKind::Provider { status: Some(429) },
            "500" => ModelErrorKind::Provider { status: Some(500) },
            "auth" => ModelErrorKind::Auth,
            "request" => ModelErrorKind::InvalidRequest,
            _ => ModelErrorKind::ContextLength,
        };
        let answer = Answer::json(status, &body)
            .header("content-type: application/json\r\nretry-after: 7\r\n");
        let server = Server::start([answer.clone(), answer]).await;
        let model = server.openai().build().unwrap();
        let whole = model.generate(hi()).await.unwrap_err();
        let (_, streamed) = collect(&model).await;
        for error in [whole, streamed.unwrap()] {
            assert_eq!(error.kind(), &expected, "{error}");
            assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
            let message = body["error"]["message"].as_str().unwrap();
            assert!(error.to_string().ends_with(message), "{error}");
            assert!(!format!("{error:?}").contains("\"hi\""), "{error:?}");
        }
        assert_eq!(server.requests().len(), 2);
    }
}

#[tokio::test]
async fn a_closed_port_is_a_transport_error() {
    let model = Model::openai("m")
        .base_url("http://127.0.0.1:9/v1")
        .build()
        .unwrap();
    for error in [
        model.generate(hi()).await.unwrap_err(),
        collect(&model).await.1.unwrap(),
    ] {
        assert_eq!(error.kind(), &ModelErrorKind::Transport, "{error}");
        assert!(error.to_string().contains("cannot be reached"), "{error}");
        assert!(error.is_retryable());
    }
}
