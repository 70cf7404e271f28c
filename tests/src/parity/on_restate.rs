//! Cases on a Restate server: tasks as calls of its services, threads as its virtual objects.
//!
//! What a thread on Restate takes are inputs, answers and the command to go on. The rest is done beside it,
//! on the same saver: reads, updates, forks, streams, and runs that begin at an older checkpoint or with
//! options of their own other than a step limit.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use langgraph::checkpoint::Durability;
use langgraph::interrupt::Interrupt;
use langgraph::{CompiledStateGraph, State};
use langgraph_restate::{Endpoint, RemoteThread, Restate, RestateError, ThreadState};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpSocket};
use tokio::task::AbortHandle;

use super::state::{Dynamic, DynamicUpdate, NO_OBJECT};

/// A Restate server.
#[derive(Clone, Debug)]
pub struct Server {
    pub(super) restate: Restate,
    ingress: String,
    admin: String,
    /// Cases register one after the other: each changes the same entry of the server, which attempts such changes only
    /// for a while.
    registering: Arc<tokio::sync::Mutex<()>>,
}

impl Server {
    pub(super) fn open() -> Result<Self, String> {
        let ingress = crate::variable("RESTATE_URL")?;
        let restate = Restate::at(&ingress).map_err(|error| error.to_string())?;
        Ok(Self {
            restate,
            ingress,
            admin: crate::variable("RESTATE_ADMIN_URL")?,
            registering: Arc::default(),
        })
    }
}

/// The services of one case.
#[derive(Debug, Default)]
pub(super) struct Services {
    endpoint: Mutex<Endpoint>,
    graph: Mutex<String>,
}

/// Listens at any port. Without `TCP_NODELAY` calls take longer.
fn listen() -> std::io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.set_nodelay(true)?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    socket.listen(64)
}

async fn post(url: &str, body: &str) -> Result<(), String> {
    let posted = tokio::process::Command::new("curl")
        .args(["-sS", "--fail-with-body", "--json", body, url])
        .output()
        .await
        .map_err(|error| format!("curl: {error}"))?;
    if posted.status.success() {
        return Ok(());
    }
    let why = [posted.stdout, posted.stderr].concat();
    Err(String::from_utf8_lossy(&why).into_owned())
}

impl Services {
    fn change(&self, change: impl FnOnce(Endpoint) -> Endpoint) {
        let mut endpoint = self.endpoint.lock().unwrap_or_else(PoisonError::into_inner);
        *endpoint = change(std::mem::take(&mut *endpoint));
    }

    /// Serves the tasks of a graph. The cases expect that all tasks of a superstep begin.
    pub(super) fn add_tasks(&self, graph: &CompiledStateGraph<Dynamic>, server: &Server) {
        let mut any = self.graph.lock().unwrap_or_else(PoisonError::into_inner);
        any.clone_from(&graph.topology().name);
        self.change(|endpoint| endpoint.slots(64).tasks(graph, &server.restate));
    }

    /// Serves the threads of a graph, whose runs have this step limit.
    pub(super) fn add_threads(&self, graph: &CompiledStateGraph<Dynamic>, limit: usize) {
        let options =
            move |run: langgraph::run::Run<Dynamic>| run.limit(limit).durability(Durability::Sync);
        self.change(|endpoint| endpoint.threads_with(graph, options));
    }

    /// Serves what was added, and registers it.
    pub(super) async fn open(&self, server: &Server) -> Result<AbortHandle, String> {
        let text = |error: &dyn std::error::Error| error.to_string();
        let listener = listen().map_err(|error| text(&error))?;
        let address = listener.local_addr().map_err(|error| text(&error))?;
        let mut endpoint = Endpoint::default();
        self.change(|added| {
            endpoint = added;
            Endpoint::default()
        });
        let served = tokio::spawn(endpoint.serve_on(listener)).abort_handle();
        // The port may be that of an earlier case: unless it is forced, Restate takes the services for known.
        let deployment = json!({"uri": format!("http://{address}"), "force": true}).to_string();
        {
            let _alone = server.registering.lock().await;
            post(&format!("{}/deployments", server.admin), &deployment).await?;
        }
        // The ingress learns it a moment later, or when it polls, every 10 s.
        let notes = format!("{}/{}.notes/any/get", server.ingress, self.any());
        let since = Instant::now();
        while let Err(why) = post(&notes, "null").await {
            if since.elapsed() > Duration::from_secs(20) {
                return Err(why);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(served)
    }

    /// Returns the name of a graph with tasks.
    fn any(&self) -> String {
        let graph = self.graph.lock().unwrap_or_else(PoisonError::into_inner);
        graph.clone()
    }
}

/// What a thread on Restate is asked.
#[derive(Debug)]
pub(super) enum Ask {
    Start(DynamicUpdate),
    Proceed,
    Answer(Value),
    /// Answers by the ids of interrupts.
    Resume(Vec<(String, Value)>),
}

/// How a run on Restate ended.
pub(super) struct Ended {
    pub(super) state: Dynamic,
    pub(super) interrupts: Vec<Interrupt>,
}

/// Runs a thread, and returns how it stands, or its error in the format's words.
pub(super) async fn ask(
    thread: &RemoteThread,
    ask: Ask,
    mut initial: Dynamic,
) -> Result<Ended, Value> {
    let answered = match ask {
        Ask::Start(input) => thread.start(input).await,
        Ask::Proceed => thread.proceed().await,
        Ask::Answer(answer) => thread.answer(answer).await,
        Ask::Resume(answers) => thread.resume(answers).await,
    };
    let ThreadState {
        values, interrupts, ..
    } = answered.map_err(|error| word(&error))?;
    let update: DynamicUpdate = serde_json::from_value(values).map_err(
        |error| json!({ "kind": "other", "message": format!("no state came back: {error}") }),
    )?;
    initial.overwrite(update);
    Ok(Ended {
        state: initial,
        interrupts,
    })
}

/// The format's word for an error. A text is all that comes home of it.
fn word(error: &RestateError) -> Value {
    let RestateError::Failed { message, .. } = error else {
        return json!({ "kind": "other", "message": error.to_string() });
    };
    let starts = |with: &str| message.starts_with(with);
    let has = |part: &str| message.contains(part);
    let kind = if starts("step limit of ") {
        "recursion_limit"
    } else if starts("the step limit is 0") {
        "invalid_config"
    } else if starts("checkpoint: thread `") && has("nothing to go on with") {
        "empty_input"
    } else if starts("checkpoint: nothing on thread `") {
        "nothing_to_resume"
    } else if starts("checkpoint: several questions on ") {
        "ambiguous_resume"
    } else if (starts("update of ") || starts("input: ")) && has(NO_OBJECT) {
        "invalid_update"
    } else if starts("update of ") || starts("input: ") {
        "reducer_error"
    } else if starts("node `") {
        let failed = message.split_once(" failed: ").map_or("", |(_, text)| text);
        return json!({ "kind": "node_error", "message": once(failed) });
    } else if starts("field `") {
        "invalid_update"
    } else if starts("after `") {
        "invalid_route"
    } else if starts("a node answered with `Command::parent`") {
        "parent_command_at_root"
    } else {
        return json!({ "kind": "other", "message": message });
    };
    json!({ "kind": kind })
}

/// A text that its cause repeats.
fn once(text: &str) -> &str {
    let half = text.len().saturating_sub(2) / 2;
    match (text.get(..half), text.get(half + 2..)) {
        (Some(first), Some(second)) if first == second => first,
        _ => text,
    }
}
