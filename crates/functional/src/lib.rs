//! Graphs of [langgraph] as plain code.
//!
//! An [entrypoint](macro@entrypoint) is an async function with loops and conditions; its steps are
//! [tasks](macro@task), whose results are kept on the thread. When the function runs again, after an interrupt, in
//! another attempt or in another process, tasks that have ended give their results without running. Attempts need no
//! thread for that: without one, the results are kept as long as the entrypoint runs. An entrypoint compiles to a
//! [`CompiledStateGraph`](langgraph::CompiledStateGraph), so that threads, savers, streams, interrupts and servers
//! work as for every graph.
//!
//! A task is a graph of one node, which the function calls: on a thread it has a log of its own. It costs two
//! records there, and its arguments and its result are written as JSON. What is cheap and has no effects needs no task.
//! Tasks with the option `anywhere` run in other processes too: see [`Tasks`].
//!
//! When the function runs again, it has to call the same tasks with the same arguments in the same order; another
//! call is an error that names both. Calls whose order depends on what ends first have a [key](TaskCall::key). Time and
//! randomness come from the context: [`now`](langgraph::Context::now), [`random`](langgraph::Context::random) and
//! [`uuid`](langgraph::Context::uuid) are recorded.
//!
//! # Examples
//!
//! ```
//! use langgraph::prelude::*;
//! use langgraph_functional::{EntrypointExt, entrypoint, task};
//!
//! #[task(retry = 3)]
//! async fn write_essay(topic: String) -> Result<String, NodeError> {
//!     Ok(format!("On {topic}."))
//! }
//!
//! #[task]
//! async fn count_words(text: String) -> usize {
//!     text.split_whitespace().count()
//! }
//!
//! #[entrypoint]
//! async fn workflow(topic: String, cx: &Context) -> Result<usize, NodeError> {
//!     let essay = write_essay(topic).on(cx).await?;
//!     count_words(essay).on(cx).await
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let graph = workflow.compile()?;
//! let state = graph.invoke(workflow("moss".to_owned())).await?;
//! assert_eq!(state.output, Some(2));
//! # Ok(())
//! # }
//! ```

mod call;
mod copy;
mod course;
mod entrypoint;
mod keys;
mod known_task;
mod nothing;
mod outcome;
mod stored;
mod task;
mod task_executor;
mod tasks;
mod value;

#[doc(hidden)]
pub mod __private;

pub use call::TaskCall;
pub use course::Course;
pub use entrypoint::{Entrypoint, EntrypointCall, EntrypointExt};
pub use langgraph_macros::{entrypoint, task};
pub use outcome::Final;
pub use stored::Stored;
pub use task::{Anywhere, Task, TaskGraph, TaskState, TaskStateUpdate};
pub use task_executor::TaskExecutor;
pub use tasks::{TaskFunction, Tasks};
pub use value::TaskValue;
