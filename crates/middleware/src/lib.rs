//! Ready-made middleware for the agents of [`langgraph_agent`], under the names that users of LangChain
//! know. The page `docs/agents.md` compares them.
//!
//! | middleware | what it does |
//! |---|---|
//! | [`ContextEditing`] | a long history, without the results of older calls |
//! | [`TodoList`] | a list of steps, which the model keeps |
//! | [`ModelCallLimit`], [`ToolCallLimit`] | limits of calls for a run and for a thread |
//! | [`ModelRouter`], [`ModelRefusal`], [`ToolSelector`] | which model is asked, and which tools it sees |
//! | [`Pii`] | personal data, hidden or refused |
//! | [`PatchToolCalls`] | answers for tool calls that were left open |
//! | [`Rubric`] | answers that are graded before they count |
//! | [`FileSearch`], [`Shell`] | files of one folder, searched, and programs in it |
//! | [`ToolEmulator`] | a model in the place of tools |
//!
//! Approvals, retries, fallbacks and caches are in [`langgraph_agent`] itself.

/// The page about middleware: its code is compiled with the other examples.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/agents.md")]
struct Page;

mod context_editing;
mod file_search;
mod model_call_limit;
mod model_refusal;
mod model_router;
mod patch_tool_calls;
mod pii;
mod root;
mod rubric;
mod shell;
mod system;
mod todo_list;
mod tool_call_limit;
mod tool_emulator;
mod tool_selector;

pub use context_editing::ContextEditing;
pub use file_search::FileSearch;
pub use model_call_limit::{AtModelLimit, ModelCallLimit};
pub use model_refusal::ModelRefusal;
pub use model_router::ModelRouter;
pub use patch_tool_calls::PatchToolCalls;
pub use pii::{InvalidPattern, Pii, PiiDetector, PiiFound, PiiStrategy};
pub use rubric::Rubric;
pub use shell::{LocalRunner, Shell, ShellCommand, ShellOutput, ShellRunner};
pub use todo_list::{TODOS, Todo, TodoList, TodoStatus};
pub use tool_call_limit::{AtToolLimit, ToolCallLimit};
pub use tool_emulator::ToolEmulator;
pub use tool_selector::ToolSelector;
