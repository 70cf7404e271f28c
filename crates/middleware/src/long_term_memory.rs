//! Memories that outlive a thread.

mod extraction;
mod memories;
mod memory_tool;
mod pending;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use langgraph::error::NodeError;
use langgraph::graph::Calls;
use langgraph::node::Context;
use langgraph_agent::{
    AgentContext, AgentMiddleware, AgentUpdate, ChatModel, ChatResponse, Hook, MiddlewareField,
    ModelCall, NextModel, STRUCTURED_CALLS, Tools, middleware,
};
use langgraph_store::Namespace;

use extraction::Extraction;
use memories::Memories;
pub use memories::Memory;
use memory_tool::MemoryTool;

use crate::{Background, said};

/// The memories that [`LongTermMemory`] has found for a run, in the state of the agent.
pub const MEMORIES: MiddlewareField<Vec<Memory>> = MiddlewareField::new("memories");

/// The id of the first message that is not yet read for memories: of those that the run was given, or a run before it
/// that was stopped.
const FIRST_NEW: MiddlewareField<String> = MiddlewareField::new("memories_first_new");

/// Keeps memories in the store of the graph or the run: the model gets those that fit a question, and has tools
/// that save, search and forget, `save_memory`, `search_memories` and `forget_memory`.
///
/// If the store has an embedder, memories are found by their meaning, and otherwise by their words. A memory
/// that is saved again is one memory.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use langgraph::message::ToolCall;
/// use langgraph::prelude::*;
/// use langgraph_agent::{MessagesStateUpdate, ScriptedModel, Turn, react_agent};
/// use langgraph_middleware::LongTermMemory;
/// use langgraph_store::prelude::*;
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // Each user has a namespace: the caller of a run names the user in its metadata.
/// let memory = LongTermMemory::new(|cx: &Context| {
///     let user = cx.metadata("user").and_then(|user| user.as_str()).unwrap_or("guest");
///     ["memories", user].into()
/// });
/// let text = json!({"text": "Likes green tea."});
/// let model = ScriptedModel::new([
///     Turn::tool_calls([ToolCall::new("c1", "save_memory", text)]),
///     Turn::text("I will remember it."),
///     Turn::text("Green tea?"),
/// ]);
/// let agent = react_agent(model.clone(), ()).with(memory).compile()?;
/// let agent = agent.store(Arc::new(MemoryStore::new()));
/// let ask = |question: &str| agent.run(MessagesStateUpdate::user(question)).metadata("user", "ada");
/// ask("I like green tea.").await?;
///
/// ask("Which tea do I like?").await?;
/// let instructions = model.requests()[2].messages[0].text().into_owned();
/// assert!(instructions.contains("Likes green tea."));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct LongTermMemory {
    memories: Memories,
    recall: usize,
    extractor: Option<Arc<dyn ChatModel>>,
    background: Option<Background>,
}

const PROMPT: &str = "You have memories of earlier conversations with this user. Save with `save_memory` what \
later conversations need (facts about the user, wishes, decisions), one fact a memory, and nothing secret. \
Forget what is no longer true with `forget_memory`.";

impl LongTermMemory {
    /// Keeps memories in a namespace that depends on the run: one for each user. A model gets up to five of
    /// them with a question.
    pub fn new(namespace: impl Fn(&Context) -> Namespace + Send + Sync + 'static) -> Self {
        Self {
            memories: Memories::new(Arc::new(namespace)),
            recall: 5,
            extractor: None,
            background: None,
        }
    }

    /// Sets how many memories the instructions have: those that fit the last message of the user at the start
    /// of a run. With 0, the model searches for them itself.
    #[must_use]
    pub fn recall(mut self, memories: usize) -> Self {
        self.recall = memories;
        self
    }

    /// At the end of each run, has a model find what the conversation says about the user, save it, and forget
    /// what is no longer true. The run ends when this is done; [`extract_in`](Self::extract_in) does not delay it.
    #[must_use]
    pub fn extract(mut self, model: impl ChatModel + 'static) -> Self {
        self.extractor = Some(Arc::new(model));
        self
    }

    /// As [`extract`](Self::extract), when the run has ended: the answer does not wait for it.
    ///
    /// The conversation is noted in the store until it is read. If reading it fails, or the process ends before,
    /// it is read after the next run over the same namespace, up to five times.
    ///
    /// The model's calls are none of the run: they do not count for its budget, and are not in its trace.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use langgraph::prelude::*;
    /// use langgraph_agent::{MessagesStateUpdate, ScriptedModel, react_agent};
    /// use langgraph_middleware::{Background, LongTermMemory};
    /// use langgraph_store::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let background = Background::new();
    /// let extractor = ScriptedModel::new([r#"{"memories": ["Has a cat."], "forget": []}"#]);
    /// let memory = LongTermMemory::new(|_: &Context| ["memories", "ada"].into());
    /// let memory = memory.extract_in(&background, extractor);
    /// let agent = react_agent(ScriptedModel::new(["Nice!"]), ()).with(memory).compile()?;
    ///
    /// let store = Arc::new(MemoryStore::new());
    /// let agent = agent.store(store.clone());
    /// agent.run(MessagesStateUpdate::user("I have a cat.")).await?;
    ///
    /// // Before the program ends:
    /// background.finish().await;
    /// assert_eq!(store.search(["memories", "ada"]).await?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn extract_in(self, background: &Background, model: impl ChatModel + 'static) -> Self {
        Self {
            background: Some(background.clone()),
            ..self.extract(model)
        }
    }

    /// Forgets memories that were neither saved nor found for so long.
    #[must_use]
    pub fn forget_after(mut self, time: Duration) -> Self {
        self.memories = self.memories.expiring(time);
        self
    }
}

impl LongTermMemory {
    fn extraction(&self) -> Option<Extraction> {
        let model = self.extractor.as_ref()?;
        Some(Extraction {
            memories: self.memories.clone(),
            model: Arc::clone(model),
        })
    }
}

#[middleware]
impl AgentMiddleware for LongTermMemory {
    fn fields(&self) -> Vec<&'static str> {
        vec![MEMORIES.name(), FIRST_NEW.name()]
    }

    fn tools(&self) -> Tools {
        MemoryTool::all(&self.memories)
    }

    fn calls(&self, hook: Hook, inner: Calls) -> Calls {
        if hook == Hook::AfterAgent && self.extractor.is_some() {
            inner.and(STRUCTURED_CALLS)
        } else {
            inner
        }
    }

    async fn before_agent(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        if let (Some(extraction), Some(background)) = (self.extraction(), &self.background) {
            pending::resume(&extraction, background, cx).await?;
        }
        if self.extractor.is_some() {
            // Other middleware may write in the name of the user before the run ends. A run that was stopped has left
            // the field as it was: what it was given is read with this one.
            if cx.fields().read(FIRST_NEW)?.is_empty() {
                let first = extraction::first_new(cx.messages());
                cx.fields().set(FIRST_NEW, &first)?;
            }
        }
        let said = cx.messages().iter().rfind(|one| said::by_user(one));
        let found = match said {
            Some(said) if self.recall > 0 => {
                self.memories.search(&said.text(), self.recall, cx).await?
            }
            _ => Vec::new(),
        };
        if found != cx.fields().read(MEMORIES)? {
            cx.fields().set(MEMORIES, &found)?;
        }
        Ok(AgentUpdate::default())
    }

    async fn around_model(
        &self,
        mut call: ModelCall,
        cx: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        let found = cx.fields().read(MEMORIES)?;
        let shown: String = found.iter().map(Memory::line).collect();
        call.request = call.request.instruct(&format!("{PROMPT}{shown}"));
        next.run(call).await
    }

    async fn after_agent(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        if let Some(extraction) = self.extraction() {
            let first = cx.fields().read(FIRST_NEW)?;
            let chat = extraction::new_in(cx.messages(), &first);
            // A run that middleware further out ends at once does not get to the hook before.
            cx.fields().set(FIRST_NEW, &String::new())?;
            let is_begun = match &self.background {
                Some(background) => {
                    pending::begin(chat.clone(), &extraction, background, cx).await?
                }
                None => false,
            };
            if !is_begun {
                extraction.run(&chat, cx).await?;
            }
        }
        Ok(AgentUpdate::default())
    }
}

impl fmt::Debug for LongTermMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LongTermMemory")
            .field("recall", &self.recall)
            .field("extracts", &self.extractor.is_some())
            .field("background", &self.background)
            .finish_non_exhaustive()
    }
}
