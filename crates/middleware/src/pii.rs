//! Personal data in chats.

mod detector;
mod redacted_model;
mod strategy;

use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::message::{Content, ContentPart, Message, MessageKind, ToolResult};
use langgraph_agent::{
    AgentContext, AgentMiddleware, AgentUpdate, ChatResponse, MiddlewareField, ModelCall,
    NextModel, ToolAnswer, ToolContext, middleware,
};

pub use detector::{InvalidPattern, PiiDetector};
use redacted_model::RedactedModel;
use strategy::Rules;
pub use strategy::{PiiFound, PiiStrategy};

use crate::said;

/// Finds personal data in chats, and hides it or refuses it; as LangChain's `PIIMiddleware`.
///
/// By default it reads what users say, before a model does, and changes it in the state, too: before other middleware,
/// which may call a model of its own, wherever it stands in the list ([`AgentMiddleware::hides`]). What the
/// agent answers and what tools return are read on request. An answer that streams is held back as far as
/// a match might still begin there, so that no part of one gets out.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{MessagesStateUpdate, ScriptedModel, react_agent};
/// use langgraph_middleware::{Pii, PiiDetector, PiiStrategy};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let pii = Pii::new(PiiDetector::email(), PiiStrategy::Redact)
///     .and(PiiDetector::credit_card(), PiiStrategy::Mask)
///     .and(PiiDetector::pattern("badge", r"\bB-\d{4}\b")?, PiiStrategy::Hash)
///     .output();
/// let model = ScriptedModel::new(["Write to ada@example.org."]);
/// let agent = react_agent(model, ()).with(pii).compile()?;
/// let question = "My card is 4111 1111 1111 1111, who helps?";
/// let state = agent.invoke(MessagesStateUpdate::user(question)).await?;
/// assert_eq!(state.messages[0].text(), "My card is **** **** **** 1111, who helps?");
/// assert_eq!(state.messages[1].text(), "Write to [REDACTED_EMAIL].");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Pii {
    rules: Arc<Rules>,
    /// The same for what earlier runs have left: it is hidden where these block.
    hiding: Arc<Rules>,
    input: bool,
    output: bool,
    tool_results: bool,
}

impl Pii {
    /// Looks for one kind of data.
    pub fn new(detector: PiiDetector, strategy: PiiStrategy) -> Self {
        Self {
            rules: Arc::default(),
            hiding: Arc::default(),
            input: true,
            output: false,
            tool_results: false,
        }
        .and(detector, strategy)
    }

    /// Also looks for another kind. Where two match, the one that was added first counts.
    #[must_use]
    pub fn and(mut self, detector: PiiDetector, strategy: PiiStrategy) -> Self {
        let hidden = (detector.clone(), strategy.hiding());
        Arc::make_mut(&mut self.hiding).0.push(hidden);
        Arc::make_mut(&mut self.rules).0.push((detector, strategy));
        self
    }

    /// Does not read what users say.
    #[must_use]
    pub fn no_input(mut self) -> Self {
        self.input = false;
        self
    }

    /// Also reads what the agent answers, while it streams; whichever model answers, and where the result of a tool is
    /// the answer.
    #[must_use]
    pub fn output(mut self) -> Self {
        self.output = true;
        self
    }

    /// Also reads what tools return, before it is stored and streams. What is blocked is hidden there, too, and fails the
    /// run before a model reads it, or before it is the answer of the agent.
    #[must_use]
    pub fn tool_results(mut self) -> Self {
        self.tool_results = true;
        self
    }

    /// Returns the messages of a chat that have personal data, without it. All of it is read each time: an assistant
    /// message does not show that the model has read what stands before it, since other middleware writes some itself.
    /// What is blocked fails the run that brings it. It stays in the thread, and is hidden from later runs.
    fn clean_all(&self, messages: &[Message]) -> Result<Vec<Message>, PiiFound> {
        let newest = messages.iter().rposition(said::by_user);
        let (earlier, new) = messages.split_at(newest.unwrap_or_default());
        let earlier = earlier.iter().map(|one| self.clean(one, &self.hiding));
        let new = new.iter().map(|one| self.clean(one, &self.rules));
        let cleaned = earlier.chain(new).collect::<Result<Vec<_>, _>>()?;
        Ok(cleaned.into_iter().flatten().collect())
    }

    /// Returns the message without personal data, if it has some, and is one to read.
    fn clean(&self, message: &Message, rules: &Rules) -> Result<Option<Message>, PiiFound> {
        let reads = match &message.kind {
            MessageKind::User(_) | MessageKind::UserParts(_) => self.input,
            MessageKind::Tool(_) => self.tool_results,
            _ => false,
        };
        if reads {
            clean(message, rules)
        } else {
            Ok(None)
        }
    }
}

/// The calls of tools that have returned what is blocked, each with the kind of data. The results have a label in its
/// place, so that they do not show it.
const BLOCKED: MiddlewareField<Vec<(String, String)>> = MiddlewareField::new("pii_blocked");

/// Returns the results of tools since the user has spoken.
fn results<'a>(cx: &AgentContext<'a>) -> impl Iterator<Item = &'a ToolResult> {
    let results = cx.messages().iter().rev();
    let results = results.take_while(|message| !said::by_user(message));
    results.filter_map(Message::tool_result)
}

/// Forgets the calls of earlier runs: providers that count anew in each answer give their ids to later calls.
fn forget_earlier(cx: &AgentContext<'_>) -> Result<(), NodeError> {
    let mut blocked = cx.fields().read(BLOCKED)?;
    let all = blocked.len();
    blocked.retain(|(call, _)| results(cx).any(|result| result.call_id == *call));
    if blocked.len() < all {
        cx.fields().set(BLOCKED, &blocked)?;
    }
    Ok(())
}

/// Refuses a run whose tools have returned what is blocked.
fn check_results(cx: &AgentContext<'_>) -> Result<(), NodeError> {
    let blocked = cx.fields().read(BLOCKED)?;
    for result in results(cx) {
        if let Some(found) = blocked.iter().find(|(call, _)| *call == result.call_id) {
            return Err(PiiFound::new(&found.1).into());
        }
    }
    Ok(())
}

/// Returns the message without personal data, if it has some.
fn clean(message: &Message, rules: &Rules) -> Result<Option<Message>, PiiFound> {
    let mut cleaned = message.clone();
    rules.clean(&mut cleaned.kind)?;
    Ok((cleaned != *message).then_some(cleaned))
}

impl Rules {
    /// Removes personal data from a message.
    fn clean(&self, kind: &mut MessageKind) -> Result<(), PiiFound> {
        match kind {
            MessageKind::User(text) | MessageKind::Assistant(text) => *text = self.apply(text)?,
            MessageKind::UserParts(parts) | MessageKind::AssistantParts(parts) => {
                self.clean_parts(parts)?;
            }
            MessageKind::ToolCalls { content, .. } => self.clean_content(content)?,
            MessageKind::Tool(result) => self.clean_content(&mut result.content)?,
            _ => {}
        }
        Ok(())
    }

    fn clean_content(&self, content: &mut Content) -> Result<(), PiiFound> {
        match content {
            Content::Text(text) => *text = self.apply(text)?,
            Content::Parts(parts) => self.clean_parts(parts)?,
        }
        Ok(())
    }

    fn clean_parts(&self, parts: &mut [ContentPart]) -> Result<(), PiiFound> {
        for part in parts {
            if let ContentPart::Text { text, .. } = part {
                *text = self.apply(text)?;
            }
        }
        Ok(())
    }
}

#[middleware]
impl AgentMiddleware for Pii {
    fn hides(&self) -> bool {
        true
    }

    fn fields(&self) -> Vec<&'static str> {
        let reads = self.tool_results || self.output;
        let mut strategies = self.rules.0.iter().map(|(_, strategy)| *strategy);
        let blocks = strategies.any(|strategy| strategy == PiiStrategy::Block);
        (reads && blocks)
            .then_some(BLOCKED.name())
            .into_iter()
            .collect()
    }

    // Before other middleware of the agent reads what the user has said.
    async fn before_agent(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        forget_earlier(cx)?;
        Ok(AgentUpdate::messages(self.clean_all(cx.messages())?))
    }

    async fn before_model(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        check_results(cx)?;
        Ok(AgentUpdate::messages(self.clean_all(cx.messages())?))
    }

    // What a tool returns may be the answer of the run, which no model reads.
    async fn after_agent(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        check_results(cx)?;
        let mut all = self.clean_all(cx.messages())?;
        if self.output && !self.tool_results {
            let results = cx.messages().iter().rev().take_while(|last| last.is_tool());
            for result in results {
                all.extend(clean(result, &self.rules)?);
            }
        }
        Ok(AgentUpdate::messages(all))
    }

    async fn around_model(
        &self,
        mut call: ModelCall,
        _: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        if self.output {
            let rules = Arc::clone(&self.rules);
            call.surround(move |model| Arc::new(RedactedModel::new(model, Arc::clone(&rules))));
        }
        next.run(call).await
    }

    // Before the result is stored and streams. What is blocked fails the run before the next call of the model, or at
    // the end: the call of the tool is then stored, and is not repeated.
    async fn after_tool(
        &self,
        mut answer: ToolAnswer,
        cx: &ToolContext<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        let reads = self.tool_results || self.output && cx.returns_directly();
        if !reads {
            return Ok(answer);
        }
        let mut content = answer.result.content.clone();
        if let Err(found) = self.rules.clean_content(&mut content) {
            let call = answer.result.call_id.clone();
            cx.fields()
                .append(BLOCKED, [(call, found.kind().to_owned())])?;
            content.clone_from(&answer.result.content);
            self.hiding.clean_content(&mut content)?;
        }
        answer.result.content = content;
        Ok(answer)
    }
}
