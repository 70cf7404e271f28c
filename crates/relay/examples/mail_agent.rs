//! A graph that other processes ask: it sends and lists mail of a mailbox in memory.
//! It needs the relay. Run it with `cargo run -p langgraph-relay --example mail_agent`.

mod office;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    office::mail_agent(&office::address()).await
}
