//! A list of to-dos, which the model keeps.

use langgraph::error::NodeError;
use langgraph_agent::{
    AgentContext, AgentMiddleware, ChatResponse, MiddlewareField, ModelCall, NextModel,
    ToolContext, ToolError, Tools, middleware, tool,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The list of [`TodoList`] in the state of the agent.
pub const TODOS: MiddlewareField<Vec<Todo>> = MiddlewareField::new("todos");

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Todo {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
}

/// How far a step of a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// It has not begun.
    Pending,
    /// It has begun.
    InProgress,
    /// It is done.
    Completed,
}

/// Gives the model a tool, `write_todos`, that keeps a list of its steps; as LangChain's
/// `TodoListMiddleware`.
///
/// The list is a field of the state, [`TODOS`]. A call replaces it as a whole.
///
/// # Examples
///
/// ```
/// use langgraph::message::ToolCall;
/// use langgraph_agent::{MessagesStateUpdate, ScriptedModel, Turn, react_agent};
/// use langgraph_middleware::{TODOS, TodoList};
/// use serde_json::json;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let todos = json!({"todos": [{"content": "read", "status": "in_progress"}]});
/// let model = ScriptedModel::new([
///     Turn::tool_calls([ToolCall::new("c1", "write_todos", todos)]),
///     Turn::text("I have begun."),
/// ]);
/// let agent = react_agent(model, ()).with(TodoList::new()).compile()?;
/// let state = agent.invoke(MessagesStateUpdate::user("Read it, then write.")).await?;
/// assert_eq!(TODOS.read(&state.middleware)?[0].content, "read");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct TodoList {
    prompt: String,
}

const PROMPT: &str = "For work of several steps, keep a list of to-dos with `write_todos`. Write it \
before you begin, mark a step as `in_progress` when you start it and as `completed` as soon as it is \
done, and change the list when you learn something new. Answer simple questions without a list.";

impl TodoList {
    /// Creates it with instructions of its own.
    pub fn new() -> Self {
        Self::prompt(PROMPT)
    }

    /// Creates it with other instructions about when to keep a list.
    pub fn prompt(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
        }
    }
}

impl Default for TodoList {
    fn default() -> Self {
        Self::new()
    }
}

/// Replaces the list of to-dos.
#[tool]
async fn write_todos(
    /// All steps, in their order.
    todos: Vec<Todo>,
    cx: &ToolContext<'_>,
) -> Result<String, ToolError> {
    let last = cx.messages().iter().rfind(|message| message.is_assistant());
    let calls = last
        .map(langgraph::message::Message::tool_calls)
        .unwrap_or_default();
    let own = calls.iter().filter(|call| call.name == cx.call().name);
    if own.count() > 1 {
        return Err(ToolError::model(
            "`write_todos` replaces the whole list: call it once at a time",
        ));
    }
    cx.fields().set(TODOS, &todos)?;
    let done = todos
        .iter()
        .filter(|one| one.status == TodoStatus::Completed);
    Ok(format!(
        "{} of {} to-dos are done",
        done.count(),
        todos.len()
    ))
}

#[middleware]
impl AgentMiddleware for TodoList {
    fn fields(&self) -> Vec<&'static str> {
        vec![TODOS.name()]
    }

    fn tools(&self) -> Tools {
        Tools::new().with(write_todos)
    }

    async fn around_model(
        &self,
        mut call: ModelCall,
        _: &AgentContext<'_>,
        next: NextModel<'_>,
    ) -> Result<ChatResponse, NodeError> {
        call.request = call.request.instruct(&self.prompt);
        next.run(call).await
    }
}
