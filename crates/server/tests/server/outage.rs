//! A database that goes away for a while costs time, and nothing else.

use std::time::{Duration, Instant};

use crate::support::Api;
use langgraph::State;
use langgraph_server::Server;
use reqwest::Method;
use serde_json::json;

#[derive(State, Clone, Debug, Default)]
struct Steps {
    #[reducer(append)]
    done: Vec<usize>,
}

enum Next {
    Step,
    Stop,
}

async fn step(steps: &Steps) -> StepsUpdate {
    tokio::time::sleep(Duration::from_millis(100)).await;
    StepsUpdate::default().done(vec![steps.done.len()])
}

fn next(steps: &Steps) -> Next {
    if steps.done.len() < 20 {
        Next::Step
    } else {
        Next::Stop
    }
}

fn graph() -> langgraph::CompiledStateGraph<Steps> {
    langgraph::graph! {
        START => step => match next {
            Next::Step => step,
            Next::Stop => END,
        };
    }
    .compile()
    .unwrap()
}

/// Starts four runs, two of them with stored events, and returns their paths.
async fn started(api: &Api) -> Vec<String> {
    let mut runs = Vec::new();
    for resumable in [true, false, true, false] {
        let thread = api.thread().await;
        let body = json!({"assistant_id": "steps", "input": {}, "stream_resumable": resumable});
        let path = format!("/threads/{thread}/runs");
        let run = api.post(&path, body).await;
        runs.push(format!("{path}/{}", run["run_id"].as_str().unwrap()));
    }
    runs
}

async fn all_succeed(api: &Api, runs: &[String]) {
    let steps: Vec<usize> = (0..20).collect();
    for run in runs {
        let result = api.get(&format!("{run}/join")).await;
        assert_eq!(result, json!({"done": steps}), "{run}");
        assert_eq!(api.get(run).await["status"], "success", "{run}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_another_process_locks_for_15_seconds_fails_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let server = Server::new().file(&file).lease(Duration::from_secs(3));
    let api = Api::serve(server.graph("steps", graph())).await;
    let runs = started(&api).await;
    tokio::time::sleep(Duration::from_millis(500)).await;

    let locking = std::thread::spawn(move || {
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection.busy_timeout(Duration::from_secs(10)).unwrap();
        connection.execute_batch("BEGIN IMMEDIATE").unwrap();
        std::thread::sleep(Duration::from_secs(15));
        connection.execute_batch("ROLLBACK").unwrap();
    });
    while !locking.is_finished() {
        let begun = Instant::now();
        let answer = api.request(Method::GET, "/ok").send().await.unwrap();
        assert_eq!(answer.status(), 200);
        assert!(
            begun.elapsed() < Duration::from_millis(500),
            "{:?}",
            begun.elapsed()
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    all_succeed(&api, &runs).await;
}

#[tokio::test]
async fn what_cannot_be_read_now_is_not_said_to_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let api = Api::serve(Server::new().file(&file).graph("steps", graph())).await;
    let made = api.post("/assistants", json!({"graph_id": "steps"})).await;
    let path = format!("/assistants/{}", made["assistant_id"].as_str().unwrap());
    let connection = rusqlite::Connection::open(&file).unwrap();
    let rename = |from: &str, to: &str| {
        let sql = format!("ALTER TABLE {from} RENAME TO {to}");
        connection.execute_batch(&sql).unwrap();
    };
    rename("served_assistants", "away");
    let (status, refused) = api.call(Method::GET, &path, json!({})).await;
    assert_eq!(status, 500, "{refused}");
    rename("away", "served_assistants");
    assert_eq!(api.call(Method::GET, &path, json!({})).await.0, 200);
}

#[cfg(feature = "postgres")]
mod postgres {
    use std::sync::Arc;

    use langgraph_postgres::{Database, Options};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::watch;

    use super::*;

    /// A proxy before PostgreSQL that can be cut.
    struct Proxy {
        url: String,
        open: Arc<watch::Sender<bool>>,
    }

    impl Proxy {
        async fn start(url: &str) -> Self {
            let (before, rest) = url.rsplit_once('@').map_or(("", url), |(a, b)| (a, b));
            let rest = rest.trim_start_matches("postgres://");
            let (target, database) = rest.split_once('/').unwrap();
            let target = if target.contains(':') {
                target.to_owned()
            } else {
                format!("{target}:5432")
            };
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let own = listener.local_addr().unwrap();
            let user = before.trim_start_matches("postgres://");
            let at = if user.is_empty() { "" } else { "@" };
            let open = Arc::new(watch::Sender::new(true));
            let state = Arc::clone(&open);
            tokio::spawn(async move {
                while let Ok((mut client, _)) = listener.accept().await {
                    if !*state.borrow() {
                        continue;
                    }
                    let (target, mut state) = (target.clone(), state.subscribe());
                    tokio::spawn(async move {
                        let mut server = TcpStream::connect(target).await.unwrap();
                        let copied = tokio::io::copy_bidirectional(&mut client, &mut server);
                        tokio::select! {
                            _ = copied => {}
                            _ = state.wait_for(|open| !open) => {}
                        }
                    });
                }
            });
            Self {
                url: format!("postgres://{user}{at}{own}/{database}"),
                open,
            }
        }

        async fn cut(&self, time: Duration) {
            self.open.send_replace(false);
            tokio::time::sleep(time).await;
            self.open.send_replace(true);
        }
    }

    async fn outage(time: Duration) {
        let url = std::env::var("DATABASE_URL");
        let url = url.expect("needs PostgreSQL: run it with tests/servers.sh");
        let proxy = Proxy::start(&url).await;
        let schema = format!("outage_{}", uuid::Uuid::new_v4().simple());
        let options = Options::default().schema(schema).max_connections(8);
        let database = Database::connect_with(&proxy.url, options).await.unwrap();
        let server = Server::new()
            .postgres(database)
            .lease(Duration::from_secs(3));
        let api = Api::serve(server.graph("steps", graph())).await;
        let runs = started(&api).await;
        tokio::time::sleep(Duration::from_millis(700)).await;
        proxy.cut(time).await;
        let ended = tokio::time::timeout(Duration::from_secs(60), all_succeed(&api, &runs));
        ended.await.expect("a run hangs");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_blink_of_the_database_fails_no_run() {
        outage(Duration::from_secs(1)).await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_database_that_is_away_for_12_seconds_fails_no_run() {
        outage(Duration::from_secs(12)).await;
    }
}

#[tokio::test]
async fn a_server_that_drains_takes_up_no_run_and_says_where_the_others_are() {
    let server = Server::new().graph("steps", graph());
    let serving = server.start().await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let api = Api::at(format!("http://{}", listener.local_addr().unwrap()));
    let router = serving.router();
    tokio::spawn(async move { axum::serve(listener, router).await });
    assert_eq!(api.get("/ready").await, json!({"ready": true}));

    let thread = api.thread().await;
    let path = format!("/threads/{thread}/runs/wait");
    let body = json!({"assistant_id": "steps", "input": {}});
    let (waiting, ()) = tokio::join!(api.send(Method::POST, &path, body.clone()), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        serving.drain(Duration::from_secs(5)).await;
    });
    assert_eq!(waiting.status(), 503);
    let join = waiting.headers()["location"].to_str().unwrap().to_owned();
    assert!(join.ends_with("/join"), "{join}");
    assert!(waiting.text().await.unwrap().contains("the run goes on"));

    let runs = format!("/threads/{thread}/runs");
    for path in [&*runs, &*path, "/runs", "/runs/wait", "/runs/stream"] {
        let answer = api.send(Method::POST, path, body.clone()).await;
        assert_eq!(answer.status(), 503, "{path}");
        assert!(answer.headers().contains_key("retry-after"), "{path}");
    }
    assert_eq!(api.get(&runs).await.as_array().unwrap().len(), 1);
    assert_eq!(api.call(Method::GET, "/ready", json!({})).await.0, 503);
    assert_eq!(api.call(Method::GET, "/ok", json!({})).await.0, 200);
}

#[tokio::test]
async fn a_run_that_a_drained_server_puts_back_is_in_its_first_attempt() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    let first = Server::new().file(&file).graph("steps", graph());
    let first = first.start().await.unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let api = Api::at(format!("http://{}", listener.local_addr().unwrap()));
    let router = first.router();
    let serving = tokio::spawn(async move { axum::serve(listener, router).await });
    let thread = api.thread().await;
    let body = json!({"assistant_id": "steps", "input": {}, "stream_resumable": true});
    let run = api.post(&format!("/threads/{thread}/runs"), body).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    first.drain(Duration::from_secs(5)).await;
    serving.abort();
    drop(first);

    let api = Api::serve(Server::new().file(&file).graph("steps", graph())).await;
    let path = format!("/threads/{thread}/runs/{}", run["run_id"].as_str().unwrap());
    let values = api.get(&format!("{path}/join")).await;
    assert_eq!(values["done"].as_array().unwrap().len(), 20);
    let request = api.client.get(format!("{}{path}/stream", api.url));
    let answer = request.header("last-event-id", "-1").send().await.unwrap();
    let text = answer.text().await.unwrap();
    let attempts: Vec<_> = text.lines().filter(|l| l.contains("\"attempt\"")).collect();
    assert_eq!(attempts.len(), 2, "{text}");
    assert!(
        attempts.iter().all(|line| line.contains("\"attempt\":1")),
        "{text}"
    );
}

#[tokio::test]
async fn a_file_that_another_process_locks_at_start_stops_no_other_task() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    // Its tables are there.
    let first = Server::new().file(&file).graph("steps", graph());
    drop(first.start().await.unwrap());

    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    let second = Server::new().file(&file).graph("steps", graph());
    let mut start = std::pin::pin!(second.start());
    // There is one thread for tasks: a call that waits for the file on it would never end.
    let at_work = tokio::time::timeout(Duration::from_millis(300), start.as_mut()).await;
    assert!(at_work.is_err(), "the server has started without the file");
    connection.execute_batch("COMMIT").unwrap();
    start.await.unwrap();
}
