//! Why an agent cannot be compiled.

use langgraph::graph::CompilationErrors;

/// Why an agent cannot be compiled.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AgentBuildError {
    /// Two middlewares have a field of the same name.
    #[error(
        "the middlewares `{first}` and `{second}` both have the field `{field}`; remove one, or give it another field"
    )]
    TwoFields {
        /// The field.
        field: String,
        /// The middleware that is the first in the list.
        first: String,
        /// The other one.
        second: String,
    },
    /// Middleware has fields, and the state of the agent has no room for them.
    #[error(
        "the middleware `{middleware}` has the field `{field}`, and the state `{state}` has no room for it; implement both methods of `AgentState` for the state"
    )]
    NoRoom {
        /// The middleware.
        middleware: String,
        /// The field.
        field: String,
        /// The type of the state.
        state: &'static str,
    },
    /// Middleware brings a tool whose name another tool has.
    #[error(
        "the middleware `{middleware}` brings the tool `{tool}`, and the agent already has a tool of that name; rename one of them"
    )]
    TwoTools {
        /// The middleware.
        middleware: String,
        /// The tool.
        tool: String,
    },
    /// Two middlewares with hooks before or after the agent or its model have the same name.
    #[error(
        "two middlewares are named `{name}`, and both have the node `{name}.{hook}`; remove one, or return another name from `AgentMiddleware::name`"
    )]
    TwoNames {
        /// The name.
        name: String,
        /// The hook that both have.
        hook: crate::Hook,
    },
    /// Middleware does not fit the agent.
    #[error("the middleware `{middleware}` does not fit the agent: {reason}")]
    Unfit {
        /// The middleware.
        middleware: String,
        /// What is wrong.
        reason: String,
    },
    /// The graph does not compile.
    #[error(transparent)]
    Graph(#[from] CompilationErrors),
}

langgraph::debug_is_message!(AgentBuildError);
