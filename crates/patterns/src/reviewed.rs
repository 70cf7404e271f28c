//! A person reads the answer before it goes out.

use std::fmt;

use langgraph::error::NodeError;
use langgraph::graph::{CompilationErrors, CompiledStateGraph, KeyInfo, KeyKind, StateGraph};
use langgraph::interrupt::Interrupt;
use langgraph::message::Message;
use langgraph::node::{Context, Node, NodeRun};
use langgraph::{State, graph};
use langgraph_agent::{MERGE_FIELDS, MessagesState, MiddlewareFields, final_answer};
use serde::{Deserialize, Serialize};

/// The state of a [`Reviewed`] agent.
#[derive(State, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewedState {
    /// The chat so far. What a reviewer says is in it, as the user's words to the agent.
    #[reducer(add_messages)]
    pub messages: Vec<Message>,
    /// Whether the last answer goes out.
    pub released: bool,
    /// How often the last answer was sent back.
    pub revisions: usize,
    /// The fields of the agent's middleware.
    #[reducer(MERGE_FIELDS)]
    #[serde(default, skip_serializing_if = "MiddlewareFields::is_empty")]
    pub middleware: MiddlewareFields,
}

impl ReviewedStateUpdate {
    /// Returns an update that adds a user message.
    pub fn user(text: impl Into<String>) -> Self {
        let messages = vec![Message::user(text.into())];
        Self::default()
            .messages(messages)
            .released(false)
            .revisions(0)
    }
}

/// The question to the reviewer: the payload of the interrupt, under the key `review`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "review")]
#[non_exhaustive]
pub struct Review {
    /// The answer.
    pub answer: String,
}

impl Review {
    /// Returns the review that an interrupt asks for, if it does.
    pub fn of(interrupt: &Interrupt) -> Option<Self> {
        if interrupt.payload.get("type")? != "review" {
            return None;
        }
        Self::deserialize(&interrupt.payload).ok()
    }
}

/// What the reviewer decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReviewAnswer {
    /// The answer goes out.
    Approve,
    /// This text goes out in its place.
    Edit {
        /// The text.
        text: String,
    },
    /// The agent answers anew.
    Revise {
        /// What has to change.
        feedback: String,
    },
}

impl ReviewAnswer {
    /// Returns the decision that this text goes out.
    pub fn edit(text: impl Into<String>) -> Self {
        Self::Edit { text: text.into() }
    }

    /// Returns the decision that the agent answers anew.
    pub fn revise(feedback: impl Into<String>) -> Self {
        Self::Revise {
            feedback: feedback.into(),
        }
    }
}

/// An agent whose answers a person approves, edits or sends back before they go out. Its graph needs a
/// checkpointer.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use langgraph::checkpoint::MemorySaver;
/// use langgraph_agent::{ScriptedModel, react_agent};
/// use langgraph_patterns::{Review, ReviewAnswer, Reviewed, ReviewedStateUpdate};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let writer = ScriptedModel::new(["Dear madam, no.", "Dear madam, we are sorry, no."]);
/// let agent = Reviewed::new(react_agent(writer, ()).compile()?).compile()?;
/// let thread = agent.checkpointer(Arc::new(MemorySaver::new())).thread("letter-1");
///
/// let outcome = thread.run(ReviewedStateUpdate::user("Refuse the refund.")).await?;
/// let review = Review::of(&outcome.interrupts()[0]).ok_or("another question")?;
/// assert_eq!(review.answer, "Dear madam, no.");
///
/// thread.answer(ReviewAnswer::revise("More politely.")).await?;
/// let state = thread.answer(ReviewAnswer::Approve).await?.finished()?;
/// assert_eq!(state.messages.last().unwrap().text(), "Dear madam, we are sorry, no.");
/// # Ok(())
/// # }
/// ```
#[must_use = "an agent is compiled before it runs"]
pub struct Reviewed(CompiledStateGraph<MessagesState>);

enum Released {
    Yes,
    No,
}

impl Reviewed {
    /// Creates the agent.
    pub fn new(agent: CompiledStateGraph<MessagesState>) -> Self {
        Self(agent)
    }

    /// Compiles the agent into a graph that is ready to run.
    ///
    /// # Errors
    ///
    /// None, unless the graph is changed before: see [`into_graph`](Self::into_graph).
    pub fn compile(self) -> Result<CompiledStateGraph<ReviewedState>, CompilationErrors> {
        self.into_graph().compile()
    }

    /// Returns the agent as a graph, to add nodes and breakpoints.
    pub fn into_graph(self) -> StateGraph<ReviewedState> {
        let released = |state: &ReviewedState| {
            if state.released {
                Released::Yes
            } else {
                Released::No
            }
        };
        let agent = self.0.mapped(
            |state: &ReviewedState| MessagesState {
                messages: state.messages.clone(),
                middleware: state.middleware.clone(),
            },
            // The whole chat: middleware of the agent may have shortened it.
            |state: MessagesState| {
                ReviewedStateUpdate::default()
                    .middleware(state.middleware)
                    .overwrite_messages(state.messages)
            },
        );
        let mut graph = graph! {
            type State = ReviewedState;
            let agent = agent;
            let review = Reading;
            START => agent => review => match released {
                Released::Yes => END,
                Released::No => agent,
            };
        };
        graph.set_name("reviewed");
        graph
    }
}

/// The node `review`.
struct Reading;

impl Node<ReviewedState> for Reading {
    fn run<'a>(&'a self, state: &'a ReviewedState, cx: &'a Context) -> NodeRun<'a, ReviewedState> {
        NodeRun::future(async move {
            let update = ReviewedStateUpdate::default();
            let said = |message: &&Message| message.is_assistant() || message.is_tool();
            let Some(last) = state.messages.iter().rfind(said) else {
                return Ok::<_, NodeError>(update.released(true));
            };
            let review = Review {
                answer: final_answer(&state.messages),
            };
            Ok(match cx.interrupt("review", &review)? {
                ReviewAnswer::Approve => update.released(true),
                ReviewAnswer::Edit { text } => {
                    let edited = Message::assistant(text);
                    // The results of tools that answer directly stay with their calls.
                    let edited = if last.is_tool() {
                        edited
                    } else {
                        edited.replacing(last)
                    };
                    update.released(true).messages(vec![edited])
                }
                ReviewAnswer::Revise { feedback } => update
                    .revisions(state.revisions + 1)
                    .messages(vec![Message::user(feedback)]),
            })
        })
    }

    fn may_interrupt(&self) -> bool {
        true
    }

    fn keys(&self) -> Vec<KeyInfo> {
        let key = KeyInfo::new("review", KeyKind::Interrupt);
        vec![key.typed("ReviewAnswer").shaped::<ReviewAnswer>()]
    }
}

impl fmt::Debug for Reviewed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reviewed")
    }
}
