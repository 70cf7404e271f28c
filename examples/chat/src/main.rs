//! A chat service: an agent behind HTTP, with its threads in a SQLite file.
//! It shows streaming to several clients, approval, cancelling, 409 for a second run, forks, recovery
//! after a crash, and a graceful stop. Run it with `cargo run -p langgraph-chat-service`.
//!
//! ```console
//! curl -N localhost:3000/threads/t/messages --json '{"text": "delete notes.txt"}'
//! curl localhost:3000/threads/t
//! curl -N localhost:3000/threads/t/answers --json '{"question": "…", "decision": {"type": "approve"}}'
//! ```

mod agent;
mod model;
mod service;

use std::error::Error;
use std::future::IntoFuture as _;
use std::time::Duration;

use axum::serve::ListenerExt as _;
use langgraph_http::{Replay, ReplayOptions};
use langgraph_sqlite::SqliteSaver;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// How long a stop waits for the runs. What is not done by then is recovered at the next start.
const STOP: Duration = Duration::from_secs(20);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let database = arguments.next().unwrap_or_else(|| "chat.db".to_owned());
    let address = arguments
        .next()
        .unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    // A run without a reader stops after this time: the client has gone away.
    let grace = arguments.next().map_or(Ok(10_000), |text| text.parse())?;

    let graph = agent::graph(SqliteSaver::open(&database)?)?;
    let options = ReplayOptions::default().grace(Duration::from_millis(grace));
    let replay = Replay::new(options);
    // Runs of an earlier process. A new run holds a lease, so that it is not taken for one of them.
    let recovering = graph.clone();
    tokio::spawn(async move {
        if let Err(error) = service::recover(&recovering).await {
            eprintln!("threads cannot be recovered: {error}");
        }
    });

    let listener = TcpListener::bind(&address).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let mut terminate = signal(SignalKind::terminate())?;
    let router = service::router(graph, replay.clone());
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    // Without it, an event waits until the one before it is acknowledged.
    let listener = listener.tap_io(|connection| {
        let _ = connection.set_nodelay(true);
    });
    let server = axum::serve(listener, router).with_graceful_shutdown(async {
        // An error means that it cannot be stopped any more: it stops.
        let _ = stopped.await;
    });
    let server = tokio::spawn(server.into_future());
    tokio::select! {
        _ = terminate.recv() => {}
        _ = tokio::signal::ctrl_c() => {}
    }
    // No new requests from here on. Those that stream end with their runs.
    drop(stop);
    println!("stopping, {} runs are under way", replay.running());
    let ended = async {
        replay.idle().await;
        server.await
    };
    if let Ok(served) = tokio::time::timeout(STOP, ended).await {
        served??;
    }
    println!("stopped");
    Ok(())
}
