//! Versions of a graph side by side, and a check of stored threads before a deploy.
//!
//! Every checkpoint holds the [fingerprint](langgraph::graph::Topology::fingerprint) of the graph that
//! wrote it: a number that changes with the nodes and edges. [`Versions`] holds several versions of a
//! graph, and gives each waiting thread the one that it started with. [`check_threads`] says which
//! threads today's graph can go on with, and why not with the others.
//!
//! # Examples
//!
//! The new version has no node `review` any more. Threads that wait there end as they began; new
//! ones run on the new graph:
//!
//! ```
//! use std::sync::Arc;
//!
//! use langgraph::checkpoint::MemorySaver;
//! use langgraph::prelude::*;
//! use langgraph_versions::{Versions, check_threads};
//!
//! fn review(text: &String, cx: &Context) -> Result<String, NodeError> {
//!     Ok(format!("{text}, reviewed by {}", cx.interrupt::<String>("who", "Who reviews it?")?))
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let saver = Arc::new(MemorySaver::new());
//! let mut graph = StateGraph::<String>::new();
//! graph.set_name("texts").add_node("review", review).add_sequence(&["review"]);
//! let v1 = graph.compile()?.checkpointer(saver.clone());
//! v1.thread("old").run("a text".to_owned()).await?; // asks
//!
//! let mut graph = StateGraph::<String>::new();
//! graph.set_name("texts").add_node("publish", |text: &String| format!("{text}, published")).add_sequence(&["publish"]);
//! let v2 = graph.compile()?.checkpointer(saver.clone());
//!
//! // Before the deploy, in CI:
//! let report = check_threads(saver, &v2).await?;
//! assert_eq!(report.blocked().count(), 1);
//! assert!(report.to_string().contains("thread `old` waits for node `review`"));
//!
//! // After the deploy:
//! let versions = Versions::new().add(v1).add(v2);
//! let old = versions.thread("old").await?;
//! assert_eq!(old.answer("Ada").await?.finished()?, "a text, reviewed by Ada");
//! let new = versions.thread("new").await?;
//! assert_eq!(new.run("a text".to_owned()).await?.finished()?, "a text, published");
//! # Ok(())
//! # }
//! ```

mod check;
mod position;
mod versions;

pub use check::{Report, ThreadCheck, check_threads};
pub use versions::Versions;
