use serde_json::json;

use super::*;

#[test]
fn an_envelope_keeps_who_whom_and_which_request() {
    let envelope = AgentEnvelope::new("a", "b", EnvelopeBody::Complete(json!(1)))
        .with_request_id("r")
        .with_timeout(Duration::from_micros(1_500));
    let json = serde_json::to_value(&envelope).unwrap();
    assert_eq!(
        json,
        json!({"from": "a", "to": "b", "request_id": "r", "timeout_ms": 2, "body": {"complete": 1}})
    );
    let back: AgentEnvelope = serde_json::from_value(json).unwrap();
    assert_eq!(back.timeout, Some(Duration::from_millis(2)));
    assert_eq!(
        (back.from, back.to, back.request_id),
        (envelope.from, envelope.to, envelope.request_id)
    );
}

#[test]
fn every_body_survives_json() {
    let stream_id = StreamId::new("s");
    for body in [
        EnvelopeBody::Complete(json!({"action": "list"})),
        EnvelopeBody::Complete(Value::Null),
        EnvelopeBody::StreamStart {
            stream_id: stream_id.clone(),
            metadata: json!({"content": "text"}),
        },
        EnvelopeBody::StreamChunk {
            stream_id: stream_id.clone(),
            chunk: json!("a"),
        },
        EnvelopeBody::StreamEnd { stream_id },
        EnvelopeBody::error(ErrorCode::Overloaded, "later"),
        EnvelopeBody::error("house_rule".into(), "no"),
        EnvelopeBody::Cancel,
        EnvelopeBody::Interrupt(vec![OpenInterrupt::new("i", "approve", json!("send?"))]),
        EnvelopeBody::Resume([("i".to_owned(), json!(true))].into()),
    ] {
        let text = serde_json::to_string(&body).unwrap();
        assert_eq!(serde_json::from_str::<EnvelopeBody>(&text).unwrap(), body);
    }
}

#[test]
fn a_reply_goes_to_the_source_under_the_same_request() {
    let request = AgentEnvelope::request("a", "b", "hi")
        .unwrap()
        .with_timeout(Duration::from_secs(1));
    let reply = request.reply(EnvelopeBody::Complete(json!("ho")));
    assert_eq!((&reply.from, &reply.to), (&request.to, &request.from));
    assert_eq!(reply.request_id, request.request_id);
    assert_eq!(reply.timeout, None);

    let without = AgentEnvelope::new("a", "b", EnvelopeBody::Cancel);
    assert_eq!(without.reply(EnvelopeBody::Cancel).request_id, None);
}

#[test]
fn a_payload_is_typed_or_says_what_it_is_instead() {
    let text = |body: EnvelopeBody| body.payload::<u32>().map_err(|error| error.to_string());
    assert_eq!(text(EnvelopeBody::Complete(json!(7))), Ok(7));
    for (body, expected) in [
        (EnvelopeBody::Complete(json!("7")), "invalid type: string"),
        (EnvelopeBody::error(ErrorCode::Failed, "no"), "(failed): no"),
        (EnvelopeBody::Cancel, "`cancel`"),
    ] {
        let error = text(body).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
