//! The relay of the scenario, until it is stopped. `scenario` starts all three programs at once.
//! Run it with `cargo run -p langgraph-relay --example agora`, then the mail agent, then the
//! assistant.

mod office;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    office::agora(&office::address()).await
}
