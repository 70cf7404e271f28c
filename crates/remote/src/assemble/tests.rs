use serde_json::json;

use super::*;

fn start(id: &str) -> AgentEnvelope {
    part(EnvelopeBody::StreamStart {
        stream_id: id.into(),
        metadata: Value::Null,
    })
}

fn chunk(id: &str, chunk: impl Into<Value>) -> AgentEnvelope {
    part(EnvelopeBody::StreamChunk {
        stream_id: id.into(),
        chunk: chunk.into(),
    })
}

fn end(id: &str) -> AgentEnvelope {
    part(EnvelopeBody::StreamEnd {
        stream_id: id.into(),
    })
}

fn part(body: EnvelopeBody) -> AgentEnvelope {
    AgentEnvelope::new("mail", "assistant", body)
}

proptest::proptest! {
    #[test]
    fn however_streams_are_interleaved_each_is_whole(
        lengths in proptest::collection::vec(0_usize..8, 1..6),
        seed: u64,
    ) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut left: Vec<Vec<AgentEnvelope>> = Vec::new();
        for (stream, length) in lengths.iter().enumerate() {
            let id = stream.to_string();
            let chunks = (0..*length).map(|number| chunk(&id, number));
            let mut parts: Vec<_> = std::iter::once(start(&id)).chain(chunks).collect();
            parts.push(end(&id));
            parts.reverse();
            left.push(parts);
        }
        let mut streams = StreamAssembler::new();
        let mut whole = 0;
        while !left.is_empty() {
            let index = random.usize(..left.len());
            if let Some(message) = streams.push(left[index].pop().unwrap()).unwrap() {
                let stream: usize = message.stream_id.as_str().parse().unwrap();
                let expected: Vec<Value> = (0..lengths[stream]).map(Value::from).collect();
                assert_eq!(message.chunks, expected);
                whole += 1;
            }
            left.retain(|parts| !parts.is_empty());
        }
        assert_eq!(whole, lengths.len());
        assert_eq!((streams.bytes, streams.finish()), (0, Ok(())));
    }
}

#[test]
fn disorder_is_refused_and_changes_nothing() {
    let mut streams = StreamAssembler::new();
    let id = || StreamId::new("s");
    let not_started = |name| Err(StreamError::NotStarted(id(), name));
    assert_eq!(streams.push(chunk("s", "a")), not_started("stream_chunk"));
    assert_eq!(streams.push(end("s")), not_started("stream_end"));
    assert_eq!(streams.push(start("s")), Ok(None));
    assert_eq!(streams.push(chunk("s", "a")), Ok(None));
    assert_eq!(
        streams.push(start("s")),
        Err(StreamError::StartedTwice(id()))
    );
    assert_eq!(streams.push(chunk("s", "b")), Ok(None));
    let whole = streams.push(end("s")).unwrap().unwrap();
    assert_eq!(whole.into_value(), "ab");
    let ended = |name| Err(StreamError::Ended(id(), name));
    assert_eq!(streams.push(chunk("s", "c")), ended("stream_chunk"));
    assert_eq!(streams.push(end("s")), ended("stream_end"));
    assert_eq!(streams.push(start("s")), ended("stream_start"));
    assert_eq!((streams.open(), streams.bytes), (0, 0));
}

#[test]
fn what_is_not_finished_is_named() {
    let mut streams = StreamAssembler::new();
    streams.push(start("b")).unwrap();
    streams.push(start("a")).unwrap();
    assert_eq!(
        streams.finish(),
        Err(StreamError::Unfinished(vec!["a".into(), "b".into()]))
    );
    assert_eq!(StreamAssembler::new().finish(), Ok(()));
}

#[test]
fn two_senders_may_use_one_stream_id() {
    let mut streams = StreamAssembler::new();
    let other = |mut envelope: AgentEnvelope| {
        envelope.from = "other".into();
        envelope
    };
    streams.push(start("s")).unwrap();
    streams.push(other(start("s"))).unwrap();
    streams.push(chunk("s", "a")).unwrap();
    streams.push(other(chunk("s", "b"))).unwrap();
    let whole = streams.push(other(end("s"))).unwrap().unwrap();
    assert_eq!(
        (whole.from.as_str(), whole.chunks),
        ("other", vec![json!("b")])
    );
    let whole = streams.push(end("s")).unwrap().unwrap();
    assert_eq!(
        (whole.from.as_str(), whole.chunks),
        ("mail", vec![json!("a")])
    );
}

#[test]
fn what_is_held_is_bounded() {
    let mut streams = StreamAssembler::with_limits(StreamLimits {
        streams: 2,
        bytes: 10_000,
    });
    streams.push(start("a")).unwrap();
    streams.push(start("b")).unwrap();
    assert!(matches!(
        streams.push(start("c")),
        Err(StreamError::TooMany(_, 2))
    ));
    let long = "x".repeat(4_000);
    streams.push(chunk("a", long.clone())).unwrap();
    streams.push(chunk("b", long.clone())).unwrap();
    assert!(matches!(
        streams.push(chunk("a", long.clone())),
        Err(StreamError::TooLong(_, 10_000))
    ));
    // An ended stream no longer counts.
    streams.push(end("b")).unwrap();
    streams.push(chunk("a", long)).unwrap();
}
