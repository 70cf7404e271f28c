//! Deep agents: a plan, files, sub-agents, skills and memory around a model; as Python's `deepagents`.
//!
//! [`deep_agent`] is [`react_agent`](langgraph_agent::react_agent) with middleware, and each part of it is
//! middleware that any agent can have:
//!
//! | middleware | what it does |
//! |---|---|
//! | [`Filesystem`] | files that the model lists, reads, writes, edits and searches, and large results as files |
//! | [`SubAgents`] | a tool, `task`, that hands a piece of work to another agent |
//! | [`Skills`] | folders of instructions, which the model reads when it needs them |
//! | [`MemoryFiles`] | files such as `AGENTS.md`, in the instructions of the model |
//!
//! The to-dos and the summaries are [`TodoList`](langgraph_middleware::TodoList) and
//! [`Summarization`](langgraph_middleware::Summarization).
//!
//! Where files are is a choice: in the state of the agent ([`StateFiles`]), in a store that threads share
//! ([`StoreFiles`]), in one folder of the disk ([`DiskFiles`]), or some of each ([`CompositeFiles`]).
//!
//! ```
//! use langgraph::message::ToolCall;
//! use langgraph_agent::{MessagesStateUpdate, ScriptedModel, Turn};
//! use langgraph_deep::{FILES, deep_agent};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let searcher = deep_agent(ScriptedModel::new(["Tea has 20 to 60 mg of caffeine a cup."]));
//! let model = ScriptedModel::new([
//!     Turn::tool_calls([ToolCall::new("c1", "task", json!({
//!         "agent": "searcher",
//!         "description": "How much caffeine is in tea?",
//!     }))]),
//!     Turn::tool_calls([ToolCall::new("c2", "write_file", json!({
//!         "path": "/report.md",
//!         "content": "20 to 60 mg a cup.",
//!     }))]),
//!     Turn::text("The report is in /report.md."),
//! ]);
//! let agent = deep_agent(model).subagent("searcher", "Finds facts.", searcher).compile()?;
//!
//! let state = agent.invoke(MessagesStateUpdate::user("Write about tea.")).await?;
//! assert_eq!(FILES.read(&state.middleware)?["/report.md"], "20 to 60 mg a cup.");
//! # Ok(())
//! # }
//! ```

/// The page about middleware: its code is compiled with the other examples.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/agents.md")]
struct Page;

mod deep_agent;
mod files;
mod filesystem;
mod memory_files;
mod skills;
mod sub_agents;

pub use deep_agent::{DeepAgent, SubAgent, deep_agent};
pub use files::{
    CompositeFiles, DiskFiles, FILES, FileContext, Files, StateFiles, StoreFiles, file_path,
};
pub use filesystem::{FileAccess, FilePermissions, Filesystem};
pub use memory_files::{MEMORY_FILES, MemoryFiles};
pub use skills::{SKILLS, Skill, Skills};
pub use sub_agents::SubAgents;
