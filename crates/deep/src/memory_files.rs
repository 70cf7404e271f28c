//! Files that are a part of the instructions.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph_agent::{
    AgentContext, AgentMiddleware, AgentUpdate, ChatResponse, MiddlewareField, ModelCall,
    NextModel, ToolError, middleware,
};

use crate::files::{Files, file_path};

/// The texts of [`MemoryFiles`] in the state of the agent, by path.
pub const MEMORY_FILES: MiddlewareField<BTreeMap<String, String>> =
    MiddlewareField::new("memory_files");

/// Puts files such as `AGENTS.md` into the instructions of the model; as deepagents' `MemoryMiddleware`.
///
/// They are read at the start of each run, without their HTML comments, which are notes for people. The model changes them as other files, if it has a
/// [`Filesystem`](crate::Filesystem) that may write them: the next run reads what it has learned.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{ScriptedModel, react_agent};
/// use langgraph_deep::{DiskFiles, MemoryFiles};
///
/// let memory = MemoryFiles::new(DiskFiles::new("/srv/scratch"), ["/AGENTS.md"]);
/// let agent = react_agent(ScriptedModel::new(["hi"]), ()).with(memory);
/// # let _ = agent.compile();
/// ```
#[derive(Clone)]
pub struct MemoryFiles {
    files: Arc<dyn Files>,
    paths: Vec<String>,
}

const PROMPT: &str = "What you know from earlier work is in the following files. If you learn something that \
later work needs (how the user wants things done, a mistake not to make again), add it to one of them. Keep \
out of them what matters only now, and anything secret.";

const MISSING: &str = "(there is no such file yet)";

impl MemoryFiles {
    /// Reads these paths. One without a file is named, so that the model can write it.
    pub fn new(files: impl Files, paths: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self {
            files: Arc::new(files),
            paths: paths.into_iter().map(Into::into).collect(),
        }
    }
}

#[middleware]
impl AgentMiddleware for MemoryFiles {
    fn fields(&self) -> Vec<&'static str> {
        vec![MEMORY_FILES.name()]
    }

    async fn before_agent(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        let mut texts = BTreeMap::new();
        for path in &self.paths {
            let path = file_path(path).map_err(ToolError::into_node_error)?;
            let text = self.files.read(&path, cx.into()).await;
            if let Some(text) = text.map_err(ToolError::into_node_error)? {
                texts.insert(path, without_comments(&text));
            }
        }
        if texts != cx.fields().read(MEMORY_FILES)? {
            cx.fields().set(MEMORY_FILES, &texts)?;
        }
        Ok(AgentUpdate::default())
    }

    async fn around_model(
        &self,
        mut call: ModelCall,
        cx: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        let texts = cx.fields().read(MEMORY_FILES)?;
        let mut instructions = PROMPT.to_owned();
        for path in &self.paths {
            let path = file_path(path).map_err(ToolError::into_node_error)?;
            let text = texts.get(&path).map_or(MISSING, |text| text.trim());
            let _ = write!(instructions, "\n\n## {path}\n\n{text}"); // never fails
        }
        call.request = call.request.instruct(&instructions);
        next.run(call).await
    }
}

/// Returns a text without its HTML comments. What begins one and has no end is text.
fn without_comments(text: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some((before, comment)) = rest.split_once("<!--") {
        let Some((_, after)) = comment.split_once("-->") else {
            break;
        };
        kept.push_str(before);
        rest = after;
    }
    kept.push_str(rest);
    kept
}

impl fmt::Debug for MemoryFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryFiles")
            .field("paths", &self.paths)
            .finish_non_exhaustive()
    }
}
