//! Tools: every form of tool, and what models send them.

use std::sync::Arc;
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::message::ToolCall;
use langgraph::prelude::*;
use langgraph_agent::__private::{schemars, serde};
use langgraph_agent::prelude::*;
use langgraph_agent::{
    FnTool, IntoTools, Json, MessagesState, MessagesStateUpdate, ToolDefinition, ToolFuture,
    ToolMeta, ToolOutput, ToolRun, pending_tool_calls,
};
use serde_json::{Value, json};

mod approval;
mod approval_holds;
mod made_at_run_time;
mod schemas;
mod tasks;

/// What `#[tool]` writes for a function with a context.
mod expanded {
    use super::*;

    pub(crate) fn repeat<'a>(
        word: String,
        times: u8,
        cx: &'a ToolContext<'_>,
    ) -> ToolFuture<'a, Result<String, ToolError>, __tool_repeat> {
        ToolFuture::new(async move {
            if times == 0 {
                return Err(ToolError::model(format!("{}: zero times", cx.call_id())));
            }
            Ok(word.repeat(times.into()))
        })
    }

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(crate = "::langgraph_agent::__private::serde")]
    #[schemars(crate = "::langgraph_agent::__private::schemars")]
    pub(crate) struct Arguments {
        /// What to repeat.
        word: String,
        times: u8,
    }

    #[allow(non_camel_case_types)]
    pub(crate) enum __tool_repeat {}

    impl ToolMeta for __tool_repeat {
        const NAME: &'static str = "repeat";
        const DESCRIPTION: &'static str = "Repeats a word.";
        type Arguments = Arguments;

        fn call<'a>(arguments: Arguments, cx: &'a ToolContext<'a>) -> ToolRun<'a> {
            repeat(arguments.word, arguments.times, cx).into_run()
        }
    }

    pub(crate) fn now() -> ToolFuture<'static, &'static str, __tool_now> {
        ToolFuture::new(async move { "12:00" })
    }

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(crate = "::langgraph_agent::__private::serde")]
    #[schemars(crate = "::langgraph_agent::__private::schemars")]
    pub(crate) struct NoArguments {}

    #[allow(non_camel_case_types)]
    pub(crate) enum __tool_now {}

    impl ToolMeta for __tool_now {
        const NAME: &'static str = "now";
        const DESCRIPTION: &'static str = "The time.";
        type Arguments = NoArguments;

        fn call<'a>(_: NoArguments, _: &'a ToolContext<'a>) -> ToolRun<'a> {
            now().into_run()
        }
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = "::langgraph_agent::__private::serde")]
#[schemars(crate = "::langgraph_agent::__private::schemars")]
struct Add {
    a: i64,
    b: i64,
}

async fn add(arguments: Add, cx: &ToolContext<'_>) -> Json<Value> {
    Json(json!({"sum": arguments.a + arguments.b, "call": cx.call_id()}))
}

#[test]
fn every_form_of_tool_goes_into_one_list() {
    let struct_tool = FnTool::new("struct", "", |Add { a, b }: Add| async move { a - b });
    let tools = (
        expanded::repeat,
        expanded::now,
        FnTool::new("add", "Adds.", add),
        FnTool::new("nothing", "", || async {}),
        Arc::new(struct_tool) as Arc<dyn Tool>,
    )
        .into_tools();
    let names: Vec<_> = tools.iter().map(Tool::name).collect();
    assert_eq!(names, ["repeat", "now", "add", "nothing", "struct"]);
    assert_eq!(
        tools.definitions()[0],
        ToolDefinition::new(
            "repeat",
            "Repeats a word.",
            json!({
                "type": "object",
                "properties": {
                    "word": {"type": "string", "description": "What to repeat."},
                    "times": {"type": "integer", "minimum": 0, "maximum": 255},
                },
                "required": ["word", "times"],
            })
        )
    );
    assert_eq!(
        tools.definitions()[1].parameters,
        json!({"type": "object", "properties": {}})
    );
}

// What models send

fn calls(calls: impl IntoIterator<Item = ToolCall>) -> MessagesStateUpdate {
    MessagesStateUpdate::default().messages(vec![
        Message::user("go"),
        Message::assistant_with_tool_calls("", calls),
    ])
}

/// A graph of one tool node.
fn graph_of(node: ToolNode) -> CompiledStateGraph<MessagesState> {
    let graph = graph! {
        type State = MessagesState;
        let tools = node;
        START => tools => END;
    };
    graph.compile().unwrap()
}

/// A graph that runs each call as a task of its own.
fn fanned_out(node: ToolNode) -> CompiledStateGraph<MessagesState> {
    let graph = graph! {
        type State = MessagesState;
        let tools = node;
        START => for call in pending_tool_calls { tools(call) } => END;
    };
    graph.compile().unwrap()
}

/// Call id, whether it is an error, and the text of each answer.
fn answers(state: &MessagesState) -> Vec<(String, bool, String)> {
    let results = state.messages.iter().filter_map(Message::tool_result);
    results
        .map(|result| {
            let text = result.content.text().into_owned();
            (result.call_id.clone(), result.is_error(), text)
        })
        .collect()
}

fn add_tool() -> FnTool {
    FnTool::new("add", "Adds.", |Add { a, b }: Add| async move { a + b })
}

#[tokio::test]
async fn g9_every_call_is_answered_exactly_once_in_order() {
    let boom = FnTool::new("boom", "", || async {
        let places: Vec<&str> = Vec::new();
        *places.first().expect("at the disco")
    });
    let fail = FnTool::new("fail", "", || async { "x".parse::<i32>().map(|_| ()) });
    let asked = || {
        calls([
            ToolCall::new("c1", "nope", json!({"x": 1})),
            ToolCall::new("c2", "add", json!({"a": 1, "b": "two"})),
            ToolCall::from_text("c3", "add", r#"{"a": 1, "#),
            ToolCall::new("c4", "add", json!({"a": 1, "b": 2})),
            ToolCall::new("c5", "boom", json!({})),
            ToolCall::new("c6", "fail", json!({})),
        ])
    };
    let node = ToolNode::new((add_tool(), boom, fail));
    for graph in [graph_of(node.clone()), fanned_out(node)] {
        let state = graph.invoke(asked()).await.unwrap();
        let expected = [
            (
                "c1",
                true,
                "Error: nope is not a valid tool, try one of [add, boom, fail].",
            ),
            (
                "c2",
                true,
                "Error invoking tool 'add' with kwargs {\"a\":1,\"b\":\"two\"} with error:\n b: invalid type: string \"two\", expected i64\n Please fix the error and try again.",
            ),
            (
                "c3",
                true,
                "Error invoking tool 'add' with kwargs {\"a\": 1,  with error:\n the arguments are not a JSON object\n Please fix the error and try again.",
            ),
            ("c4", false, "3"),
            (
                "c5",
                true,
                "Error: panicked: at the disco\n Please fix your mistakes.",
            ),
            (
                "c6",
                true,
                "Error: invalid digit found in string\n Please fix your mistakes.",
            ),
        ];
        let expected = expected.map(|(id, error, text)| (id.to_owned(), error, text.to_owned()));
        assert_eq!(answers(&state), expected);
    }
}

#[tokio::test(start_paused = true)]
async fn g10_calls_of_one_turn_overlap_and_keep_their_order() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(crate = "::langgraph_agent::__private::serde")]
    #[schemars(crate = "::langgraph_agent::__private::schemars")]
    struct Wait {
        seconds: u64,
    }
    let wait = FnTool::new("wait", "", |Wait { seconds }: Wait| async move {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        seconds
    });
    let node = ToolNode::new((wait,));
    for graph in [graph_of(node.clone()), fanned_out(node)] {
        let start = tokio::time::Instant::now();
        let waits = [30, 10, 20].map(|n| {
            let id = format!("c{n}");
            ToolCall::new(id, "wait", json!({"seconds": n}))
        });
        let state = graph.invoke(calls(waits)).await.unwrap();
        assert_eq!(start.elapsed(), Duration::from_secs(30));
        let texts: Vec<_> = answers(&state).into_iter().map(|(.., text)| text).collect();
        assert_eq!(texts, ["30", "10", "20"]);
    }
}

#[tokio::test]
async fn only_calls_without_an_answer_run() {
    let graph = graph_of(ToolNode::new((add_tool(),)));
    let mut input = calls([
        ToolCall::new("c1", "add", json!({"a": 1, "b": 2})),
        ToolCall::new("c2", "add", json!({"a": 3, "b": 4})),
    ]);
    let messages = input.messages.as_mut().unwrap();
    messages.push(Message::tool("c1", "a person says 3"));
    let state = graph.invoke(input).await.unwrap();
    let texts: Vec<_> = answers(&state).into_iter().map(|(.., text)| text).collect();
    assert_eq!(texts, ["a person says 3", "7"]);
}

#[tokio::test]
async fn a_tool_node_without_a_model_before_it_says_so() {
    let graph = graph_of(ToolNode::new((add_tool(),)));
    for (input, text) in [
        (MessagesStateUpdate::default(), "no message found"),
        (
            MessagesStateUpdate::user("hi"),
            "no assistant message found",
        ),
    ] {
        let error = graph.invoke(input).await.unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
    let input = MessagesStateUpdate::default().messages(vec![Message::assistant("no calls")]);
    assert_eq!(graph.invoke(input).await.unwrap().messages.len(), 1);
}

#[tokio::test]
async fn fatal_errors_and_missing_resources_fail_the_node() {
    async fn needs_a_model(_: Nothing, cx: &ToolContext<'_>) -> Result<String, ToolError> {
        cx.resource::<dyn ChatModel>()?;
        Ok(String::new())
    }
    let fatal = FnTool::new("t", "", || async {
        Err::<(), _>(ToolError::fatal(NodeError::msg("out of disk")))
    });
    let missing = FnTool::new("t", "", needs_a_model);
    for (tool, text) in [(fatal, "out of disk"), (missing, "no resource of type")] {
        let node = ToolNode::new((tool,));
        for graph in [graph_of(node.clone()), fanned_out(node)] {
            let asked = calls([ToolCall::new("c", "t", json!({}))]);
            let error = graph.invoke(asked).await.unwrap_err();
            assert!(matches!(&error, AgentError::Node { node, .. } if &**node == "tools"));
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}

#[tokio::test]
async fn errors_are_worded_or_raised_as_asked() {
    let fail = FnTool::new("fail", "", || async {
        Err::<(), _>(ToolError::model("too hot"))
    });
    let node = ToolNode::new((fail,));
    let asked = || {
        calls([
            ToolCall::new("c1", "fail", json!({})),
            ToolCall::new("c2", "fial", json!({})),
        ])
    };
    let worded = node
        .clone()
        .describe_errors(|call, error| format!("工具执行错误: {error} ({})", call.id));
    let state = graph_of(worded).invoke(asked()).await.unwrap();
    assert_eq!(answers(&state)[0].2, "工具执行错误: too hot (c1)");
    let error = graph_of(node.fail_on_errors())
        .invoke(asked())
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "node `tools` failed: tool `fail`: too hot"
    );
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = "::langgraph_agent::__private::serde")]
#[schemars(crate = "::langgraph_agent::__private::schemars")]
struct Nothing {}

/// Asks a person before it runs.
async fn delete(_: Nothing, cx: &ToolContext<'_>) -> Result<String, ToolError> {
    let sure: bool = cx.interrupt("sure", &format!("run {}?", cx.call_id()))?;
    Ok(format!("{}: {sure}", cx.call_id()))
}

fn asked_twice() -> MessagesStateUpdate {
    calls(["c1", "c2"].map(|id| ToolCall::new(id, "delete", json!({}))))
}

#[derive(State, Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(crate = "::langgraph_agent::__private::serde")]
struct Replaced {
    talk: Vec<Message>,
}

#[tokio::test]
async fn calls_over_messages_without_a_reducer_ask_one_after_the_other() {
    let node = ToolNode::new((FnTool::new("delete", "", delete),)).on(
        |state: &Replaced| &state.talk,
        |talk| ReplacedUpdate::default().talk(talk),
    );
    let graph = graph! {
        type State = Replaced;
        let tools = node;
        START => tools => END;
    };
    let graph = graph.compile().unwrap();
    let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
    let calls = ["c1", "c2"].map(|id| ToolCall::new(id, "delete", json!({})));
    let asked = ReplacedUpdate::default().talk(vec![Message::assistant_with_tool_calls("", calls)]);
    let outcome = graph.run(asked).thread("t").await.unwrap();
    let mut keys = Vec::new();
    let mut outcome = outcome;
    while let [question] = outcome.interrupts() {
        keys.push(question.key.clone());
        let key = question.key.clone();
        outcome = graph
            .thread("t")
            .resume(key, keys.len() == 1)
            .await
            .unwrap();
    }
    assert_eq!(keys, ["c1/sure", "c2/sure"]);
    let texts: Vec<_> = outcome.state().talk.iter().map(Message::text).collect();
    assert_eq!(texts, ["c1: true", "c2: false"]);
}

#[tokio::test]
async fn calls_as_tasks_ask_each_for_themselves() {
    let node = ToolNode::new((FnTool::new("delete", "", delete),));
    for graph in [graph_of(node.clone()), fanned_out(node)] {
        ask_each_for_themselves(&graph).await;
    }
}

async fn ask_each_for_themselves(graph: &CompiledStateGraph<MessagesState>) {
    let graph = graph.clone().checkpointer(Arc::new(MemorySaver::new()));
    let outcome = graph.run(asked_twice()).thread("t").await.unwrap();
    let questions: Vec<_> = outcome
        .interrupts()
        .iter()
        .map(|question| (question.key.clone(), question.payload.clone()))
        .collect();
    assert_eq!(
        questions,
        [
            ("sure".to_owned(), json!("run c1?")),
            ("sure".to_owned(), json!("run c2?"))
        ]
    );
    let answer = |index: usize| (outcome.interrupts()[index].id.clone(), index == 0);
    let outcome = graph
        .thread("t")
        .resume_all([answer(0), answer(1)])
        .await
        .unwrap();
    let texts: Vec<_> = answers(outcome.state())
        .into_iter()
        .map(|(.., text)| text)
        .collect();
    assert_eq!(texts, ["c1: true", "c2: false"]);
}

#[tokio::test]
async fn a_question_that_an_error_type_of_the_tool_hides_still_waits() {
    #[derive(Debug)]
    struct Mine(#[allow(dead_code)] Interrupted);
    impl std::fmt::Display for Mine {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("mine")
        }
    }
    impl std::error::Error for Mine {}
    async fn ask(_: Nothing, cx: &ToolContext<'_>) -> Result<String, Mine> {
        cx.interrupt_next(&"well?").map_err(Mine)
    }
    let node = ToolNode::new((FnTool::new("ask", "", ask),));
    for graph in [graph_of(node.clone()), fanned_out(node)] {
        let graph = graph.checkpointer(Arc::new(MemorySaver::new()));
        let input = calls([ToolCall::new("c1", "ask", json!({}))]);
        let outcome = graph.run(input).thread("t").await.unwrap();
        assert_eq!(outcome.interrupts()[0].key, "0");
        let outcome = graph.thread("t").answer("fine").await.unwrap();
        assert_eq!(answers(outcome.state())[0].2, "fine");
    }
}

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Shop {
    talk: Vec<Message>,
    #[reducer(add)]
    stock: i64,
    sold_out: bool,
}

#[tokio::test]
async fn tools_see_the_state_and_change_it() {
    async fn buy(_: Nothing, cx: &ToolContext<'_>) -> Result<ToolOutput, ToolError> {
        let stock = cx.state::<Shop>()?.stock;
        let next = if stock == 1 { "closed" } else { END };
        let command = Command::<Shop>::update(ShopUpdate::default().stock(-1)).and_goto(next);
        Ok(ToolOutput::text(format!("there were {stock}")).and(command))
    }
    let mut graph = StateGraph::<Shop>::new();
    let tools = ToolNode::new((FnTool::new("buy", "", buy),)).on(
        |shop: &Shop| &shop.talk,
        |messages| ShopUpdate::default().talk(messages),
    );
    graph
        .add_node("tools", tools)
        .add_node("closed", |_: &Shop| ShopUpdate::default().sold_out(true))
        .add_edge(START, "tools");
    let graph = graph.compile().unwrap();
    for stock in [1, 5] {
        let asking = Message::assistant_with_tool_calls("", [ToolCall::new("c", "buy", json!({}))]);
        let input = ShopUpdate::default().talk(vec![asking]).stock(stock);
        let shop = graph.invoke(input).await.unwrap();
        assert_eq!((shop.stock, shop.sold_out), (stock - 1, stock == 1));
        assert_eq!(shop.talk[0].text(), format!("there were {stock}"));
    }
    // In a graph over another state there is no shop to see.
    let node = ToolNode::new((FnTool::new("buy", "", buy),));
    let input = calls([ToolCall::new("c", "buy", json!({}))]);
    let state = graph_of(node).invoke(input).await.unwrap();
    assert!(
        answers(&state)[0].2.contains("the tool wants the state"),
        "{state:?}"
    );
}

#[tokio::test]
async fn g10_a_command_for_another_graph_is_an_error_of_the_node() {
    let tool = FnTool::new("t", "", || async {
        ToolOutput::text("").and(Command::<Shop>::goto(END))
    });
    let input = calls([ToolCall::new("c", "t", json!({}))]);
    let error = graph_of(ToolNode::new((tool,))).invoke(input).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("command for a graph over"), "{error}");
}
