//! Middleware that gives an agent files.

mod call;
mod edit;
mod file_access;
mod file_permissions;
mod file_tool;
mod large_result;

use std::fmt;
use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::message::ToolCall;
use langgraph_agent::{
    AgentContext, AgentMiddleware, Approval, ChatResponse, DecisionKind, HumanInTheLoop, ModelCall,
    NextModel, NextTool, ToolAnswer, ToolContext, ToolError, Tools, middleware,
};

use crate::files::{FileContext, Files, file_path};
use file_tool::{EDIT, FileTool, NAMES, WRITE};

pub use file_access::FileAccess;
pub use file_permissions::FilePermissions;

/// Gives the model tools for files: `ls`, `read_file`, `write_file`, `edit_file`, `glob` and `grep`; as
/// deepagents' `FilesystemMiddleware`.
///
/// Each path is checked before anything happens: there is no way out by `..`, and what the
/// [permissions](Self::permissions) say holds for each file that a list or a search names. If a crash comes
/// between a write and its record, the write is repeated and changes nothing.
///
/// The result of another tool that is too large for the chat becomes a file, and the model reads its
/// beginning and its path.
///
/// # Examples
///
/// ```
/// use langgraph::message::ToolCall;
/// use langgraph_agent::{MessagesStateUpdate, ScriptedModel, Turn, react_agent};
/// use langgraph_deep::{Filesystem, StateFiles};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let write = json!({"path": "/tea.md", "content": "Green.\nBlack.\n"});
/// let model = ScriptedModel::new([
///     Turn::tool_calls([ToolCall::new("c1", "write_file", write)]),
///     Turn::tool_calls([ToolCall::new("c2", "grep", json!({"pattern": "Bl"}))]),
///     Turn::text("There is black tea."),
/// ]);
/// let agent = react_agent(model, ()).with(Filesystem::new(StateFiles)).compile()?;
/// let state = agent.invoke(MessagesStateUpdate::user("Is there black tea?")).await?;
/// assert_eq!(state.messages[4].text(), "/tea.md:2: Black.");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Filesystem {
    files: Arc<dyn Files>,
    permissions: FilePermissions,
    approval: HumanInTheLoop,
    results_above: u64,
}

const PROMPT: &str = "You have files: `ls`, `read_file`, `write_file`, `edit_file`, `glob` and `grep` work \
with them. All paths begin with `/`. Read a file before you edit it, and keep in files what you will need \
later and what is too long for an answer.";

/// The number of tokens above which a result becomes a file.
pub(crate) const LARGE_RESULT: u64 = 20_000;

impl Filesystem {
    /// Gives the model these files, to read and to write.
    pub fn new(files: impl Files) -> Self {
        Self {
            files: Arc::new(files),
            permissions: FilePermissions::new(),
            approval: HumanInTheLoop::new(Approval::of([WRITE, EDIT])),
            results_above: LARGE_RESULT,
        }
    }

    /// Sets what the model may do with which files.
    #[must_use]
    pub fn permissions(mut self, permissions: FilePermissions) -> Self {
        self.permissions = permissions;
        self
    }

    /// Sets how many tokens the result of another tool has at most in the chat, as an estimate; the default
    /// is 20,000. A larger one becomes a file in `/large_tool_results`.
    #[must_use]
    pub fn results_above(mut self, tokens: u64) -> Self {
        self.results_above = tokens;
        self
    }

    /// Returns true if a person decides about this call.
    fn asks(&self, call: &ToolCall) -> bool {
        let path = call.arguments.get("path").and_then(|path| path.as_str());
        let path = path.and_then(|path| file_path(path).ok());
        matches!(&*call.name, WRITE | EDIT)
            && path.is_some_and(|path| self.permissions.of(&path) == FileAccess::Ask)
    }

    /// Returns the text of a file that may be read.
    async fn read(&self, path: &str, cx: FileContext<'_>) -> Result<Option<String>, ToolError> {
        if self.permissions.of(path) == FileAccess::Deny {
            return Ok(None);
        }
        self.files.read(path, cx).await
    }

    /// Returns the paths of the files that may be read.
    async fn paths(&self, folder: &str, cx: FileContext<'_>) -> Result<Vec<String>, ToolError> {
        let mut paths = self.files.paths(folder, cx).await?;
        paths.retain(|path| self.permissions.of(path) != FileAccess::Deny);
        Ok(paths)
    }

    /// Writes a file that may be written.
    async fn write(&self, path: &str, text: &str, cx: FileContext<'_>) -> Result<(), ToolError> {
        match self.permissions.of(path) {
            FileAccess::Write | FileAccess::Ask if path != "/" => {
                self.files.write(path, text, cx).await
            }
            _ => Err(ToolError::model(format!(
                "the file `{path}` may not be written; choose another path, or answer without it"
            ))),
        }
    }
}

#[middleware]
impl AgentMiddleware for Filesystem {
    fn fields(&self) -> Vec<&'static str> {
        self.files.fields()
    }

    fn tools(&self) -> Tools {
        let tools = NAMES.iter().map(|name| FileTool::new(name, self.clone()));
        tools.fold(Tools::new(), Tools::with)
    }

    fn interrupts(&self) -> bool {
        self.permissions.asks()
    }

    fn decisions(&self, tool: &str) -> Vec<DecisionKind> {
        if self.permissions.asks() {
            self.approval.decisions(tool)
        } else {
            Vec::new()
        }
    }

    async fn around_model(
        &self,
        mut call: ModelCall,
        _: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        call.request = call.request.instruct(PROMPT);
        next.run(call).await
    }

    async fn around_tool(
        &self,
        call: ToolCall,
        cx: &ToolContext<'_>,
        next: NextTool<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        if self.asks(&call) {
            return self.approval.around_tool(call, cx, next).await;
        }
        next.run(call).await
    }

    async fn after_tool(
        &self,
        answer: ToolAnswer,
        cx: &ToolContext<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        if NAMES.contains(&&*cx.call().name) {
            return Ok(answer);
        }
        large_result::moved(answer, self, cx).await
    }
}

impl fmt::Debug for Filesystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filesystem")
            .field("permissions", &self.permissions)
            .field("results_above", &self.results_above)
            .finish_non_exhaustive()
    }
}
