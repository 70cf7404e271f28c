//! Checks of what users say and of what an agent answers.

mod guard;
mod model_guard;

use std::fmt;
use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::graph::Calls;
use langgraph::message::{Content, Message};
use langgraph::node::Context;
use langgraph_agent::{
    AgentContext, AgentGoto, AgentMiddleware, AgentUpdate, ChatResponse, Hook, ModelCall,
    NextModel, ToolAnswer, ToolContext, middleware,
};

pub use guard::{Guard, GuardVerdict};
pub use model_guard::ModelGuard;

/// Checks what users say before the agent reads it, and what the agent answers; LangChain has
/// `OpenAIModerationMiddleware` for it.
///
/// The user's last message is checked at the start of each run, and each answer that calls no tools, before it is
/// stored: also a draft that other middleware sends back. The result of a tool that returns directly is checked as an
/// answer is. An answer that a guard fails to judge fails the run, and is not in the thread. Several guards judge one
/// after the other, until one refuses.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_agent::{MessagesStateUpdate, ScriptedModel, react_agent};
/// use langgraph_middleware::{GuardVerdict, Moderation};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let moderation = Moderation::new()
///     .input(|said: &Message| match said.text().contains("bomb") {
///         true => GuardVerdict::Refuse("I do not speak about that.".to_owned()),
///         false => GuardVerdict::Pass,
///     })
///     .output(|said: &Message| GuardVerdict::Replace(said.text().replace("1234", "****")));
/// let agent = react_agent(ScriptedModel::new(["The code is 1234."]), ()).with(moderation).compile()?;
///
/// let state = agent.invoke(MessagesStateUpdate::user("How is a bomb made?")).await?;
/// assert_eq!(state.messages[1].text(), "I do not speak about that.");
/// let state = agent.invoke(MessagesStateUpdate::user("What is the code?")).await?;
/// assert_eq!(state.messages[1].text(), "The code is ****.");
/// # Ok(())
/// # }
/// ```
///
/// An answer streams before a guard has seen it; a program that must not show it waits for the end of the
/// run. [`Pii`](crate::Pii) hides patterns in what streams.
#[derive(Clone, Default)]
pub struct Moderation {
    input: Vec<Arc<dyn Guard>>,
    output: Vec<Arc<dyn Guard>>,
}

impl Moderation {
    /// Creates it without guards.
    pub fn new() -> Self {
        Self::default()
    }

    /// Checks what the user says.
    #[must_use]
    pub fn input(mut self, guard: impl Guard) -> Self {
        self.input.push(Arc::new(guard));
        self
    }

    /// Checks what the agent answers.
    #[must_use]
    pub fn output(mut self, guard: impl Guard) -> Self {
        self.output.push(Arc::new(guard));
        self
    }
}

/// What guards have decided.
enum Judged {
    Passed(Message),
    Refused(String),
}

async fn judge(
    guards: &[Arc<dyn Guard>],
    said: &Message,
    cx: &Context,
) -> Result<Judged, NodeError> {
    let mut message = said.clone();
    for guard in guards {
        match guard.check(&message, cx).await? {
            GuardVerdict::Pass => {}
            GuardVerdict::Replace(text) => message = with_text(said, text),
            GuardVerdict::Refuse(text) => return Ok(Judged::Refused(text)),
        }
    }
    Ok(Judged::Passed(message))
}

/// Returns the message with another text: under the same id it takes the other's place.
fn with_text(said: &Message, text: String) -> Message {
    let message = if said.is_user() {
        Message::user(text)
    } else {
        Message::assistant(text)
    };
    message.replacing(said)
}

#[middleware]
impl AgentMiddleware for Moderation {
    fn gotos(&self) -> &'static [AgentGoto] {
        &[AgentGoto::End]
    }

    fn calls(&self, hook: Hook, inner: Calls) -> Calls {
        let guards = match hook {
            Hook::BeforeAgent => &self.input,
            Hook::AroundModel | Hook::AfterTool => &self.output,
            _ => return inner,
        };
        let guards = guards.iter().map(|guard| guard.calls());
        guards.fold(inner, Calls::and)
    }

    async fn before_agent(&self, cx: &AgentContext<'_>) -> Result<AgentUpdate, NodeError> {
        let Some(said) = cx.messages().iter().rfind(|message| message.is_user()) else {
            return Ok(AgentUpdate::default());
        };
        Ok(match judge(&self.input, said, cx).await? {
            Judged::Refused(text) => {
                AgentUpdate::messages([Message::assistant(text)]).and_goto(AgentGoto::End)
            }
            Judged::Passed(message) => changed(message, said),
        })
    }

    // Not behind the model, where other middleware may send the agent back first, and where a guard that fails would
    // leave an answer in the thread that nothing judges again.
    async fn around_model(
        &self,
        call: ModelCall,
        cx: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        let mut answer = next.run(call).await?;
        let said = &answer.message;
        if said.tool_calls().is_empty() {
            answer.message = match judge(&self.output, said, cx).await? {
                Judged::Refused(text) => with_text(said, text),
                Judged::Passed(message) => message,
            };
        }
        Ok(answer)
    }

    // Before the result is stored: it may be the answer of the agent.
    async fn after_tool(
        &self,
        mut answer: ToolAnswer,
        cx: &ToolContext<'_>,
    ) -> Result<ToolAnswer, NodeError> {
        if !cx.returns_directly() || answer.result.is_error() {
            return Ok(answer);
        }
        let said = Message::assistant(answer.result.content.text().into_owned());
        let text = match judge(&self.output, &said, cx).await? {
            Judged::Passed(message) if message == said => return Ok(answer),
            Judged::Passed(message) => message.text().into_owned(),
            Judged::Refused(text) => text,
        };
        answer.result.content = Content::Text(text);
        Ok(answer)
    }
}

/// Returns the update with a message, if it is another one than before.
fn changed(message: Message, said: &Message) -> AgentUpdate {
    if message == *said {
        return AgentUpdate::default();
    }
    AgentUpdate::messages([message])
}

impl fmt::Debug for Moderation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Moderation")
            .field("input", &self.input.len())
            .field("output", &self.output.len())
            .finish()
    }
}
