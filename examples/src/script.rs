//! A script in the place of a model.

use crate::typing::Typing;
use langgraph::message::Message;
use langgraph_agent::{
    ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind, ScriptedModel, Turn,
    async_trait,
};
use std::fmt;
use std::time::Duration;

/// Returns a model whose turns follow from the last message of the user: the first turn is its answer to that
/// message, the second its answer to the results of the tools that the first one calls, and so on.
///
/// It can be asked on any number of threads, and again from an older checkpoint. With the variable `PACE` it types:
/// the milliseconds of a word.
///
/// # Errors
///
/// If `PACE` is no number of milliseconds.
///
/// # Examples
///
/// ```
/// use langgraph::message::Message;
/// use langgraph_agent::{ChatModel, ChatRequest, Turn};
/// use langgraph_examples::script;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = script::model(|question| vec![Turn::text(format!("You said: {question}"))])?;
/// for text in ["hello", "good bye"] {
///     let answer = model.generate(ChatRequest::new(vec![Message::user(text)])).await?;
///     assert_eq!(answer.message.text(), format!("You said: {text}"));
/// }
/// # Ok(())
/// # }
/// ```
pub fn model(
    turns: impl Fn(&str) -> Vec<Turn> + Send + Sync + 'static,
) -> Result<Typing<Script>, ModelError> {
    Ok(Typing::new(Script(Box::new(turns)), pace()?))
}

/// What [`model`] types.
pub struct Script(Box<Turns>);

/// The turns that follow a message of the user.
type Turns = dyn Fn(&str) -> Vec<Turn> + Send + Sync;

fn pace() -> Result<Duration, ModelError> {
    let Ok(text) = std::env::var("PACE") else {
        return Ok(Duration::ZERO);
    };
    let milliseconds = text.trim().parse().map_err(|_| {
        let problem = format!("`PACE` is `{text}`: set it to the milliseconds of a word");
        ModelError::new(ModelErrorKind::InvalidRequest, problem)
    })?;
    Ok(Duration::from_millis(milliseconds))
}

#[async_trait]
impl ChatModel for Script {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let messages = &request.messages;
        let last = messages.iter().rposition(Message::is_user);
        let (question, later) = messages.split_at(last.map_or(0, |place| place + 1));
        let question = question.last().map(|message| message.text());
        let turns = (self.0)(question.as_deref().unwrap_or_default());
        let given = later.iter().filter(|message| message.is_assistant());
        let turn = turns.into_iter().nth(given.count());
        ScriptedModel::new(turn).generate(request).await
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Script").finish_non_exhaustive()
    }
}
