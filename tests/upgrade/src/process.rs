//! A process that serves the graphs until it is killed.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use langgraph_server::Limits;
use tokio::net::TcpListener;

use crate::{Fallible, Program, Storage, graphs};

/// A process with a server, which is killed when this is dropped.
pub(crate) struct Process {
    child: Child,
    pub(crate) url: String,
}

impl Process {
    /// Starts this program again, as the server of a release.
    pub(crate) fn start(storage: &Storage, program: &str) -> Fallible<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["serve", &storage.argument(), program])
            .stdout(Stdio::piped())
            .spawn()?;
        let out = child.stdout.take().ok_or("it has no output")?;
        let mut process = Self {
            child,
            url: String::new(),
        };
        BufReader::new(out).read_line(&mut process.url)?;
        process.url.truncate(process.url.trim_end().len());
        Ok(process)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves the graphs, one run at a time, and prints the address. The map never ends, so that what comes behind it stays
/// in the queue.
pub async fn serve(storage: &Storage, program: &str) -> Fallible<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    let program = Arc::new(Program::new(program).holding());
    let server = storage.server().await?.limits(Limits::default().runs(1));
    let server = graphs::serve(server.lease(Duration::from_secs(3)), &program)?;
    Ok(server.serve_on(listener).await?)
}
