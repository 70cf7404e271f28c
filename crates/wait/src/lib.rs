//! Durable waiting: a node sleeps until a time, or waits for an event, and costs nothing meanwhile.
//!
//! A wait is an interrupt that a clock or another program answers. The run ends as paused, its
//! thread stays in the saver, and no task, timer or connection is left. So a wait outlives the
//! process, and a thousand threads wait as cheaply as one. Times are those of the wall clock: a
//! wait is due by the clock of the process that wakes it, also after that clock was set.
//!
//! | to | use |
//! |---|---|
//! | wait in a node | [`WaitExt`]: `cx.sleep_until(time)`, `cx.wait_for("event", deadline)`, `cx.wait_for_one_of(..)` |
//! | wake what is due | [`wake_due`], in a loop |
//! | report an event to a thread | [`WakeExt::signal`]; [`WakeExt::signal_or_keep`] if it may come first |
//! | start the runs yourself | [`due`] or [`Waits`], and [`Wait::answer`] |
//!
//! # Examples
//!
//! A reminder goes out if there is no payment within a week:
//!
//! ```
//! use std::sync::Arc;
//! use std::time::{Duration, SystemTime};
//!
//! use langgraph::checkpoint::MemorySaver;
//! use langgraph::prelude::*;
//! use langgraph_wait::{WaitExt, WakeExt, due, wake_due};
//!
//! const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);
//!
//! #[node]
//! async fn bill(_: &String, cx: &Context) -> Result<String, NodeError> {
//!     let deadline = SystemTime::now() + WEEK;
//!     Ok(match cx.wait_for::<u32>("paid", deadline)? {
//!         Some(cents) => format!("{cents} cents came in"),
//!         None => "a reminder went out".to_owned(),
//!     })
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let saver = Arc::new(MemorySaver::new());
//! let graph = graph! { START => bill => END }.compile()?.checkpointer(saver.clone());
//! for thread in ["anna", "bert"] {
//!     let outcome = graph.thread(thread).run(String::new()).await?;
//!     assert!(!outcome.is_done()); // the run has ended, and the thread waits
//! }
//!
//! // Anna pays: another program reports it.
//! let outcome = graph.thread("anna").signal("paid", 4_200).await?;
//! assert_eq!(outcome.finished()?, "4200 cents came in");
//!
//! // Nothing is due today. In eight days, one thread is.
//! let later = SystemTime::now() + WEEK + WEEK / 7;
//! assert!(due(&*saver, SystemTime::now()).await?.is_empty());
//! for woken in wake_due(&graph, later).await? {
//!     assert_eq!(woken.thread, "bert");
//!     assert_eq!(woken.outcome?.finished()?, "a reminder went out");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A program that wakes its threads, for ever:
//!
//! ```no_run
//! # use langgraph::prelude::*;
//! # use std::time::{Duration, SystemTime};
//! # async fn forever(graph: CompiledStateGraph<String>) -> Result<(), AgentError> {
//! loop {
//!     langgraph_wait::wake_due(&graph, SystemTime::now()).await?;
//!     tokio::time::sleep(Duration::from_secs(1)).await;
//! }
//! # }
//! ```

mod context;
mod due;
mod graphs;
mod kept;
mod read;
mod signal;
mod wait;
mod waits;
mod wake;

pub use context::{Event, WaitExt};
pub use due::due;
pub use graphs::WakesThreads;
pub use signal::Signal;
pub use wait::Wait;
pub use waits::Waits;
pub use wake::{WakeExt, Woken, wake_due};
