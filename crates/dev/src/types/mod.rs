//! Types for programs in other languages that call the graphs: of their states, inputs, contexts, interrupts, custom
//! events and tools.

mod approvals;
mod declaration;
mod graph_types;
mod python;
mod reader;
mod typescript;

use crate::Graphs;
use declaration::Types;
use graph_types::read;

/// A language that types can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// TypeScript, for `@langchain/langgraph-sdk` and its hooks.
    TypeScript,
    /// Python: typed dictionaries.
    Python,
}

/// Returns the types of the graphs as the text of a file.
///
/// For a graph `chat` it declares `ChatState`, `ChatInput`, `ChatOutput`, and `ChatNode`, the names of its nodes.
/// If the graph has them, also:
///
/// - `ChatContext`;
/// - `ChatQuestions` and `ChatAnswers`: the interrupts and their answers, by the keys of the interrupts;
/// - `ChatEvent`, a custom event: of a node, of a tool that declares its events (those of MCP servers do, with the
///   progress of a call), or `tool_approval_answered` of a tool that needs an approval;
/// - `ChatToolCall`, a call of one of its tools in a message, with the arguments that the tool takes;
/// - `ChatToolApproval` and `ChatToolDecisions`: the interrupts before tools that need an approval, and their answers,
///   by the names of the tools.
///
/// In TypeScript also `ChatTypes`, the second argument of `useStream`, after `ChatState`.
///
/// A field whose Rust type has no JSON Schema is `unknown`, or `Any`: give the schema with
/// [`GraphHandle::state_schema`](langgraph_server::GraphHandle::state_schema). The answer to an interrupt is known
/// if the function of its node shows its key and its type;
/// [`GraphHandle::interrupt`](langgraph_server::GraphHandle::interrupt) declares it otherwise.
/// [`GraphHandle::custom_events`](langgraph_server::GraphHandle::custom_events) declares the custom events. Tools are
/// those of the graph's tool nodes.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
/// use langgraph_dev::{Graphs, Language, types};
///
/// #[derive(State, Clone, Debug, Default)]
/// struct Order {
///     item: String,
///     count: Option<u32>,
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut graph = StateGraph::<Order>::new();
/// graph.add_node("check", |_: &Order| ()).add_sequence(&["check"]);
/// let mut graphs = Graphs::default();
/// graphs.add("order", graph.compile()).await?;
///
/// let text = types(&graphs, Language::TypeScript);
/// assert!(text.contains(
///     "export interface OrderState {\n  count?: number | null;\n  item?: string;\n}\n"
/// ));
/// # Ok(())
/// # }
/// ```
pub fn types(graphs: &Graphs, language: Language) -> String {
    let all: Vec<Types> = graphs
        .iter()
        .map(|(name, graph)| read(name, graph.served()))
        .collect();
    match language {
        Language::TypeScript => typescript::write(&all),
        Language::Python => python::write(&all),
    }
}
