//! What the project's tests share.

mod byte_saver;
pub mod fixtures;
pub mod golden;
mod loopback;
mod over_memory;
pub mod parity;
mod savers;

pub use byte_saver::{ByteSaver, KeptLog};
pub use loopback::Loopback;
pub use over_memory::OverMemory;
pub use savers::{Opened, open_saver};

/// The environment variable that names a server.
#[cfg(any(feature = "nats", feature = "restate"))]
pub(crate) fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("`{name}` names no server"))
}

/// The pages outside of the crates: their code is compiled and run with the other examples. That of the READMEs is a
/// program that `tests/tests/readme.rs` holds, word for word.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../docs/introduction.md")]
    struct Introduction;

    #[doc = include_str!("../../docs/tutorial-agent.md")]
    struct TutorialAgent;

    #[doc = include_str!("../../docs/from-python.md")]
    struct FromPython;

    #[doc = include_str!("../../docs/how-graph-reads.md")]
    struct HowGraphReads;

    #[doc = include_str!("../../docs/graph-or-function.md")]
    struct GraphOrFunction;

    #[doc = include_str!("../../docs/persistence.md")]
    struct Persistence;

    #[doc = include_str!("../../docs/bounds.md")]
    struct Bounds;

    #[doc = include_str!("../../docs/changing.md")]
    struct Changing;

    #[doc = include_str!("../../docs/errors.md")]
    struct Errors;

    #[doc = include_str!("../../docs/http.md")]
    struct Http;

    #[doc = include_str!("../../docs/simulate.md")]
    struct Simulate;

    #[doc = include_str!("../../docs/testing.md")]
    struct Testing;

    #[doc = include_str!("../../docs/reliability.md")]
    struct Reliability;

    #[doc = include_str!("../../docs/performance.md")]
    struct Performance;

    #[doc = include_str!("../../docs/langgraph-rust-alignment.md")]
    struct Alignment;
}

/// What is said of the macros, which is documentation of `langgraph` too: their own crate comes before the runtime.
#[cfg(doctest)]
mod macros {
    #[doc = include_str!("../../langgraph-macros/src/state.md")]
    struct State;

    #[doc = include_str!("../../langgraph-macros/src/node.md")]
    struct Node;

    #[doc = include_str!("../../langgraph-macros/src/graph.md")]
    struct Graph;

    #[doc = include_str!("../../langgraph-macros/src/tool.md")]
    struct Tool;

    #[doc = include_str!("../../langgraph-macros/src/task.md")]
    struct Task;

    #[doc = include_str!("../../langgraph-macros/src/entrypoint.md")]
    struct Entrypoint;
}
