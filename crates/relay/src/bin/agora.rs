//! A relay between agents: `agora [ADDRESS]`, by default on `127.0.0.1:7077`.
//!
//! `AGORA_TOKENS` lists the agents that may register, as `mail=SECRET,assistant=SECRET`. Without it,
//! everyone may. A line every minute says what the relay carries; so does the last one, after
//! Ctrl-C.

use std::time::Duration;

use langgraph_relay::{Relay, RelayOptions};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1);
    let address = address.unwrap_or_else(|| "127.0.0.1:7077".to_owned());
    let mut options = RelayOptions::default();
    if let Ok(tokens) = std::env::var("AGORA_TOKENS") {
        for entry in tokens.split(',') {
            let (id, token) = entry
                .split_once('=')
                .ok_or("AGORA_TOKENS: expected `AGENT=TOKEN,AGENT=TOKEN`")?;
            options = options.token(id, token);
        }
    }
    let listener = TcpListener::bind(&address).await?;
    println!("agora listens at ws://{}/ws", listener.local_addr()?);
    let relay = Relay::new(options);
    let mut minute = tokio::time::interval(Duration::from_secs(60));
    minute.tick().await;
    let serving = relay.serve(listener);
    tokio::pin!(serving);
    loop {
        tokio::select! {
            ended = &mut serving => return Ok(ended?),
            _ = minute.tick() => println!("agora {}", relay.metrics()),
            stopped = tokio::signal::ctrl_c() => {
                stopped?;
                println!("agora {}", relay.metrics());
                return Ok(());
            }
        }
    }
}
