//! A server of today over a copy of what a release has kept.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use langgraph_client::NewRun;
use langgraph_server::Retention;
use langgraph_upgrade::{Api, Fallible, Kept, KeptRun, Kind, Program, Storage, graphs, releases};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// How long a cron of a release that was kept a moment ago may take to be due, and its server to be taken for dead.
const PATIENCE: Duration = Duration::from_secs(90);

/// The server, with a client of it.
pub(crate) struct Opened {
    pub(crate) api: Api,
    pub(crate) kept: Kept,
    pub(crate) program: Arc<Program>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Opened {
    async fn serve(storage: &Storage, kept: Kept) -> Fallible<Self> {
        let program = Arc::new(Program::new("now"));
        // The release may be years old, and its events are to be read.
        let retention = Retention::default().events(Duration::MAX).runs_forever();
        let server = storage.server().await?.retention(retention);
        let server = server.drain_time(Duration::from_secs(1));
        let server = graphs::serve(server, &program)?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let api = Api::new(&format!("http://{}", listener.local_addr()?))?;
        let (stop, stopped) = oneshot::channel();
        let stopped = async { stopped.await.unwrap_or_default() };
        let serving = tokio::spawn(async move {
            let served = server.serve_until(listener, stopped);
            served.await.unwrap();
        });
        Ok(Self {
            api,
            kept,
            program,
            stop,
            serving,
        })
    }

    /// Ends the server: from then on it does nothing to its rows.
    async fn close(self) -> Fallible<()> {
        drop(self.stop);
        drop(self.api);
        Ok(self.serving.await?)
    }

    /// A line that a node of the release has written.
    pub(crate) fn before(&self, line: &str) -> String {
        format!("{line} by {}", self.kept.program)
    }

    /// The run of a thread.
    pub(crate) fn run(&self, thread: &str) -> &KeptRun {
        &self.kept.runs[thread]
    }

    /// Waits for the end of a run, and returns what its thread has done.
    pub(crate) async fn done(&self, thread: &str, run: &str) -> Fallible<Vec<String>> {
        lines(&self.api.client.join(thread, run).await?)
    }

    /// Answers the question of a thread, and returns the values at the end.
    pub(crate) async fn answer(&self, thread: &str, graph: &str, answer: Value) -> Fallible<Value> {
        let run = NewRun::new(graph).resume(answer);
        Ok(self.api.client.wait(Some(thread), &run).await?)
    }

    /// Waits for the end of the newest run of a thread, and returns what the thread has done.
    pub(crate) async fn newest(&self, thread: &str) -> Fallible<Vec<String>> {
        let runs = self.api.client.runs(thread).await?;
        let run = runs[0]["run_id"].as_str().ok_or("no run")?;
        self.done(thread, run).await
    }
}

/// What a state says was done.
pub(crate) fn lines(values: &Value) -> Fallible<Vec<String>> {
    serde_json::from_value(values["done"].clone()).map_err(|_| format!("no lines: {values}").into())
}

/// Goes on with a copy of each release.
pub(crate) async fn each(kind: Kind, go_on: impl AsyncFn(&Opened) -> Fallible<()>) {
    let releases = releases().unwrap();
    assert!(!releases.is_empty(), "no release was kept");
    for release in releases {
        let gone_on = tokio::time::timeout(PATIENCE, one(&release, kind, &go_on));
        let late = |_| Err(format!("not within {PATIENCE:?}").into());
        if let Err(error) = gone_on.await.unwrap_or_else(late) {
            panic!("{}, {kind:?}: {error}", release.display());
        }
    }
}

async fn one(
    release: &Path,
    kind: Kind,
    go_on: &impl AsyncFn(&Opened) -> Fallible<()>,
) -> Fallible<()> {
    static COPIES: AtomicUsize = AtomicUsize::new(0);
    let copy = COPIES.fetch_add(1, Ordering::Relaxed);
    let folder = tempfile::tempdir()?;
    let schema = format!("upgrade_{}_{copy}", std::process::id());
    let kept = Kept::read(release, kind)?;
    let storage = Storage::copy(release, kind, folder.path(), &schema).await?;
    let opened = Opened::serve(&storage, kept).await?;
    go_on(&opened).await?;
    opened.close().await?;
    // What the server does last may hold a table.
    if let Err(error) = storage.remove().await {
        eprintln!("the schema {schema} is left over: {error}");
    }
    Ok(())
}
