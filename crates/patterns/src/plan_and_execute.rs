//! A plan, whose steps run side by side.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use langgraph::State;
use langgraph::error::NodeError;
use langgraph::graph::{
    CompilationErrors, CompiledStateGraph, ConfiguredWorker, END, EdgeBound, NodeExt as _, START,
    StateGraph, worker,
};
use langgraph::message::Message;
use langgraph::node::{Context, Node, NodeRun, Send, Target};
use langgraph_agent::{
    ChatModel, ChatModelExt as _, ChatRequest, MessagesState, MessagesStateUpdate,
    STRUCTURED_CALLS, final_answer,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of a [`PlanAndExecute`].
#[derive(State, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanState {
    /// What is wanted.
    pub objective: String,
    /// The steps of the current plan.
    pub steps: Vec<String>,
    /// What the steps of all plans have given, in their order.
    #[reducer(append)]
    pub done: Vec<StepResult>,
    /// How many plans there were.
    pub rounds: usize,
    /// The answer, once there is one.
    pub answer: Option<String>,
}

impl PlanStateUpdate {
    /// Returns the input with an objective. On a thread it begins anew, and the results stay.
    pub fn of(objective: impl Into<String>) -> Self {
        Self::default()
            .objective(objective.into())
            .rounds(0)
            .answer(None)
    }
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StepResult {
    /// The step.
    pub step: String,
    /// What the agent has said.
    pub result: String,
}

/// An agent that makes a plan of independent steps, has an agent work on all of them side by side, and
/// concludes: with an answer, or with steps that are still missing.
///
/// The steps are a map: each is a task of its own, whose result is kept if another one fails or asks.
///
/// # Examples
///
/// ```
/// use langgraph_agent::{ScriptedModel, react_agent};
/// use langgraph_patterns::{PlanAndExecute, PlanStateUpdate};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let planner = ScriptedModel::new([
///     r#"{"steps": ["tea in Japan", "tea in Morocco"]}"#,
///     r#"{"answer": "Green, and green with mint.", "steps": []}"#,
/// ]);
/// let worker = react_agent(ScriptedModel::new(["It is green.", "It is green."]), ()).compile()?;
/// let agent = PlanAndExecute::new(planner, worker).compile()?;
///
/// let state = agent.invoke(PlanStateUpdate::of("Compare teas.")).await?;
/// assert_eq!((state.done.len(), state.rounds), (2, 1));
/// assert_eq!(state.answer.as_deref(), Some("Green, and green with mint."));
/// # Ok(())
/// # }
/// ```
#[must_use = "an agent is compiled before it runs"]
pub struct PlanAndExecute {
    planner: Arc<dyn ChatModel>,
    agent: CompiledStateGraph<MessagesState>,
    rounds: usize,
    max_steps: usize,
}

/// The model's plan.
#[derive(Deserialize, JsonSchema)]
struct Plan {
    /// Steps that can be done independently, each with all that it needs to know.
    steps: Vec<String>,
}

/// The model's conclusion.
#[derive(Deserialize, JsonSchema)]
struct Conclusion {
    /// The answer to the objective, if the results suffice.
    answer: Option<String>,
    /// Steps that are still missing, if they do not.
    #[serde(default)]
    steps: Vec<String>,
}

impl PlanAndExecute {
    /// Creates the agent: `planner` makes the plan and concludes, `agent` works on each step.
    pub fn new(
        planner: impl ChatModel + 'static,
        agent: CompiledStateGraph<MessagesState>,
    ) -> Self {
        Self {
            planner: Arc::new(planner),
            agent,
            rounds: 3,
            max_steps: 20,
        }
    }

    /// Limits the number of plans; the default is 3. After the last one the answer is what there is. With 0, the
    /// model answers without a plan.
    pub fn rounds(mut self, rounds: usize) -> Self {
        self.rounds = rounds;
        self
    }

    /// Limits the steps of a plan; the default is 20. What a plan has beyond is not done: with 0, nothing.
    pub fn max_steps(mut self, steps: usize) -> Self {
        self.max_steps = steps;
        self
    }

    /// Compiles the agent into a graph that is ready to run.
    ///
    /// # Errors
    ///
    /// None, unless the graph is changed before: see [`into_graph`](Self::into_graph).
    pub fn compile(self) -> Result<CompiledStateGraph<PlanState>, CompilationErrors> {
        self.into_graph().compile()
    }

    /// Returns the agent as a graph, to add nodes and breakpoints.
    pub fn into_graph(self) -> StateGraph<PlanState> {
        let Self {
            planner,
            agent,
            rounds,
            max_steps,
        } = self;
        let mut graph = StateGraph::new();
        let calls = agent.topology().calls_at_worst();
        let execute = execute(agent).with(|node| node.calls(calls));
        let execute = graph.add_worker("execute", execute);
        let to_steps = move |state: &PlanState| -> Vec<Target<PlanState>> {
            let steps = state.steps.iter().cloned();
            steps
                .map(|step| Target::Send(Send::to(&execute, step)))
                .collect()
        };
        let after_plan = to_steps.clone();
        graph
            .set_name("plan_and_execute")
            .add_node(
                "plan",
                MakePlan(Arc::clone(&planner), max_steps).calls(STRUCTURED_CALLS),
            )
            .add_node(
                "conclude",
                Conclude(planner, rounds, max_steps).calls(STRUCTURED_CALLS),
            )
            .add_edge(START, "plan")
            .add_conditional_edges(
                "plan",
                move |state: &PlanState| match after_plan(state) {
                    none if none.is_empty() => vec![Target::Node("conclude".into())],
                    steps => steps,
                },
                ["execute", "conclude"],
            )
            .add_edge("execute", "conclude")
            .add_conditional_edges(
                "conclude",
                move |state: &PlanState| match to_steps(state) {
                    none if none.is_empty() => vec![Target::Node(END.into())],
                    steps => steps,
                },
                ["execute", END],
            );
        let of = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let (steps, rounds) = (of(max_steps), of(rounds));
        graph
            .add_bound(EdgeBound::new("plan", "execute", steps))
            .add_bound(EdgeBound::new(
                "conclude",
                "execute",
                steps.saturating_mul(rounds.saturating_sub(1)),
            ))
            .add_bound(EdgeBound::new("execute", "conclude", rounds));
        if rounds == 0 {
            graph.add_bound(EdgeBound::new(START, "plan", 0).or_else("conclude"));
        }
        graph
    }
}

type Executing<'a> =
    Pin<Box<dyn Future<Output = Result<PlanStateUpdate, NodeError>> + std::marker::Send + 'a>>;

/// The worker of the map: it runs the agent on a step, inside the run.
fn execute(agent: CompiledStateGraph<MessagesState>) -> ConfiguredWorker<PlanState, String> {
    fn borrowing<F>(run: F) -> F
    where
        F: for<'a> Fn(String, &'a PlanState, &'a Context) -> Executing<'a>,
    {
        run
    }
    worker(borrowing(
        move |step: String, state: &PlanState, cx: &Context| {
            let agent = agent.clone();
            Box::pin(async move {
                let task = format!("{step}\n\nIt is a part of this: {}", state.objective);
                let answered = cx.run(&agent, MessagesStateUpdate::user(task)).await?;
                let result = final_answer(&answered.messages);
                Ok(PlanStateUpdate::default().done(vec![StepResult { step, result }]))
            })
        },
    ))
}

/// The node `plan`.
struct MakePlan(Arc<dyn ChatModel>, usize);

impl Node<PlanState> for MakePlan {
    fn run<'a>(&'a self, state: &'a PlanState, cx: &'a Context) -> NodeRun<'a, PlanState> {
        NodeRun::future(async move {
            let request = ChatRequest::new(vec![Message::user(&*state.objective)]).system(
                "Make a plan: steps that can be done independently of each other, as few as possible.",
            );
            let mut plan = self.0.structured::<Plan>(request).send(cx).await?.value;
            plan.steps.truncate(self.1);
            let update = PlanStateUpdate::default()
                .steps(plan.steps)
                .rounds(state.rounds + 1);
            Ok::<_, NodeError>(update)
        })
    }
}

/// The node `conclude`.
struct Conclude(Arc<dyn ChatModel>, usize, usize);

impl Node<PlanState> for Conclude {
    fn run<'a>(&'a self, state: &'a PlanState, cx: &'a Context) -> NodeRun<'a, PlanState> {
        NodeRun::future(async move {
            let Self(planner, rounds, max_steps) = self;
            let last = state.rounds >= *rounds;
            let mut prompt = "Answer from the results of the steps, if they suffice.".to_owned();
            prompt.push_str(if last {
                " There is no time for further steps."
            } else {
                " If they do not, name the steps that are missing."
            });
            let results = state
                .done
                .iter()
                .map(|StepResult { step, result }| format!("Step: {step}\nResult: {result}\n\n"));
            let results = results.collect::<Vec<_>>().concat();
            let question = format!("{results}Objective: {}", state.objective);
            let request = ChatRequest::new(vec![Message::user(question)]).system(prompt);
            let conclusion = planner
                .structured::<Conclusion>(request)
                .send(cx)
                .await?
                .value;
            let mut steps = conclusion.steps;
            steps.truncate(*max_steps);
            let update = PlanStateUpdate::default();
            Ok::<_, NodeError>(if last || conclusion.answer.is_some() || steps.is_empty() {
                update
                    .steps(Vec::new())
                    .answer(Some(conclusion.answer.unwrap_or_default()))
            } else {
                update.steps(steps).rounds(state.rounds + 1)
            })
        })
    }
}

impl fmt::Debug for PlanAndExecute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanAndExecute")
            .field("rounds", &self.rounds)
            .field("max_steps", &self.max_steps)
            .finish_non_exhaustive()
    }
}
