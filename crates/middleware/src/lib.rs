//! Ready-made middleware for the agents of [`langgraph_agent`], under the names that users of LangChain
//! know. The page `docs/agents.md` compares them.
//!
//! | middleware | what it does |
//! |---|---|
//! | [`ContextEditing`] | a long history, without the results of older calls |
//! | [`Summarization`], [`TrimMessages`] | a long history, summarised or cut |
//! | [`PromptCaching`] | marks of the prompts that a provider keeps |
//! | [`Moderation`] | checks of what users say and of what the agent answers |
//! | [`TodoList`] | a list of steps, which the model keeps |
//! | [`ModelCallLimit`], [`ToolCallLimit`] | limits of calls for a run and for a thread |
//! | [`ModelRouter`], [`ModelRefusal`], [`ToolSelector`] | which model is asked, and which tools it sees |
//! | [`Pii`] | personal data, hidden or refused |
//! | [`PatchToolCalls`] | answers for tool calls that were left open |
//! | [`Rubric`] | answers that are graded before they count |
//! | [`FileSearch`], [`Shell`] | files of one folder, searched, and programs in it |
//! | [`LongTermMemory`] | memories that outlive a thread, by namespace |
//! | [`UrlCheck`] | URLs that are checked before a tool fetches them |
//! | [`ToolEmulator`] | a model in the place of tools |
//!
//! For tools of one's own that read files: [`Root`], [`PathPattern`], [`Found`].
//!
//! Approvals, retries, fallbacks and caches are in [`langgraph_agent`] itself.

mod auto_mode;
mod background;
mod context_editing;
mod file_search;
mod found;
mod long_term_memory;
mod model_call_limit;
mod model_refusal;
mod model_router;
mod moderation;
mod patch_tool_calls;
mod path_pattern;
mod pii;
mod prompt_caching;
mod root;
mod rubric;
mod said;
mod shell;
mod summarization;
mod todo_list;
mod tool_call_limit;
mod tool_emulator;
mod tool_selector;
mod trim;
mod trim_messages;
mod url_check;

pub use auto_mode::AutoMode;
pub use background::Background;
pub use context_editing::ContextEditing;
pub use file_search::FileSearch;
pub use found::Found;
pub use long_term_memory::{LongTermMemory, MEMORIES, Memory};
pub use model_call_limit::{AtModelLimit, ModelCallLimit};
pub use model_refusal::ModelRefusal;
pub use model_router::ModelRouter;
pub use moderation::{Guard, GuardVerdict, ModelGuard, Moderation};
pub use patch_tool_calls::PatchToolCalls;
pub use path_pattern::PathPattern;
pub use pii::{InvalidPattern, Pii, PiiDetector, PiiFound, PiiStrategy};
pub use prompt_caching::PromptCaching;
pub use root::Root;
pub use rubric::Rubric;
pub use shell::{LocalRunner, Shell, ShellCommand, ShellOutput, ShellRunner};
pub use summarization::Summarization;
pub use todo_list::{TODOS, Todo, TodoList, TodoStatus};
pub use tool_call_limit::{AtToolLimit, ToolCallLimit};
pub use tool_emulator::ToolEmulator;
pub use tool_selector::ToolSelector;
pub use trim::trim;
pub use trim_messages::TrimMessages;
pub use url_check::UrlCheck;
