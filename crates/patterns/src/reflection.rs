//! A draft, rewritten until it is good enough.

use std::fmt;
use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::graph::{
    Calls, CompilationErrors, CompiledStateGraph, EdgeBound, NodeExt as _, START, StateGraph,
};
use langgraph::message::Message;
use langgraph::node::{Context, Node, NodeRun};
use langgraph::{State, graph, node};
use langgraph_agent::{ChatModel, ChatModelExt as _, ChatRequest, STRUCTURED_CALLS};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of a [`Reflection`].
#[derive(State, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReflectionState {
    /// The chat. The answer is added at the end; drafts never are.
    #[reducer(add_messages)]
    pub messages: Vec<Message>,
    /// The current draft.
    pub draft: String,
    /// What the critic wants changed; empty if it wants nothing.
    pub feedback: String,
    /// How many drafts of the answer there were.
    pub drafts: usize,
}

impl ReflectionStateUpdate {
    /// Returns an update that adds a user message.
    pub fn user(text: impl Into<String>) -> Self {
        let messages = vec![Message::user(text.into())];
        Self::default()
            .messages(messages)
            .drafts(0)
            .feedback(String::new())
    }
}

/// An agent that writes a draft, has it criticised, and rewrites it until the critic is content or the
/// drafts are used up.
///
/// # Examples
///
/// ```
/// use langgraph_agent::ScriptedModel;
/// use langgraph_patterns::{Reflection, ReflectionStateUpdate};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let writer = ScriptedModel::new(["Tea is nice.", "Tea is hot leaf water."]);
/// let critic = ScriptedModel::new([
///     r#"{"good": false, "feedback": "Say what it is."}"#,
///     r#"{"good": true, "feedback": ""}"#,
/// ]);
/// let agent = Reflection::new(writer, critic).drafts(3).compile()?;
///
/// let state = agent.invoke(ReflectionStateUpdate::user("Describe tea.")).await?;
/// assert_eq!(state.messages[1].text(), "Tea is hot leaf water.");
/// assert_eq!((state.messages.len(), state.drafts), (2, 2));
/// # Ok(())
/// # }
/// ```
#[must_use = "an agent is compiled before it runs"]
pub struct Reflection {
    writer: Arc<dyn ChatModel>,
    critic: Arc<dyn ChatModel>,
    criterion: String,
    drafts: usize,
}

/// What the critic says.
#[derive(Deserialize, JsonSchema)]
struct Verdict {
    /// Whether the draft can go out as it is.
    good: bool,
    /// What has to change, if it cannot.
    #[serde(default)]
    feedback: String,
}

enum Next {
    Rewrite,
    Publish,
}

impl Reflection {
    /// Creates the agent. Both may be the same model.
    pub fn new(writer: impl ChatModel + 'static, critic: impl ChatModel + 'static) -> Self {
        Self {
            writer: Arc::new(writer),
            critic: Arc::new(critic),
            criterion: "It is correct, complete and clear.".to_owned(),
            drafts: 3,
        }
    }

    /// Sets what the critic looks for.
    pub fn criterion(mut self, criterion: impl Into<String>) -> Self {
        self.criterion = criterion.into();
        self
    }

    /// Limits the number of drafts; the default is 3. The last one goes out whatever the critic says;
    /// then `feedback` says what it lacks. With 0, each run fails with
    /// [`AgentError::BoundReached`](langgraph::error::AgentError::BoundReached) before the first.
    pub fn drafts(mut self, drafts: usize) -> Self {
        self.drafts = drafts;
        self
    }

    /// Compiles the agent into a graph that is ready to run.
    ///
    /// # Errors
    ///
    /// None, unless the graph is changed before: see [`into_graph`](Self::into_graph).
    pub fn compile(self) -> Result<CompiledStateGraph<ReflectionState>, CompilationErrors> {
        self.into_graph().compile()
    }

    /// Returns the agent as a graph, to add nodes and breakpoints.
    pub fn into_graph(self) -> StateGraph<ReflectionState> {
        let limit = self.drafts;
        let next = move |state: &ReflectionState| {
            if state.feedback.is_empty() || state.drafts >= limit {
                Next::Publish
            } else {
                Next::Rewrite
            }
        };
        let mut graph = graph! {
            type State = ReflectionState;
            let write = Write(self.writer).calls(Calls { model: 1, tool: 0 });
            let criticise = Criticise(self.critic, self.criterion).calls(STRUCTURED_CALLS);
            START => write => criticise => match next {
                Next::Rewrite => write,
                Next::Publish => publish => END,
            };
        };
        // The first draft needs no way back.
        let again = u32::try_from(limit.saturating_sub(1)).unwrap_or(u32::MAX);
        graph.add_bound(EdgeBound::new("criticise", "write", again).or_else("publish"));
        if limit == 0 {
            graph.add_bound(EdgeBound::new(START, "write", 0));
        }
        graph.set_name("reflection");
        graph
    }
}

struct Write(Arc<dyn ChatModel>);

impl Node<ReflectionState> for Write {
    fn run<'a>(
        &'a self,
        state: &'a ReflectionState,
        cx: &'a Context,
    ) -> NodeRun<'a, ReflectionState> {
        NodeRun::future(async move {
            let mut messages = state.messages.clone();
            if !state.feedback.is_empty() {
                messages.push(Message::assistant(&*state.draft));
                let ask = format!(
                    "{}\nAnswer anew, with nothing but the answer.",
                    state.feedback
                );
                messages.push(Message::user(ask));
            }
            // Only the answer that goes out is a message of the run.
            let request = ChatRequest::new(messages).streamed(false);
            let draft = self.0.respond(request, cx).await?.message;
            let update = ReflectionStateUpdate::default().draft(draft.text().into_owned());
            Ok::<_, NodeError>(update.drafts(state.drafts + 1))
        })
    }
}

struct Criticise(Arc<dyn ChatModel>, String);

impl Node<ReflectionState> for Criticise {
    fn run<'a>(
        &'a self,
        state: &'a ReflectionState,
        cx: &'a Context,
    ) -> NodeRun<'a, ReflectionState> {
        NodeRun::future(async move {
            let asked = state.messages.iter().rfind(|message| message.is_user());
            let asked = asked.map(Message::text).unwrap_or_default();
            let text = format!("Question: {asked}\n\nDraft: {}", state.draft);
            let prompt = format!("You judge a draft. What it has to be: {}", self.1);
            let request = ChatRequest::new(vec![Message::user(text)]).system(prompt);
            let verdict = self.0.structured::<Verdict>(request).send(cx).await?.value;
            let feedback = match verdict {
                Verdict { good: true, .. } => String::new(),
                Verdict { feedback, .. } if feedback.trim().is_empty() => {
                    "It is not good enough yet.".to_owned()
                }
                Verdict { feedback, .. } => feedback,
            };
            Ok::<_, NodeError>(ReflectionStateUpdate::default().feedback(feedback))
        })
    }
}

/// Adds the draft to the chat.
#[node]
async fn publish(state: &ReflectionState) -> ReflectionStateUpdate {
    ReflectionStateUpdate::default().messages(vec![Message::assistant(&*state.draft)])
}

impl fmt::Debug for Reflection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reflection")
            .field("criterion", &self.criterion)
            .field("drafts", &self.drafts)
            .finish_non_exhaustive()
    }
}
