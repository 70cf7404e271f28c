//! A collection of tools.

use std::fmt;
use std::sync::Arc;

use langgraph::graph::{Calls, ToolInfo};
use langgraph::message::{Message, ToolResult};

use super::{IntoTool, Tool, ToolDefinition};

/// Tools by name, in insertion order.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{FnTool, Tools};
///
/// let now = FnTool::new("now", "The time.", || async { "12:00" });
/// let today = FnTool::new("today", "The date.", || async { "2024-01-01" });
///
/// let tools = Tools::new().with(now).with(today);
/// let names: Vec<_> = tools.definitions().into_iter().map(|tool| tool.name).collect();
/// assert_eq!(names, ["now", "today"]);
/// ```
#[derive(Clone, Default)]
pub struct Tools {
    list: Vec<Arc<dyn Tool>>,
    /// True of `()`: there are none in any run of the program.
    is_unit: bool,
}

impl Tools {
    /// Creates an empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) const fn empty() -> Self {
        Self {
            list: Vec::new(),
            is_unit: true,
        }
    }

    /// Returns true if the program has written `()`. A list that is empty only now may have held tools when a thread
    /// was stored.
    pub(crate) fn is_unit(&self) -> bool {
        self.is_unit
    }

    /// Adds a tool. It replaces one of the same name.
    #[must_use]
    pub fn with<K>(mut self, tool: impl IntoTool<K>) -> Self {
        self.insert(tool);
        self
    }

    /// Adds a tool. It replaces one of the same name.
    pub fn insert<K>(&mut self, tool: impl IntoTool<K>) {
        let tool = tool.into_tool();
        self.is_unit = false;
        match self.list.iter_mut().find(|old| old.name() == tool.name()) {
            Some(old) => *old = tool,
            None => self.list.push(tool),
        }
    }

    /// Returns the tool of that name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.list.iter().find(|tool| tool.name() == name)
    }

    /// Returns the tools in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Arc<dyn Tool>> {
        self.list.iter()
    }

    /// Returns true if one of them [returns directly](Tool::returns_directly).
    pub fn any_return_directly(&self) -> bool {
        self.iter().any(Tool::returns_directly)
    }

    /// Returns true if a chat ends with results of tools, and they are the agent's answer: these tools
    /// [return directly](Tool::returns_directly), and none has failed.
    ///
    /// A router after tools that run as tasks of their own sees the result of one of them. If one result leads back to
    /// the model and another to the end, the model is called.
    ///
    /// # Examples
    ///
    /// A loop of its own that ends with such a tool:
    ///
    /// ```
    /// use langgraph::message::ToolCall;
    /// use langgraph::prelude::*;
    /// use langgraph_agent::prelude::*;
    /// use langgraph_agent::{FnTool, MessagesState, MessagesStateUpdate, ScriptedModel, Turn, tools_condition};
    /// use serde_json::json;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let now = FnTool::new("now", "The time.", || async { "12:00" }).return_directly();
    /// let tools = Tools::new().with(now);
    /// let call = ToolCall::new("c1", "now", json!({}));
    /// let model = ModelNode::new(ScriptedModel::new([Turn::tool_calls([call])])).tools(&tools);
    ///
    /// let mut graph = StateGraph::<MessagesState>::new();
    /// graph
    ///     .add_node("agent", model)
    ///     .add_node("tools", ToolNode::new(&tools))
    ///     .add_edge(START, "agent")
    ///     .add_conditional_edges("agent", tools_condition, ["tools", END])
    ///     .add_conditional_edges(
    ///         "tools",
    ///         move |state: &MessagesState| {
    ///             if tools.answered_directly(&state.messages) { END } else { "agent" }
    ///         },
    ///         ["agent", END],
    ///     );
    /// let state = graph.compile()?.invoke(MessagesStateUpdate::user("What time is it?")).await?;
    /// assert_eq!(state.messages.last().unwrap().text(), "12:00");
    /// # Ok(())
    /// # }
    /// ```
    pub fn answered_directly(&self, messages: &[Message]) -> bool {
        let results = messages.iter().rev().map_while(Message::tool_result);
        let mut results = results.peekable();
        results.peek().is_some() && results.all(|result| self.is_direct(result))
    }

    /// Returns true if the result is that of a tool that returns directly, and the tool has not failed.
    pub(crate) fn is_direct(&self, result: &ToolResult) -> bool {
        let tool = result.name.as_deref().and_then(|name| self.get(name));
        !result.is_error() && tool.is_some_and(Tool::returns_directly)
    }

    /// Checks that there are tools of these names.
    ///
    /// # Errors
    ///
    /// A text that names the first one that is missing, and those that there are.
    pub fn require<'a>(&self, names: impl IntoIterator<Item = &'a String>) -> Result<(), String> {
        let mut names = names.into_iter();
        match names.find(|name| self.get(name).is_none()) {
            None => Ok(()),
            Some(name) => {
                let known: Vec<_> = self.iter().map(Tool::name).collect();
                Err(format!(
                    "there is no tool `{name}` (tools: {})",
                    known.join(", ")
                ))
            }
        }
    }

    /// Returns true if there are no tools.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the descriptions for a model.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        self.iter().map(|tool| tool.definition().clone()).collect()
    }

    /// Returns what a call of any of them calls at worst: the tool, and what it calls itself.
    pub fn calls(&self) -> Calls {
        let inner = self.iter().map(Tool::inner_calls);
        let most = inner.fold(Calls::default(), Calls::or);
        most.and(Calls { model: 0, tool: 1 })
    }

    /// Returns what a node calls that runs all calls of an answer: no tools are counted, since an answer may
    /// request any number, and so nothing bounds what they call themselves.
    pub fn calls_of_an_answer(&self) -> Calls {
        if self.iter().all(|tool| tool.inner_calls().is_empty()) {
            Calls::default()
        } else {
            Calls::UNBOUNDED
        }
    }

    /// Returns what a node declares that runs them, given the decisions that a person may take about each: also the tools
    /// of the agents that they run.
    pub(crate) fn infos(&self, decisions: impl Fn(&str) -> Vec<String>) -> Vec<ToolInfo> {
        let own = self.iter().map(|tool| {
            let events = tool.custom_events().map(|schema| schema.to_string());
            let tool = tool.definition();
            ToolInfo::new(&tool.name, tool.parameters.to_string())
                .docs(&tool.description)
                .decisions(decisions(&tool.name))
                .custom_events(events.unwrap_or_default())
        });
        let inner = self.iter().flat_map(super::Tool::inner_tools);
        own.chain(inner).collect()
    }
}

impl<'a> IntoIterator for &'a Tools {
    type Item = &'a Arc<dyn Tool>;
    type IntoIter = std::slice::Iter<'a, Arc<dyn Tool>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(Tool::name)).finish()
    }
}

/// A type that converts into a list of tools: [`Tools`], a tuple of different tools
/// (`(get_time, add)`), or an array or a `Vec` of tools of one type. `K` only separates these forms
/// and is always inferred.
#[diagnostic::on_unimplemented(
    message = "these are not tools",
    label = "expected tools",
    note = "write a tuple of tools, as in `(get_time, add)`, an array or `Vec` of tools of one type, or `Tools::new().with(get_time)`"
)]
pub trait IntoTools<K> {
    /// Converts into the tools.
    fn into_tools(self) -> Tools;
}

impl IntoTools<Tools> for Tools {
    fn into_tools(self) -> Tools {
        self
    }
}

impl IntoTools<Tools> for &Tools {
    fn into_tools(self) -> Tools {
        self.clone()
    }
}

impl<K, T: IntoTool<K>> IntoTools<(K,)> for Vec<T> {
    fn into_tools(self) -> Tools {
        self.into_iter().fold(Tools::new(), Tools::with)
    }
}

impl<K, T: IntoTool<K>, const N: usize> IntoTools<(K,)> for [T; N] {
    fn into_tools(self) -> Tools {
        self.into_iter().fold(Tools::new(), Tools::with)
    }
}

impl IntoTools<()> for () {
    fn into_tools(self) -> Tools {
        Tools::empty()
    }
}

macro_rules! tuples {
    ($($(($tool:ident $kind:ident $value:ident))+;)*) => {$(
        impl<$($tool: IntoTool<$kind>, $kind),+> IntoTools<($($kind,)+)> for ($($tool,)+) {
            fn into_tools(self) -> Tools {
                let ($($value,)+) = self;
                Tools::new()$(.with($value))+
            }
        }
    )*};
}

tuples!(
    (A KA a);
    (A KA a)(B KB b);
    (A KA a)(B KB b)(C KC c);
    (A KA a)(B KB b)(C KC c)(D KD d);
    (A KA a)(B KB b)(C KC c)(D KD d)(E KE e);
    (A KA a)(B KB b)(C KC c)(D KD d)(E KE e)(F KF f);
    (A KA a)(B KB b)(C KC c)(D KD d)(E KE e)(F KF f)(G KG g);
    (A KA a)(B KB b)(C KC c)(D KD d)(E KE e)(F KF f)(G KG g)(H KH h);
);
