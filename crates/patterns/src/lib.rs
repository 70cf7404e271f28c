//! Ready-made agents: each a short program over the public interface of [`langgraph`] and
//! [`langgraph_agent`], to use or to read.
//!
//! | agent | what it does |
//! |---|---|
//! | [`Supervisor`] | a model hands parts of the work to other agents, and takes their results |
//! | [`Swarm`] | agents hand the conversation over to each other |
//! | [`PlanAndExecute`] | a plan, whose steps run side by side, and a conclusion |
//! | [`Reflection`] | a draft, criticised and rewritten until it is good enough |
//! | [`Retrieval`] | answers from documents of a store, with citations |
//! | [`Reviewed`] | a person reads the answer before it goes out |
//!
//! All of them compile into graphs. As nodes of another graph they live inside its runs: tokens stream
//! there, resources and budgets are those of the outer run, and pauses pass through. A person who
//! decides about single calls of tools is middleware of the agents themselves:
//! [`HumanInTheLoop`](langgraph_agent::HumanInTheLoop).

mod hand_off;
mod plan_and_execute;
mod reflection;
mod retrieval;
mod reviewed;
mod supervisor;
mod swarm;

pub use plan_and_execute::{PlanAndExecute, PlanState, PlanStateUpdate, StepResult};
pub use reflection::{Reflection, ReflectionState, ReflectionStateUpdate};
pub use retrieval::{Citation, Retrieval, RetrievalState, RetrievalStateUpdate};
pub use reviewed::{Review, ReviewAnswer, Reviewed, ReviewedState, ReviewedStateUpdate};
pub use supervisor::Supervisor;
pub use swarm::{Swarm, SwarmState, SwarmStateUpdate};
