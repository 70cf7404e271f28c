//! Servers on one database, and what rivals ask of their threads.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use langgraph_client::{Client as Http, ClientError, NewRun};
use langgraph_server::Server;
use serde_json::{Value, json};

use crate::history::{Answer, Client, Ending, Operation, now};
use crate::itself;
use crate::storage::Storage;

/// A process with a server, which ends with this value.
pub(crate) struct Process {
    child: Child,
    pub(crate) url: String,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a server over a storage.
pub(crate) fn start(storage: &Storage) -> Process {
    let mut child = itself()
        .arg("process-that-serves")
        .arg(storage.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process starts");
    let mut url = String::new();
    let out = child.stdout.take().expect("it is piped");
    BufReader::new(out)
        .read_line(&mut url)
        .expect("it prints its address");
    Process {
        child,
        url: url.trim().to_owned(),
    }
}

/// The process of a server.
pub(crate) fn process(storage: &str) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.expect("a runtime starts").block_on(async {
        let database = Storage::parse(storage).database().await.expect("it opens");
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("there is a port");
        println!(
            "http://{}",
            listener.local_addr().expect("it has an address")
        );
        let server = Server::new()
            .postgres(database)
            .graph("ledger", crate::ledger::graph());
        server.serve_on(listener).await.expect("it serves");
    });
}

const DONE: Ending = Ending::Answered(Answer::Done);

/// How an operation ended whose answer has the values of a thread.
fn entries(values: &Value) -> Ending {
    if values.get("__error__").is_some() {
        // Its thread was deleted, say, before or after its first record.
        return Ending::Unknown;
    }
    let entries = values["entries"].as_array().into_iter().flatten();
    Ending::Answered(Answer::Entries(entries.filter_map(Value::as_u64).collect()))
}

/// A client of a server.
#[derive(Clone)]
pub(crate) struct Served(Http);

impl Served {
    pub(crate) fn new(url: &str) -> Self {
        Self(Http::new(url).expect("it is an address"))
    }

    /// Does something to a thread.
    pub(crate) async fn operate(
        &self,
        thread: &str,
        entry: u64,
        random: &mut fastrand::Rng,
        client: &mut Client,
    ) -> Result<(), String> {
        let values = json!({"entries": [entry]});
        let dice = random.u8(..100);
        let began = now();
        let (operation, answer) = match dice {
            0..40 => {
                let strategy = if random.bool() { "reject" } else { "enqueue" };
                let run = NewRun::new("ledger").input(values).create_thread();
                let run = run.with("multitask_strategy", strategy);
                (
                    Operation::Add(entry),
                    self.0
                        .wait(Some(thread), &run)
                        .await
                        .map(|values| entries(&values)),
                )
            }
            40..55 => {
                let update = json!({"values": values, "as_node": "look"});
                let updated = self.0.update_state(thread, update).await;
                (Operation::Add(entry), updated.map(|_| DONE))
            }
            55..95 => {
                let state = self.0.state(thread).await;
                (
                    Operation::Read,
                    state.map(|state| entries(&state["values"])),
                )
            }
            _ => (
                Operation::Delete,
                self.0.delete_thread(thread).await.map(|_| DONE),
            ),
        };
        let status = match &answer {
            Err(ClientError::Refused { status, .. }) => *status,
            _ => 200,
        };
        let ending = match (&operation, answer) {
            // A run that was cancelled has no entries to show.
            (Operation::Add(entry), Ok(Ending::Answered(Answer::Entries(entries))))
                if !entries.contains(entry) =>
            {
                Ending::Unknown
            }
            (_, Ok(ending)) => ending,
            (Operation::Read, Err(_)) if status == 404 => {
                Ending::Answered(Answer::Entries(Vec::new()))
            }
            // The thread was removed, and the entry with it if it was there.
            (Operation::Add(_), Err(_)) if status == 404 => Ending::Unknown,
            (_, Err(_)) if status == 404 || status == 409 => Ending::Refused,
            (_, Err(error)) => return Err(format!("thread `{thread}`, {operation:?}: {error:?}")),
        };
        client.record(thread, began, operation, ending);
        Ok(())
    }
}
