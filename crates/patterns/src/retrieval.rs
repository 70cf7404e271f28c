//! Answers from documents, with citations.

use std::fmt;
use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::graph::{Calls, CompilationErrors, CompiledStateGraph, NodeExt as _, StateGraph};
use langgraph::message::Message;
use langgraph::node::{Context, Node, NodeRun};
use langgraph::{State, graph};
use langgraph_agent::{ChatModel, ChatModelExt as _, ChatRequest};
use langgraph_store::{ContextExt as _, Namespace, StoreExt as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The state of a [`Retrieval`].
#[derive(State, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RetrievalState {
    /// The chat so far.
    #[reducer(add_messages)]
    pub messages: Vec<Message>,
    /// The documents that were found for the last question; the first one is `[1]`.
    pub sources: Vec<Citation>,
    /// Those that the answer cites, in the order of their numbers.
    pub citations: Vec<Citation>,
}

impl RetrievalStateUpdate {
    /// Returns an update that adds a user message.
    pub fn user(text: impl Into<String>) -> Self {
        Self::default().messages(vec![Message::user(text.into())])
    }
}

/// A document that an answer may cite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Citation {
    /// Its number in the answer: `[1]`.
    pub number: usize,
    /// Its namespace in the store.
    pub namespace: Vec<String>,
    /// Its key there.
    pub key: String,
    /// What the model read of it.
    pub text: String,
}

/// An agent that looks for documents in the store of its run, answers from them, and says which of them
/// it has used. An answer that cites a document which is not there, or none although there are some, goes
/// back to the model.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use langgraph_agent::ScriptedModel;
/// use langgraph_patterns::{Retrieval, RetrievalStateUpdate};
/// use langgraph_store::{HashingEmbedder, MemoryStore, StoreExt, StoreOptions, WithStore};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let options = StoreOptions::default().embedder(HashingEmbedder::new(256)).fields(["text"]);
/// let store = MemoryStore::with(options);
/// store.put(["handbook"], "leave", &json!({"text": "Each year has 30 days of leave."})).await?;
/// store.put(["handbook"], "dogs", &json!({"text": "Dogs may come along on Fridays."})).await?;
///
/// let model = ScriptedModel::new(["You have 30 days of leave [1]."]);
/// let agent = Retrieval::new(model, ["handbook"]).limit(1).compile()?.store(Arc::new(store));
///
/// let state = agent.invoke(RetrievalStateUpdate::user("How many days of leave in a year?")).await?;
/// assert_eq!(state.citations[0].key, "leave");
/// # Ok(())
/// # }
/// ```
#[must_use = "an agent is compiled before it runs"]
pub struct Retrieval {
    model: Arc<dyn ChatModel>,
    namespace: Namespace,
    field: String,
    limit: usize,
    repairs: usize,
}

impl Retrieval {
    /// Creates the agent over the documents in that namespace of the store and below.
    pub fn new(model: impl ChatModel + 'static, namespace: impl Into<Namespace>) -> Self {
        Self {
            model: Arc::new(model),
            namespace: namespace.into(),
            field: "text".to_owned(),
            limit: 5,
            repairs: 1,
        }
    }

    /// Sets the field of a document that holds its text; the default is `text`. A document without it is
    /// given to the model as JSON.
    pub fn field(mut self, field: impl Into<String>) -> Self {
        self.field = field.into();
        self
    }

    /// Limits the number of documents that the model reads; the default is 5.
    pub fn limit(mut self, documents: usize) -> Self {
        self.limit = documents;
        self
    }

    /// Sets how often an answer with wrong citations goes back to the model; the default is once.
    ///
    /// An answer streams before its citations are checked: a reader also sees one that goes back, under an id that no
    /// message of the state has. With 0, none goes back.
    pub fn repairs(mut self, repairs: usize) -> Self {
        self.repairs = repairs;
        self
    }

    /// Compiles the agent into a graph that is ready to run. Its runs need a store.
    ///
    /// # Errors
    ///
    /// None, unless the graph is changed before: see [`into_graph`](Self::into_graph).
    pub fn compile(self) -> Result<CompiledStateGraph<RetrievalState>, CompilationErrors> {
        self.into_graph().compile()
    }

    /// Returns the agent as a graph, to add nodes and breakpoints.
    pub fn into_graph(self) -> StateGraph<RetrievalState> {
        let repairs = u32::try_from(self.repairs).unwrap_or(u32::MAX);
        let calls = Calls {
            model: repairs.saturating_add(1),
            tool: 0,
        };
        let mut graph = graph! {
            type State = RetrievalState;
            let retrieve = Retrieve {
                namespace: self.namespace,
                field: self.field,
                limit: self.limit,
            };
            let answer = Answer(self.model, self.repairs).calls(calls);
            START => retrieve => answer => END;
        };
        graph.set_name("retrieval");
        graph
    }
}

struct Retrieve {
    namespace: Namespace,
    field: String,
    limit: usize,
}

impl Node<RetrievalState> for Retrieve {
    fn run<'a>(
        &'a self,
        state: &'a RetrievalState,
        cx: &'a Context,
    ) -> NodeRun<'a, RetrievalState> {
        NodeRun::future(async move {
            let asked = state.messages.iter().rfind(|message| message.is_user());
            let asked = asked
                .map(|message| message.text().into_owned())
                .unwrap_or_default();
            let search = cx.store()?.search(self.namespace.clone());
            let found = search.query(asked).limit(self.limit).await?;
            let sources = found.into_iter().zip(1..).map(|(item, number)| Citation {
                number,
                namespace: item.namespace.labels().to_vec(),
                key: item.key,
                text: match item.value.get(&self.field) {
                    Some(Value::String(text)) => text.clone(),
                    _ => item.value.to_string(),
                },
            });
            Ok::<_, NodeError>(RetrievalStateUpdate::default().sources(sources.collect()))
        })
    }
}

struct Answer(Arc<dyn ChatModel>, usize);

impl Node<RetrievalState> for Answer {
    fn run<'a>(
        &'a self,
        state: &'a RetrievalState,
        cx: &'a Context,
    ) -> NodeRun<'a, RetrievalState> {
        NodeRun::future(async move {
            let Self(model, repairs) = self;
            let sources = state.sources.iter();
            let sources: Vec<String> = sources
                .map(|source| format!("[{}] {}\n\n", source.number, source.text))
                .collect();
            let sources = sources.concat();
            let prompt = format!(
                "Answer from these documents only. After each statement cite its document, as in [1]. \
                 If they do not say it, say so.\n\n{sources}"
            );
            let mut request = ChatRequest::new(state.messages.clone()).system(prompt);
            let mut reply = model.respond(request.clone(), cx).await?.message;
            for _ in 0..*repairs {
                let Err(why) = check(&reply.text(), state.sources.len()) else {
                    break;
                };
                request.messages.push(reply);
                request
                    .messages
                    .push(Message::user(format!("{why} Answer again.")));
                reply = model.respond(request.clone(), cx).await?.message;
            }
            let cited = cited(&reply.text());
            let citations = state.sources.iter();
            let citations = citations.filter(|source| cited.contains(&source.number));
            let update = RetrievalStateUpdate::default().citations(citations.cloned().collect());
            Ok::<_, NodeError>(update.messages(vec![reply]))
        })
    }
}

/// Checks that an answer cites documents that are there, and at least one if there are any.
fn check(answer: &str, documents: usize) -> Result<(), String> {
    let cited = cited(answer);
    match cited
        .iter()
        .find(|number| **number == 0 || **number > documents)
    {
        Some(unknown) => Err(format!("There is no document [{unknown}].")),
        None if cited.is_empty() && documents > 0 => {
            Err("The answer cites no document; say so if none of them helps.".to_owned())
        }
        None => Ok(()),
    }
}

/// The numbers that an answer cites: `[2]`, `[1, 3]`.
fn cited(answer: &str) -> Vec<usize> {
    let mut numbers: Vec<usize> = answer
        .split('[')
        .skip(1)
        .filter_map(|rest| rest.split_once(']'))
        .flat_map(|(inside, _)| inside.split(','))
        .filter_map(|number| number.trim().parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

impl fmt::Debug for Retrieval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retrieval")
            .field("namespace", &self.namespace)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_numbers_in_brackets() {
        assert_eq!(
            cited("Yes [2], and [1, 3] too; see [a] and [2]."),
            [1, 2, 3]
        );
        assert!(cited("No.").is_empty());
        assert!(check("Yes [1].", 1).is_ok());
        assert!(check("No.", 0).is_ok());
        assert!(check("Yes.", 2).is_err());
        assert_eq!(
            check("Yes [3].", 2).unwrap_err(),
            "There is no document [3]."
        );
        assert!(check("Yes [0].", 2).is_err());
    }
}
