//! Agents of other people that fail: `?` in [`Agent::run`], and what the error says.

use std::error::Error;

use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{MessagesState, ModelErrorKind, ScriptedModel, tools_condition};

#[derive(Clone, Copy)]
enum Way {
    Model,
    Node,
    Boxed,
    File,
    Text,
    Json,
    Own,
    Tool,
    Graph,
}

struct Outside(Way);

#[derive(Debug, thiserror::Error)]
#[error("own error")]
struct Own(#[source] Box<AgentError>);

fn boxed() -> Result<i64, Box<dyn Error + Send + Sync>> {
    Ok("x".parse::<i64>()?)
}

fn of_a_node() -> Result<i64, NodeError> {
    Err(NodeError::msg("nothing to do"))
}

fn of_a_tool() -> Result<i64, ToolError> {
    Err(ToolError::model("too large"))
}

async fn inner(_: &i64) -> Result<i64, NodeError> {
    Err(NodeError::msg("inside"))
}

impl Agent for Outside {
    type State = i64;

    fn name(&self) -> &'static str {
        "outside"
    }

    async fn run(&self, _: i64) -> Result<i64, AgentError> {
        Ok(match self.0 {
            Way::Model => {
                let model = ScriptedModel::new(Vec::<String>::new());
                let answer = model.generate(ChatRequest::new(Vec::new())).await?;
                answer.message.text().len().try_into().unwrap_or(0)
            }
            Way::Node => of_a_node()?,
            Way::Boxed => boxed()?,
            Way::File => Err(std::io::Error::other("disk full"))?,
            Way::Text => "x".parse()?,
            Way::Json => serde_json::from_str("]")?,
            Way::Own => Err(Own(AgentError::Cancelled.into()))?,
            Way::Tool => of_a_tool()?,
            Way::Graph => {
                let graph = graph! { type State = i64; START => inner => END };
                graph.compile()?.invoke(0).await?
            }
        })
    }
}

async fn as_a_node(agent: impl Agent<State = i64>) -> AgentError {
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("step", agent).add_sequence(&["step"]);
    graph.compile().unwrap().invoke(0).await.unwrap_err()
}

#[tokio::test]
async fn an_agents_own_errors_say_its_name() {
    let named = |cause: &str| format!("node `step` failed: agent `outside` failed: {cause}");
    for (way, cause) in [
        (Way::Node, "nothing to do"),
        (Way::Boxed, "invalid digit found in string"),
        (Way::File, "disk full"),
        (Way::Text, "invalid digit found in string"),
        (Way::Json, "expected value at line 1 column 1"),
        (Way::Own, "own error"),
        (Way::Tool, "too large"),
    ] {
        let error = as_a_node(Outside(way)).await;
        assert_eq!(error.to_string(), named(cause));
        // Boxed and shared ones too, also when they are run without a graph.
        assert_eq!(
            as_a_node(Box::new(Outside(way))).await.to_string(),
            named(cause)
        );
        let shared = std::sync::Arc::new(Outside(way));
        let alone = Agent::run(&shared, 0).await.unwrap_err();
        assert_eq!(
            alone.to_string(),
            format!("agent `outside` failed: {cause}")
        );
        // Without a middleware, the agent's own name is not needed.
        let alone = Outside(way).run(0).await.unwrap_err();
        assert_eq!(alone.to_string(), cause);
    }
}

#[tokio::test]
async fn the_error_of_a_model_is_found_in_that_of_an_agent() {
    let error = as_a_node(Outside(Way::Model)).await;
    let text = error.to_string();
    assert!(
        text.starts_with("node `step` failed: agent `outside` failed: "),
        "{text}"
    );
    let node = error.node_error().unwrap();
    let cause = node.downcast_ref::<ModelError>().unwrap();
    assert_eq!(*cause.kind(), ModelErrorKind::InvalidRequest);
    // And the error of the agent, for who wants to know which one it was.
    let agent = node.downcast_ref::<AgentError>();
    assert!(
        matches!(agent, Some(AgentError::Agent { agent: Some(name), .. }) if name == "outside")
    );
}

#[tokio::test]
async fn the_error_of_a_graph_in_an_agent_stays_what_it_was() {
    let error = as_a_node(Outside(Way::Graph)).await;
    assert_eq!(
        error.to_string(),
        "node `step` failed: node `inner` failed: inside"
    );
}

/// What a test or `main` prints of an error that it returns.
fn printed(test: impl FnOnce() -> Result<(), Box<dyn Error>>) -> String {
    format!("{:?}", test().unwrap_err())
}

#[test]
fn tests_and_main_print_the_messages_of_errors() {
    let tool = || Err(ToolError::model("no such file"));
    assert_eq!(printed(|| Ok(tool()?)), "no such file");
    let model = || Err(ModelError::new(ModelErrorKind::Auth, "the key is wrong"));
    let shown = printed(|| Ok(model()?));
    assert!(shown.ends_with("the key is wrong"), "{shown}");
    let node = || Err(NodeError::from(model().map(|()| 0).unwrap_err()));
    assert_eq!(
        printed(|| node().map(|(): ()| ()).map_err(Into::into)),
        shown
    );
    let route = || tools_condition(&MessagesState::default()).map(drop);
    let shown = printed(|| Ok(route()?));
    assert!(shown.starts_with("no message found"), "{shown}");
}
