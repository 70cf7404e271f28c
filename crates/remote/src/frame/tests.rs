use langgraph_budget::BudgetItem;
use serde_json::json;

use super::*;

fn bodies() -> Vec<(&'static str, EnvelopeBody)> {
    let stream_id = StreamId::new("s");
    vec![
        ("", EnvelopeBody::Complete(json!({"action": "send"}))),
        ("", EnvelopeBody::Complete(Value::Null)),
        (
            "",
            EnvelopeBody::StreamStart {
                stream_id: stream_id.clone(),
                metadata: json!({"content": "text"}),
            },
        ),
        (
            "",
            EnvelopeBody::StreamStart {
                stream_id: stream_id.clone(),
                metadata: Value::Null,
            },
        ),
        (
            "_chunk",
            EnvelopeBody::StreamChunk {
                stream_id: stream_id.clone(),
                chunk: json!("a"),
            },
        ),
        (
            "_chunk",
            EnvelopeBody::StreamChunk {
                stream_id: stream_id.clone(),
                chunk: Value::Null,
            },
        ),
        ("_end", EnvelopeBody::StreamEnd { stream_id }),
        ("_error", EnvelopeBody::error(ErrorCode::Failed, "no")),
        ("_cancel", EnvelopeBody::Cancel),
    ]
}

#[test]
fn every_frame_survives_its_text_and_the_relay() {
    for (part, body) in bodies() {
        let mut envelope = AgentEnvelope::new("a", "b", body)
            .with_request_id("r")
            .with_allowance(Allowance::new().with(BudgetItem::Tokens, 5))
            .with_timeout(Duration::from_millis(250));
        envelope.spent = Some(Amounts::default().with(BudgetItem::ModelCalls, 2));
        for (frame, sent, forwarded) in [
            (Frame::send(envelope.clone()), "send", "message"),
            (Frame::reply(envelope.clone()), "reply", "reply"),
        ] {
            let text = frame.to_json().unwrap();
            let json: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(json["type"], format!("{sent}{part}"));
            assert_eq!((&json["to"], &json["from"]), (&json!("b"), &Value::Null));
            assert_eq!(Frame::from_json(&text).unwrap(), frame);

            let (to, frame) = frame.relayed(&"a".into()).unwrap();
            let text = frame.to_json().unwrap();
            let json: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(json["type"], format!("{forwarded}{part}"));
            assert_eq!((&json["to"], &json["from"]), (&Value::Null, &json!("a")));
            let back = Frame::from_json(&text).unwrap();
            assert_eq!(back.into_envelope(&to).unwrap(), envelope);
        }
    }
}

#[test]
fn what_is_no_frame_says_why() {
    for (text, expected) in [
        ("{", "not a frame"),
        ("{}", "unknown frame type ``"),
        (r#"{"type":"shout"}"#, "unknown frame type `shout`"),
        (r#"{"type":"send_pigeon"}"#, "`send_pigeon`"),
        (r#"{"type":"send_chunk","to":"b"}"#, "needs `stream_id`"),
        (
            r#"{"type":"send","to":"b","stream":true}"#,
            "needs `stream_id`",
        ),
        (r#"{"type":"reply_error"}"#, "needs `code`"),
    ] {
        let error = Frame::from_json(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_relay_refuses_what_it_cannot_pass_on() {
    let without_receiver = Frame::from_json(r#"{"type":"send"}"#).unwrap();
    let error = without_receiver.clone().relayed(&"a".into()).unwrap_err();
    assert_eq!(error.to_string(), "a `send` frame needs `to`");
    let error = without_receiver.into_envelope(&"b".into()).unwrap_err();
    assert_eq!(error.to_string(), "a `send` frame needs `from`");
    let relays = Frame::from_json(r#"{"type":"message","to":"b"}"#).unwrap();
    let error = relays.relayed(&"a".into()).unwrap_err().to_string();
    assert!(error.contains("unexpected `message` frame"), "{error}");
}
