//! A graph as an A2A agent that any A2A client can ask: it writes, asks before it sends, and counts.
//! Run it with `cargo run -p langgraph-a2a --example a2a_agent`, or with an address after `--`. Its
//! card is at `/.well-known/agent-card.json`; `a2a_ask` is a client.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::MessageChunk;
use langgraph::prelude::*;
use langgraph_a2a::A2aServer;
use langgraph_remote::serve;
use tokio::net::TcpListener;

#[derive(State, Clone, Debug, Default)]
struct Letter {
    request: String,
    #[reducer(add)]
    requests: u32,
    reply: String,
}

/// Counts the requests of a conversation.
#[node]
async fn count(_: &Letter) -> LetterUpdate {
    LetterUpdate::default().requests(1)
}

/// Writes a story word by word, asks before it sends a letter, takes its time, or shouts.
#[node]
async fn write(state: &Letter, cx: &Context) -> Result<LetterUpdate, NodeError> {
    let reply = match state.request.split_once(' ') {
        Some(("send", letter)) => {
            let sure: String = cx.interrupt("sure", &format!("Send `{letter}`?"))?;
            if sure == "yes" {
                format!("sent: {letter}")
            } else {
                "not sent".to_owned()
            }
        }
        _ => match state.request.as_str() {
            "story" => {
                let words = ["Once ", "upon ", "a ", "time."];
                for word in words {
                    cx.emit_chunk(MessageChunk::text(word).with_id("story"))
                        .await;
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
                words.concat()
            }
            "wait" => std::future::pending().await,
            "fail" => return Err(NodeError::msg("there is no paper left")),
            text => format!("{} ({})", text.to_uppercase(), state.requests),
        },
    };
    Ok(LetterUpdate::default().reply(reply))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1);
    let address = address.unwrap_or_else(|| "127.0.0.1:8080".to_owned());
    let graph = graph! {
        type State = Letter;

        START => count => write => END;
    };
    let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));
    let agent = serve(
        graph,
        |request: String| LetterUpdate::default().request(request),
        |state| state.reply,
    );
    let mut server = A2aServer::new("writer", agent.conversations().streamed())
        .description("Writes stories and letters.")
        .example("story")
        .example("send a letter to Ada")
        .webhooks_of_own_network();
    if let Ok(token) = std::env::var("A2A_TOKEN") {
        server = server.token("client", token);
    }
    let listener = TcpListener::bind(&address).await?;
    println!("http://{}", listener.local_addr()?);
    Ok(server.serve(listener).await?)
}
