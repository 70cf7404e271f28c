//! Serves three agents of the gallery, and the Studio at `/`, without a key and without a network: `research_agent`,
//! `support_agent` and `coding_agent`, which mends a folder once: its tests pass from then on.
//! `cargo run -p langgraph-server --example serve_agents` listens on 127.0.0.1:2024, or on `PORT`. With `PACE=100`,
//! the models take 100 milliseconds for a word.

#[path = "../../../examples/agents/examples/coding_agent.rs"]
#[allow(dead_code, reason = "a program of its own, with a `main`")]
mod coding_agent;
#[path = "graphs/messages.rs"]
mod messages;
#[path = "../../../examples/agents/examples/research_agent.rs"]
#[allow(dead_code, reason = "a program of its own, with a `main`")]
mod research_agent;
#[path = "../../../examples/agents/examples/support_agent.rs"]
#[allow(dead_code, reason = "a program of its own, with a `main`")]
mod support_agent;

use langgraph_server::Server;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("coding-agent-{}", std::process::id()));
    coding_agent::scratch(&folder)?;
    let file = std::env::var("LANGGRAPH_DB").unwrap_or_else(|_| "langgraph-threads.db".to_owned());
    println!("threads in {file}, code in {}", folder.display());

    let port = std::env::var("PORT").unwrap_or_else(|_| "2024".to_owned());
    let address = format!("127.0.0.1:{port}");
    println!("http://{address}");
    let served = Server::new()
        .file(file)
        .show_node_errors()
        .graph("research_agent", messages::chat(research_agent::agent()?))
        .graph("support_agent", messages::chat(support_agent::agent()?))
        .graph(
            "coding_agent",
            messages::chat(coding_agent::agent(&folder)?),
        )
        .serve(address)
        .await;
    std::fs::remove_dir_all(&folder)?;
    Ok(served?)
}
