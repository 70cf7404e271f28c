//! A relay between agents: `agora [ADDRESS]`, by default on `127.0.0.1:7077`.
//!
//! With `AGORA_CERTIFICATE` and `AGORA_KEY`, the files of a certificate and its key, it speaks TLS
//! (feature `rustls`). `AGORA_TOKENS` lists the agents that may register, as `mail=SECRET,assistant=SECRET`. Without it,
//! every agent may. A line every minute has the counters; so has the last one, after
//! Ctrl-C.

use std::time::Duration;

use langgraph_relay::{Listen, Relay, RelayOptions};
use tokio::net::TcpListener;

type Failure = Box<dyn std::error::Error>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
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
    let address = listener.local_addr()?;
    let relay = Relay::new(options);
    let certificate = std::env::var("AGORA_CERTIFICATE");
    let key = std::env::var("AGORA_KEY");
    match (certificate, key) {
        (Ok(certificate), Ok(key)) => {
            let listener = encrypted(listener, &certificate, &key)?;
            println!("agora listens at wss://{address}/ws");
            serve(&relay, listener).await
        }
        (Err(_), Err(_)) => {
            println!("agora listens at ws://{address}/ws");
            serve(&relay, listener).await
        }
        _ => Err("AGORA_CERTIFICATE and AGORA_KEY belong together".into()),
    }
}

#[cfg(feature = "rustls")]
fn encrypted(listener: TcpListener, certificate: &str, key: &str) -> Result<impl Listen, Failure> {
    let read = |file: &str| std::fs::read(file).map_err(|error| format!("`{file}`: {error}"));
    let listener = langgraph_relay::TlsListener::new(listener, &read(certificate)?, &read(key)?);
    Ok(listener?)
}

#[cfg(not(feature = "rustls"))]
fn encrypted(_: TcpListener, _: &str, _: &str) -> Result<TcpListener, Failure> {
    Err("AGORA_CERTIFICATE: this program is built without the feature `rustls`".into())
}

async fn serve(relay: &Relay, listener: impl Listen) -> Result<(), Failure> {
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
