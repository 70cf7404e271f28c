//! The names of the first sketches: what the page says that they are today compiles, for it is the
//! code of this file.

use std::error::Error;
use std::sync::Arc;

use langgraph::checkpoint::Checkpointer;
use langgraph::graph::NodeKind;
use langgraph::prelude::*;
use langgraph::state::{Reducer as _, Replace};
use langgraph_agent::prelude::*;
use langgraph_agent::{FnTool, ScriptedModel, SimpleAgent, SimpleAgentState};
use langgraph_remote::prelude::*;

#[derive(State, Clone, Debug, Default)]
struct S {
    #[reducer(add_messages)]
    messages: Vec<Message>,
    done: bool,
}

/// What the expressions use.
struct Given {
    builder: StateGraph<S>,
    graph: CompiledStateGraph<S>,
    state: S,
    partial: SUpdate,
    saver: Arc<dyn Checkpointer>,
    model: ScriptedModel,
    messages: Vec<Message>,
    agent: SimpleAgent,
    agent_state: SimpleAgentState,
    id: String,
}

#[node]
async fn node(_: &S) -> SUpdate {
    SUpdate::default()
}

fn request(state: &S) -> Option<String> {
    state.done.then(String::new)
}

fn result(_: String) -> SUpdate {
    SUpdate::default()
}

async fn now() -> &'static str {
    "noon"
}

/// Compiles each expression in a function of its own, and keeps its text.
macro_rules! today {
    ($given:pat => $($expression:expr;)*) => {
        const TODAY: &[&str] = &[$(stringify!($expression)),*];

        #[allow(unused, clippy::unused_async)]
        fn compiled() {
            $({
                async fn row($given: Given) -> Result<(), Box<dyn Error>> {
                    let _ = $expression;
                    Ok(())
                }
            })*
        }
    };
}

today! {
    Given { mut builder, graph, state, partial, saver, model, messages, agent, agent_state, id } =>

    graph.draw().mermaid();
    graph.run(state).stream(StreamMode::Updates).next().await;
    builder.compile()?.checkpointer(saver);
    graph.run(state).thread("t").await?;
    graph.thread("t").state().await?;
    graph.thread("t").update(state).await?;
    builder.add_edge("a", "b");
    builder.add_node("a", node);
    builder.add_node("name", node);
    builder.add_router("a", |state: &S| if state.done { END } else { "b" });
    builder.add_remote_node("mail", "mail-agent", request, result);
    NodeKind::Remote { agent: id };
    <S as State>::Update::default();
    state.merge(partial)?;
    Replace.merge(1, 2);
    Message::user("hi");
    Message::tool(id, "noon");
    Arc::new(model) as Arc<dyn ChatModel>;
    model.generate(ChatRequest::new(messages)).await?;
    SimpleAgent::new(model);
    agent.run_partial(&agent_state).await?;
    Tools::new().with(FnTool::new("now", "The time.", now));
}

/// The rows of the page's table: the old spelling, and today's.
fn rows() -> Vec<(String, String)> {
    let page = super::read("docs/langgraph-rust-alignment.md");
    let (_, table) = page.split_once("## Names of the first sketches").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let cells = rows.map(|row| {
        let (old, new) = row.split_once(" | `").unwrap();
        let new = new.strip_suffix("` |").unwrap();
        (old.to_owned(), new.replace(r"\|", "|"))
    });
    cells.collect()
}

#[test]
fn i4_what_the_old_names_are_today_compiles() {
    compiled();
    let words = |text: &str| text.split_whitespace().collect::<String>();
    let page: Vec<_> = rows().iter().map(|(_, today)| words(today)).collect();
    let today: Vec<_> = TODAY.iter().map(|text| words(text)).collect();
    assert_eq!(page, today, "the page, and what is compiled here");
}

#[test]
fn i4_the_old_names_are_on_the_page() {
    let rows = rows();
    for name in [
        "get_graph().draw_mermaid()",
        "stream(",
        "LlmClient",
        "run_partial",
        "NodeKind::Remote(id)",
        "Node::id",
        "a router without a map",
        "llm.chat",
        "REPLACE",
        "S::Partial",
        "add_edge(to)",
        "load_state",
        "save_state",
    ] {
        assert!(rows.iter().any(|(old, _)| old.contains(name)), "{name}");
    }
}
