//! The ids of the threads. Each has another state.

/// It has ended, after two runs.
pub const DONE: &str = "00000000-0000-4000-8000-000000000001";
/// It has done work once, and waits for an answer.
pub const ASKING: &str = "00000000-0000-4000-8000-000000000002";
/// A deep agent whose sub-agent has called a tool that asks.
pub const AGENT: &str = "00000000-0000-4000-8000-000000000003";
/// An entrypoint that has a result of a task, and waits for an answer.
pub const ENTRYPOINT: &str = "00000000-0000-4000-8000-000000000004";
/// A map of which three items are done and three were under way, and a run in the queue behind it.
pub const MAP: &str = "00000000-0000-4000-8000-000000000005";
/// A run in the queue that nothing but the limit of the server keeps waiting.
pub const QUEUED: &str = "00000000-0000-4000-8000-000000000006";
/// A run that waits for its time.
pub const DELAYED: &str = "00000000-0000-4000-8000-000000000007";
/// It rests until a time.
pub const RESTING: &str = "00000000-0000-4000-8000-000000000008";
/// A cron starts its runs.
pub const CRON: &str = "00000000-0000-4000-8000-000000000009";
