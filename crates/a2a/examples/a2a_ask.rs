//! A graph whose only node is an A2A agent, in any language: it shows what the agent writes, and
//! passes its questions on to you. Run it with
//! `cargo run -p langgraph-a2a --example a2a_ask -- http://127.0.0.1:8080 story`.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph::stream::EventKind;
use langgraph_a2a::A2aClient;
use langgraph_remote::RemoteNode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let agents = A2aClient::new();
    let asked = ask(agents.clone()).await;
    // A dropped request is cancelled at its agent.
    agents.settled().await;
    match asked {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn ask(agents: A2aClient) -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, question, rest @ ..] = arguments.as_slice() else {
        return Err("expected: URL QUESTION [SECONDS]".into());
    };
    let seconds = rest.first().map_or(Ok(60.0), |seconds| seconds.parse())?;
    let agent = RemoteNode::new("agent", agents.agent("agent", url))
        .timeout(Duration::from_secs_f64(seconds))
        .bind(|text: &String| Some(text.clone()), |reply: String| reply);
    let mut graph = StateGraph::<String>::new();
    graph.add_node("agent", agent).add_sequence(&["agent"]);
    let graph = graph.compile()?.checkpointer(Arc::new(MemorySaver::new()));

    let thread = graph.thread("question");
    let mut run = thread.run(question.clone());
    loop {
        let mut events = run.stream(StreamMode::Messages);
        let mut streamed = false;
        while let Some(event) = events.next().await {
            if let EventKind::MessageChunk { chunk, .. } = event?.kind {
                print!("{}", chunk.text);
                std::io::stdout().flush()?;
                streamed = true;
            }
        }
        if streamed {
            println!();
        }
        let outcome = events.finish().await?;
        let Some(asked) = outcome.interrupts().first() else {
            println!("reply: {}", outcome.finished()?);
            return Ok(());
        };
        match asked.payload.as_str() {
            Some(text) => println!("the agent asks: {text}"),
            None => println!("the agent asks: {}", asked.payload),
        }
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        run = thread.resume(&asked.id, answer.trim());
    }
}
