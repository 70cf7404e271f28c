use serde_json::json;

use super::*;
use crate::{StreamContent, StreamError};

fn request() -> AgentEnvelope {
    AgentEnvelope::request("a", "b", "?").unwrap()
}

#[tokio::test]
async fn a_complete_beside_a_stream_is_the_reply() {
    let reply = ReplyStream::produce(&request(), |replies| async move {
        let stream = replies.start(StreamContent::Text.metadata()).await;
        replies.chunk(&stream, "thinking").await?;
        replies.complete(&json!({"answer": 42})).await?;
        replies.end(stream).await;
        Ok(())
    });
    assert_eq!(reply.whole().await.unwrap(), json!({"answer": 42}));
}

#[tokio::test]
async fn interleaved_streams_of_one_reply_are_both_in_it() {
    let reply = ReplyStream::produce(&request(), |replies| async move {
        let one = replies.start(Value::Null).await;
        let two = replies.start(Value::Null).await;
        for part in ["a", "b"] {
            replies.chunk(&one, part).await?;
            replies.chunk(&two, &part.to_uppercase()).await?;
        }
        replies.end(two).await;
        replies.end(one).await;
        Ok(())
    });
    assert_eq!(reply.whole().await.unwrap(), json!(["AB", "ab"]));
}

#[tokio::test]
async fn an_agent_that_says_nothing_or_stops_halfway_gives_no_reply() {
    let silent = ReplyStream::produce(&request(), |_| async { Ok(()) });
    assert!(matches!(silent.whole().await, Err(RemoteError::NoReply)));
    let halfway = ReplyStream::produce(&request(), |replies| async move {
        replies.start(Value::Null).await;
        Ok(())
    });
    let error = halfway.whole().await.unwrap_err();
    assert!(matches!(
        error,
        RemoteError::Stream(StreamError::Unfinished(_))
    ));
}

#[tokio::test]
async fn an_agents_error_becomes_an_error_body() {
    let mut reply = ReplyStream::produce(&request(), |_| async {
        EnvelopeBody::Cancel.payload::<u32>().map(|_| ())
    });
    let body = reply.next().await.unwrap().unwrap().body;
    let EnvelopeBody::Error { code, message } = body else {
        panic!("expected an error, found {body:?}");
    };
    assert_eq!(code, ErrorCode::BadRequest);
    assert!(message.contains("`cancel`"), "{message}");
    assert!(reply.next().await.is_none());
}

#[tokio::test]
async fn the_agent_runs_only_a_buffer_ahead_of_its_reader() {
    let (count, mut counted) = mpsc::unbounded_channel();
    let mut reply = ReplyStream::produce(&request(), |replies| async move {
        let stream = replies.start(Value::Null).await;
        for number in 0..1_000 {
            replies.chunk(&stream, &number).await?;
            let _ = count.send(number);
        }
        Ok(())
    });
    reply.next().await.unwrap().unwrap();
    let mut ahead = 0;
    while counted.try_recv().is_ok() {
        ahead += 1;
    }
    assert!(ahead <= BUFFER, "{ahead}");
}
