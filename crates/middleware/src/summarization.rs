//! A summary in the place of an older history.

use std::fmt;
use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::graph::Calls;
use langgraph::message::Message;
use langgraph::node::Context;
use langgraph_agent::{
    AgentContext, AgentMiddleware, AgentUpdate, ChatModel, ChatModelExt as _, ChatRequest, Hook,
    middleware,
};
use langgraph_store::{ContextExt as _, Namespace, StoreExt as _};

use crate::said;
use crate::trim::{split, tokens, trim};

/// Replaces the older part of a long chat by a summary, which a model writes; as LangChain's
/// `SummarizationMiddleware`.
///
/// It does nothing as long as the chat is short. The state keeps the instructions, the summary and the latest
/// messages; a tool's result stays with its call. An earlier summary becomes a part of the next one.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::{MessagesStateUpdate, ScriptedModel, react_agent};
/// use langgraph_middleware::Summarization;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let summary = Summarization::new(ScriptedModel::new(["They spoke of tea."])).above(50).keep(20);
/// let agent = react_agent(ScriptedModel::new(["Green tea?"]), ()).with(summary).compile()?;
///
/// let talk = (0..10).map(|n| Message::user(format!("I like the tea number {n} best of all.")));
/// let input = MessagesStateUpdate::default().messages(talk.collect());
/// let state = agent.invoke(input).await?;
/// assert!(state.messages[0].text().ends_with("They spoke of tea."));
/// assert!(state.messages.len() < 5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Summarization {
    model: Arc<dyn ChatModel>,
    above: u64,
    keep: u64,
    prompt: String,
    history: Option<Arc<HistoryNamespace>>,
}

/// The namespace of the history of a run.
type HistoryNamespace = dyn Fn(&Context) -> Namespace + Send + Sync;

const SUMMARY: &str = "Summary of the conversation so far: ";

const PROMPT: &str = "Summarise this conversation in a few sentences. Keep names, numbers, decisions and open \
questions.";

impl Summarization {
    /// Summarises with this model: above 8,000 tokens it keeps the last 2,000.
    pub fn new(model: impl ChatModel + 'static) -> Self {
        Self {
            model: Arc::new(model),
            above: 8_000,
            keep: 2_000,
            prompt: PROMPT.to_owned(),
            history: None,
        }
    }

    /// Sets the tokens, as an estimate, above which the chat is shortened.
    #[must_use]
    pub fn above(mut self, tokens: u64) -> Self {
        self.above = tokens;
        self
    }

    /// Sets the tokens, as an estimate, of the messages that stay as they are.
    #[must_use]
    pub fn keep(mut self, tokens: u64) -> Self {
        self.keep = tokens;
        self
    }

    /// Sets what the model that summarises is asked for.
    #[must_use]
    pub fn prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = prompt.into();
        self
    }

    /// Keeps the messages that a summary replaces in the store of the graph or the run: a list under the id of
    /// the first of them, in this namespace.
    #[must_use]
    pub fn keep_history(
        mut self,
        namespace: impl Fn(&Context) -> Namespace + Send + Sync + 'static,
    ) -> Self {
        self.history = Some(Arc::new(namespace));
        self
    }

    /// Returns the shorter chat, if it is too long.
    async fn shorten(
        &self,
        messages: &[Message],
        cx: &Context,
    ) -> Result<Option<Vec<Message>>, NodeError> {
        let all: u64 = messages.iter().map(tokens).sum();
        if all <= self.above {
            return Ok(None);
        }
        let (instructions, chat) = split(messages);
        let kept = trim(chat, self.keep);
        let gone = chat.get(..chat.len() - kept.len()).unwrap_or_default();
        if gone.is_empty() {
            return Ok(None);
        }
        self.store(gone, cx).await?;
        let text: String = gone.iter().map(line).collect();
        let request = ChatRequest::new(vec![Message::user(text)])
            .system(&*self.prompt)
            .streamed(false);
        let summary = self.model.respond(request, cx).await?.message;
        // Providers want a message of the user first.
        let summary = said::written("summarization", format!("{SUMMARY}{}", summary.text()));
        let instructions = instructions.iter().cloned();
        Ok(Some(instructions.chain([summary]).chain(kept).collect()))
    }

    async fn store(&self, gone: &[Message], cx: &Context) -> Result<(), NodeError> {
        let Some(namespace) = &self.history else {
            return Ok(());
        };
        let id = gone.first().and_then(|first| first.id.as_deref());
        let key = id.unwrap_or("history");
        let put = cx.store()?.put(namespace(cx), key, gone).not_embedded();
        Ok(put.await?)
    }
}

/// A message as the model that summarises reads it.
fn line(message: &Message) -> String {
    let calls = message.tool_calls().iter();
    let calls: Vec<String> = calls
        .map(|call| format!(" [calls {} with {}]", call.name, call.arguments_text()))
        .collect();
    said::line(message, calls.concat())
}

#[middleware]
impl AgentMiddleware for Summarization {
    fn calls(&self, hook: Hook, inner: Calls) -> Calls {
        let calls = Calls { model: 1, tool: 0 };
        if hook == Hook::BeforeModel {
            inner.and(calls)
        } else {
            inner
        }
    }

    async fn before_model(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        let shorter = self.shorten(cx.messages(), cx).await?;
        let messages = shorter.map(|shorter| [Message::remove_all()].into_iter().chain(shorter));
        Ok(messages.map(AgentUpdate::messages).unwrap_or_default())
    }
}

impl fmt::Debug for Summarization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Summarization")
            .field("above", &self.above)
            .field("keep", &self.keep)
            .finish_non_exhaustive()
    }
}
