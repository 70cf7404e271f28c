//! Many requests on one connection: a relay that reorders, delays and is late.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use langgraph::prelude::*;
use langgraph_remote::{
    AgentEnvelope, AgentHandler, AgentId, CorrelationError, Correlator, EnvelopeBody, Frame,
    LocalNetwork, RemoteError, RemoteNode, ReplyStream, RequestId, StreamContent, Transport,
    async_trait,
};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::mail::*;

/// One end of a connection to a relay.
#[derive(Clone)]
struct Wire {
    me: AgentId,
    out: mpsc::UnboundedSender<String>,
    table: Correlator,
}

impl Wire {
    fn new(me: &str) -> (Self, mpsc::UnboundedReceiver<String>) {
        let (out, sent) = mpsc::unbounded_channel();
        let table = Correlator::new();
        let cancels = out.clone();
        table.on_abandoned(move |cancel| {
            let _ = cancels.send(Frame::send(cancel).to_json().unwrap());
        });
        let me = me.into();
        (Self { me, out, table }, sent)
    }

    fn arrive(&self, text: &str) -> Result<(), CorrelationError> {
        let frame = Frame::from_json(text).unwrap();
        self.table.deliver(frame.into_envelope(&self.me).unwrap())
    }
}

#[async_trait]
impl Transport for Wire {
    async fn request(&self, request: AgentEnvelope) -> Result<ReplyStream, RemoteError> {
        let reply = self
            .table
            .expect(&request)
            .map_err(RemoteError::connection)?;
        let text = Frame::send(request)
            .to_json()
            .map_err(RemoteError::connection)?;
        self.out.send(text).map_err(RemoteError::connection)?;
        Ok(reply)
    }
}

/// What the relay hands to the receiver of a frame of `from`.
fn relay(text: &str, from: &AgentId) -> AgentEnvelope {
    let (to, frame) = Frame::from_json(text).unwrap().relayed(from).unwrap();
    let text = frame.to_json().unwrap();
    let frame = Frame::from_json(&text).unwrap();
    frame.into_envelope(&to).unwrap()
}

/// The text in which a reply of `envelope.from` reaches the requester.
fn back(envelope: AgentEnvelope) -> String {
    let from = envelope.from.clone();
    let text = Frame::reply(envelope).to_json().unwrap();
    let (_, frame) = Frame::from_json(&text).unwrap().relayed(&from).unwrap();
    frame.to_json().unwrap()
}

#[tokio::test]
async fn replies_in_reverse_order_reach_their_requesters() {
    let (wire, mut sent) = Wire::new("assistant");
    let graph = asking(RemoteNode::new("mail", wire.clone()).calling_as("assistant"));
    let runs = (0..20).map(|number| {
        let run = graph.run(says(number.to_string()));
        async move { (number, run.await.unwrap().finished().unwrap()) }
    });
    let answers = async {
        let mut requests = Vec::new();
        for _ in 0..20 {
            requests.push(relay(&sent.recv().await.unwrap(), &wire.me));
        }
        assert_eq!(wire.table.open(), 20);
        for request in requests.into_iter().rev() {
            assert_eq!(
                (request.from.as_str(), request.to.as_str()),
                ("assistant", "mail")
            );
            let text: String = request.payload().unwrap();
            let body = EnvelopeBody::Complete(format!("re: {text}").into());
            wire.arrive(&back(request.reply(body))).unwrap();
        }
    };
    let (states, ()) = tokio::join!(join_all(runs), answers);
    for (number, state) in states {
        assert_eq!(state.summary, format!("re: {number}"));
    }
    assert_eq!(wire.table.open(), 0);
}

#[tokio::test]
async fn what_is_no_reply_to_an_open_request_is_refused() {
    let table = Correlator::new();
    let request = AgentEnvelope::request("me", "mail", "list").unwrap();
    let id = request.request_id.clone().unwrap();
    let reply = table.expect(&request).unwrap();
    let body = || EnvelopeBody::Complete(json!("nothing"));

    let nameless = AgentEnvelope::new("mail", "me", body());
    assert_eq!(
        table.deliver(nameless),
        Err(CorrelationError::NoRequestId("mail".into()))
    );
    let unknown = request.reply(body()).with_request_id("r-0");
    assert_eq!(
        table.deliver(unknown),
        Err(CorrelationError::Unknown("r-0".into()))
    );
    let mut foreign = request.reply(body());
    foreign.from = "mallory".into();
    assert!(matches!(
        table.deliver(foreign),
        Err(CorrelationError::WrongAgent { .. })
    ));
    assert!(matches!(
        table.expect(&request),
        Err(CorrelationError::InUse(_))
    ));
    // None of these has done any harm.
    table.deliver(request.reply(body())).unwrap();
    assert_eq!(
        table.deliver(request.reply(body())),
        Err(CorrelationError::Late(id))
    );
    assert_eq!(reply.whole().await.unwrap(), "nothing");
}

#[tokio::test(start_paused = true)]
async fn an_answer_after_the_timeout_is_refused_and_the_agent_learns_it() {
    let (wire, mut sent) = Wire::new("assistant");
    let node = RemoteNode::new("mail", wire.clone()).timeout(Duration::from_secs(3));
    let error = asking(node).invoke(update()).await.unwrap_err();
    assert!(matches!(remote_error(&error), RemoteError::TimedOut(_)));
    assert_eq!(wire.table.open(), 0);

    let request = relay(&sent.recv().await.unwrap(), &wire.me);
    assert_eq!(request.timeout, Some(Duration::from_secs(3)));
    let cancel = relay(&sent.recv().await.unwrap(), &wire.me);
    assert_eq!(cancel.body, EnvelopeBody::Cancel);
    assert_eq!(cancel.request_id, request.request_id);

    let late = request.reply(EnvelopeBody::Complete(json!("at last")));
    assert_eq!(
        wire.arrive(&back(late)),
        Err(CorrelationError::Late(request.request_id.unwrap()))
    );
}

#[tokio::test]
async fn a_requester_that_goes_away_is_forgotten() {
    let table = Correlator::new();
    let cancelled: Arc<Mutex<Vec<RequestId>>> = Arc::default();
    let note = Arc::clone(&cancelled);
    table.on_abandoned(move |cancel| note.lock().unwrap().extend(cancel.request_id));
    let request = AgentEnvelope::request("me", "mail", "list").unwrap();

    // Dropped before any answer, and between two parts of it.
    drop(table.expect(&request).unwrap());
    assert_eq!(table.open(), 0);
    let second = AgentEnvelope::request("me", "mail", "list").unwrap();
    let mut reply = table.expect(&second).unwrap();
    let start = EnvelopeBody::StreamStart {
        stream_id: "s".into(),
        metadata: Value::Null,
    };
    table.deliver(second.reply(start)).unwrap();
    reply.next().await.unwrap().unwrap();
    drop(reply);
    let chunk = EnvelopeBody::StreamChunk {
        stream_id: "s".into(),
        chunk: json!(1),
    };
    assert!(matches!(
        table.deliver(second.reply(chunk)),
        Err(CorrelationError::Late(_))
    ));
    // A whole reply is not taken back.
    let third = AgentEnvelope::request("me", "mail", "list").unwrap();
    let reply = table.expect(&third).unwrap();
    let body = EnvelopeBody::Complete(json!(1));
    table.deliver(third.reply(body)).unwrap();
    drop(reply);
    let cancelled = cancelled.lock().unwrap().clone();
    assert_eq!(
        cancelled,
        [request.request_id.unwrap(), second.request_id.unwrap()]
    );
}

#[tokio::test]
async fn a_slow_reader_fails_alone_and_a_lost_connection_fails_all() {
    let table = Correlator::with_buffer(2);
    let ask = || {
        let request = AgentEnvelope::request("me", "mail", "list").unwrap();
        (table.expect(&request).unwrap(), request)
    };
    let (slow, request) = ask();
    let (other, _) = ask();
    let part = |body| table.deliver(request.reply(body));
    let chunk = || EnvelopeBody::StreamChunk {
        stream_id: "s".into(),
        chunk: json!(1),
    };
    part(EnvelopeBody::StreamStart {
        stream_id: "s".into(),
        metadata: Value::Null,
    })
    .unwrap();
    part(chunk()).unwrap();
    assert!(matches!(
        part(chunk()),
        Err(CorrelationError::Overrun(_, 2))
    ));
    assert!(matches!(part(chunk()), Err(CorrelationError::Late(_))));
    assert!(matches!(slow.whole().await, Err(RemoteError::Overrun(2))));
    assert_eq!(table.open(), 1);

    table.disconnected("the cable is out");
    let error = other.whole().await.unwrap_err();
    assert_eq!(error.to_string(), "connection: the cable is out");
    assert_eq!(table.open(), 0);
}

/// Runs the agents of `network` at the other end of `sent`: every request in a task of its own,
/// every envelope late by a random time, and cancelled requests stopped.
async fn turbulence(
    network: LocalNetwork,
    wire: Wire,
    mut sent: mpsc::UnboundedReceiver<String>,
    seed: u64,
) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut running = HashMap::new();
    while let Some(text) = sent.recv().await {
        let request = relay(&text, &wire.me);
        let id = request.request_id.clone().unwrap();
        if request.body == EnvelopeBody::Cancel {
            let task: tokio::task::JoinHandle<()> = running.remove(&id).unwrap();
            task.abort();
            continue;
        }
        let (network, wire) = (network.clone(), wire.clone());
        let mut random = random.fork();
        let task = tokio::spawn(async move {
            let mut reply = network.request(request).await.unwrap();
            while let Some(part) = reply.next().await {
                tokio::time::sleep(Duration::from_micros(random.u64(..2_000))).await;
                if wire.arrive(&back(part.unwrap())).is_err() {
                    return;
                }
            }
        });
        running.insert(id, task);
    }
}

/// Says every word of the request, on two streams at once.
struct Stutter;

impl AgentHandler for Stutter {
    fn handle(&self, request: AgentEnvelope) -> ReplyStream {
        let words: String = request.payload().unwrap();
        ReplyStream::produce(&request, |replies| async move {
            let low = replies.start(StreamContent::Text.metadata()).await;
            let high = replies.start(StreamContent::Text.metadata()).await;
            for word in words.split_inclusive(' ') {
                replies.chunk(&low, word).await?;
                replies.chunk(&high, &word.to_uppercase()).await?;
            }
            replies.end(high).await;
            replies.end(low).await;
            Ok(())
        })
    }
}

#[tokio::test(start_paused = true)]
async fn many_interleaved_streams_on_one_connection_all_arrive() {
    for seed in 0..5 {
        let (wire, sent) = Wire::new("assistant");
        let network = local("stutter", Stutter);
        let table = wire.table.clone();
        let other_end = tokio::spawn(turbulence(network, wire.clone(), sent, seed));
        let mut graph = StateGraph::<Assistant>::new();
        let node = RemoteNode::new("stutter", wire).timeout(Duration::from_secs(60));
        let both = |said: [String; 2]| {
            let [high, low] = said;
            update().summary(low).weather(high)
        };
        graph
            .add_node("ask", node.bind(question, both))
            .add_sequence(&["ask"]);
        let graph = graph.compile().unwrap();
        let runs = (0..50).map(|number| {
            let text = format!("number {number} says hello");
            let mut events = graph.run(says(text.clone())).stream(StreamMode::Messages);
            async move {
                // Each stream of the reply, as its watcher sees it.
                let mut seen: HashMap<String, String> = HashMap::new();
                while let Some(event) = events.next().await {
                    if let EventKind::MessageChunk { chunk, .. } = event.unwrap().kind {
                        *seen.entry(chunk.id.unwrap()).or_default() += &chunk.text;
                    }
                }
                let mut seen: Vec<_> = seen.into_values().collect();
                seen.sort();
                let state = events.finish().await.unwrap().finished().unwrap();
                assert_eq!(state.summary, text);
                assert_eq!(state.weather, text.to_uppercase());
                assert_eq!(seen, [text.to_uppercase(), text]);
            }
        });
        join_all(runs).await;
        assert_eq!(table.open(), 0);
        other_end.abort();
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_request_stops_the_agent_at_the_other_end() {
    let (agent, dropped) = silent();
    let (wire, sent) = Wire::new("assistant");
    tokio::spawn(turbulence(local("mail", agent), wire.clone(), sent, 0));
    let node = RemoteNode::new("mail", wire.clone());
    let graph = asking(node);
    let run = tokio::time::timeout(Duration::from_secs(1), graph.invoke(update()));
    assert!(run.await.is_err());
    settle(|| dropped.load(Ordering::SeqCst) == 1).await;
    assert_eq!(wire.table.open(), 0);
}

/// Waits until what other tasks do has come to pass.
async fn settle(done: impl Fn() -> bool) {
    let waited = async {
        while !done() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), waited)
        .await
        .expect("it never came to pass");
}
