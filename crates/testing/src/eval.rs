//! Evaluations of agents: a data set, scorers, and a report that another report can be compared to.
//!
//! An evaluation is a graph on a thread: each case is a task, cases run side by side, and an
//! evaluation that was cut off goes on where it stopped.
//!
//! ```
//! use std::sync::Arc;
//! use langgraph::checkpoint::MemorySaver;
//! use langgraph_agent::{MessagesStateUpdate, ScriptedModel, react_agent};
//! use langgraph_testing::eval::{Answer, Dataset, Evaluation, contains, exact};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let cases = Dataset::parse(
//!     r#"{"id": "capital", "input": "The capital of France?", "expected": "Paris", "tags": ["geo"]}
//!        {"id": "sum", "input": "1 + 1?", "expected": "2"}"#,
//! )?;
//!
//! let evaluation = Evaluation::new("v1", |case| async move {
//!     // A real evaluation uses a real model.
//!     let model = ScriptedModel::new(["It is Paris."]);
//!     let agent = react_agent(model, ()).compile().map_err(langgraph::error::NodeError::from)?;
//!     let question = case.input.as_str().unwrap_or_default();
//!     let chat = agent.invoke(MessagesStateUpdate::user(question)).await?;
//!     Ok(Answer::of_chat(&chat))
//! })
//! .scorer(exact())
//! .scorer(contains());
//!
//! let report = evaluation.run(cases, Arc::new(MemorySaver::new())).await?;
//! assert_eq!(report.mean("contains"), Some(0.5));
//! assert_eq!(report.mean("exact"), Some(0.0));
//! println!("{}", report.table());
//! # Ok(())
//! # }
//! ```

mod answer;
mod comparison;
mod dataset;
mod evaluation;
#[cfg(feature = "progress")]
mod progress;
mod report;
mod scorer;

pub use answer::Answer;
pub use comparison::{Change, Comparison, Shift};
pub use dataset::{Case, Dataset, DatasetError};
pub use evaluation::{Board, BoardUpdate, Evaluation};
pub use report::{Report, Scored};
pub use scorer::{
    FnScorer, Judge, Score, Scorer, contains, exact, json_subset, judge, scorer, trajectory,
};
