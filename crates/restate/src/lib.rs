//! Threads of langgraph graphs on [Restate](https://restate.dev), and their tasks as calls of services.
//!
//! A thread is a virtual object: Restate takes calls of it from any client, keeps them, and lets one
//! after the other onto the thread. A call that was taken runs to its end, also when the process that
//! runs it is killed, or Restate itself: another attempt takes up the thread where it stands. The thread's
//! checkpoints stay in the graph's saver, with its history and its forks.
//!
//! # Examples
//!
//! Three lines serve a graph:
//!
//! ```no_run
//! use langgraph_restate::{Endpoint, Restate};
//! # async fn run(graph: langgraph::CompiledStateGraph<i64>) -> Result<(), Box<dyn std::error::Error>> {
//! // `graph` is named `orders`, and has a checkpointer.
//! let restate = Restate::at("http://127.0.0.1:8080")?;
//! let graph = graph.executor(restate.tasks());
//! Endpoint::new().threads(&graph).tasks(&graph, &restate).serve("127.0.0.1:9080").await?;
//! # Ok(())
//! # }
//! ```
//!
//! Register the program with Restate once. Then any client calls it:
//!
//! ```console
//! restate-server &
//! curl localhost:9070/deployments --json '{"uri": "http://127.0.0.1:9080"}'
//! curl localhost:8080/orders/anna/start --json '{"item": "a book"}'
//! curl localhost:8080/orders/anna/answer --json 'true'
//! curl localhost:8080/orders/anna/state
//! ```
//!
//! From Rust, [`Restate::thread`] does the same.
//!
//! # What happens to a thread
//!
//! | a call | what it does |
//! |---|---|
//! | `start` | runs the graph on the body as an input, until it is done or waits |
//! | `answer`, `resume` | answers the only open interrupt, or several by their keys: `{"key": answer}` |
//! | `signal` | reports an event, `{"event": .., "payload": ..}`, to nodes that [wait for it](langgraph_wait) |
//! | `proceed` | goes on after a breakpoint, a failure or a cancellation |
//! | `state` | returns how the thread stands, at any time |
//! | `cancel` | cancels the run that is under way |
//!
//! - Each superstep is an entry in Restate's journal. What is in the journal is not done again.
//! - An interrupt ends the call. The thread then waits as rows of the saver, and blocks no other; a later
//!   call goes on.
//! - A [wait for a time](langgraph_wait::WaitExt::sleep_until) is a timer of Restate, which wakes the
//!   thread. No loop has to look for what is due.
//! - Errors of a node end the call with the error's HTTP status. Errors of the saver do not: Restate tries
//!   again, at least every five seconds, for as long as it takes. The same holds while no process serves.
//!
//! # Tasks
//!
//! With the executor [`Restate::tasks`], nodes that may run
//! [anywhere](langgraph::graph::NodeExt::anywhere) run as calls of a service, in whichever process Restate
//! picks. A process that dies gives its tasks back. If the driver dies, tasks that are under way go on, and
//! the next driver gets their replies. The service's name has the graph's fingerprint, so an older version
//! that still serves gets the tasks of older drivers.
//!
//! Results of [`Context::once`](langgraph::Context::once) are kept by Restate until the driver has them.
//! Custom events and tokens of such a task arrive when it ends, and its signs of life not at all: calls of
//! Restate have one answer. [`langgraph-nats`](https://docs.rs/langgraph-nats) sends them as they come.
//!
//! Each task runs in a span `task`, with its graph, node and process. [`Tasks::metrics`] counts, for the program
//! that drives; a page and SQL of Restate show all of them.
//!
//! # Limits
//!
//! A message of Restate has up to 32 MiB unless its configuration says more: a state, an item, an output.
//! A process that is killed in the moment between a breakpoint and the journal's record of it passes that
//! breakpoint; an interrupt always waits.
//! A retry policy on a graph that is a node does not help against an error of a task inside: Restate knows the
//! task's reply, and the second attempt gets it again. Policies on the inner nodes do, as they run with the task.

mod cancellable;
mod endpoint;
mod error;
mod remote_thread;
mod restate;
mod service;
mod tasks;
mod thread_state;
mod threads;

pub use endpoint::Endpoint;
pub use error::RestateError;
pub use remote_thread::RemoteThread;
pub use restate::Restate;
pub use tasks::{TaskMetrics, Tasks};
pub use thread_state::ThreadState;
