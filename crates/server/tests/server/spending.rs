//! What models have used and cost: in messages, tasks and runs.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::support::Api;
use futures_util::stream;
use langgraph::message::{FinishReason, MessageChunk, ResponseMetadata, Usage};
use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{ChatRequest, ChatResponse, ModelError, ModelStream, async_trait};
use langgraph_budget::{Price, Prices};
use langgraph_server::Server;
use langgraph_wait::WaitExt;
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default)]
struct Chat {
    #[reducer(add_messages)]
    messages: Vec<Message>,
}

/// Reads 100 tokens and writes 10, and says so at the end.
struct Big;

#[async_trait]
impl ChatModel for Big {
    async fn generate(&self, _: ChatRequest) -> Result<ChatResponse, ModelError> {
        Ok(ChatResponse::new(Message::assistant("hello")))
    }

    fn stream(&self, _: ChatRequest) -> ModelStream<'_> {
        let named = || ResponseMetadata::of("big-1");
        let mut last = MessageChunk::text("lo").with_usage(Usage::new(100, 10));
        last.finish_reason = Some(FinishReason::Stop);
        Box::pin(stream::iter([
            Ok(MessageChunk::text("hel").with_metadata(named())),
            // Some providers name the model in each chunk.
            Ok(last.with_metadata(named())),
        ]))
    }
}

#[node]
async fn answer(_: &Chat, cx: &Context) -> Result<ChatUpdate, NodeError> {
    let request = ChatRequest::new(vec![Message::user("hi")]);
    let response = cx.model()?.respond(request, cx).await?;
    Ok(ChatUpdate::default().messages(vec![response.message]))
}

async fn api(server: Server) -> Api {
    let inner = graph! { START => answer => END }.compile().unwrap();
    let mut outer = StateGraph::<Chat>::new();
    outer.add_node("first", answer).add_node("inner", inner);
    outer.add_sequence(&["first", "inner"]);
    let model: Arc<dyn ChatModel> = Arc::new(Big);
    let graph = outer.compile().unwrap().resource(model);
    Api::serve(server.graph("chat", graph)).await
}

fn priced() -> Server {
    // A dollar for a token that is read, ten for one that is written.
    Server::new().prices(Prices::new().model("big-1", Price::per_million(1e6, 1e7)))
}

fn used(times: u64, cost: Option<f64>) -> Value {
    let mut usage = json!({
        "input_tokens": 100 * times, "output_tokens": 10 * times, "total_tokens": 110 * times,
    });
    if let Some(cost) = cost {
        usage["total_cost"] = json!(cost);
    }
    usage
}

async fn run(api: &Api, thread: &str) -> Vec<(String, Value)> {
    let body = json!({
        "assistant_id": "chat", "input": {"messages": "hi"}, "stream_subgraphs": true,
        "stream_mode": ["values", "messages-tuple", "tasks"],
        "metadata": {"usage_metadata": "no client says it"},
    });
    api.stream(thread, body).await
}

#[tokio::test]
async fn messages_tasks_and_runs_say_which_model_they_used_and_what_it_cost() {
    let api = api(priced()).await;
    let thread = api.thread().await;
    let events = run(&api, &thread).await;

    let messages = events
        .iter()
        .filter(|(name, _)| name.starts_with("messages"));
    let chunks = messages.map(|(_, data)| &data[0]);
    let mut named = 0;
    for chunk in chunks.filter(|chunk| chunk["type"] == "AIMessageChunk") {
        // Clients put the texts of chunks together.
        named += usize::from(chunk["response_metadata"]["model_name"] == "big-1");
        // The clients of Python add whole numbers only.
        assert!(chunk["usage_metadata"]["total_cost"].is_null(), "{chunk}");
    }
    assert_eq!(named, 2, "once for each message: {events:?}");

    let finished = |node: &str| {
        let ended = events.iter().filter(|(name, _)| name.starts_with("tasks"));
        let mut ended = ended.filter(|(_, data)| data.get("result").is_some());
        let found = ended.find(|(_, data)| data["name"] == node).unwrap();
        found.1["metadata"]["usage_metadata"].clone()
    };
    for node in ["first", "answer", "inner"] {
        assert_eq!(finished(node), used(1, Some(200.0)), "{node}");
    }

    let runs = api.get(&format!("/threads/{thread}/runs")).await;
    assert_eq!(runs[0]["metadata"]["usage_metadata"], used(2, Some(400.0)));

    let state = api.get(&format!("/threads/{thread}/state")).await;
    let values = events.iter().rev().find(|(name, _)| name == "values");
    for values in [&state["values"], &values.unwrap().1] {
        let answer = &values["messages"][1];
        assert_eq!(answer["usage_metadata"], used(1, Some(200.0)), "{values}");
        assert_eq!(answer["response_metadata"], json!({"model_name": "big-1"}));
    }
}

#[tokio::test]
async fn without_a_price_there_are_tokens_and_no_cost() {
    let api = api(Server::new()).await;
    let thread = api.thread().await;
    run(&api, &thread).await;
    let runs = api.get(&format!("/threads/{thread}/runs")).await;
    assert_eq!(runs[0]["metadata"]["usage_metadata"], used(2, None));
}

/// Waits for a moment.
#[node]
async fn rest(_: &Chat, cx: &Context) -> Result<ChatUpdate, NodeError> {
    cx.sleep_until(SystemTime::now() + Duration::from_millis(300))?;
    Ok(ChatUpdate::default())
}

#[tokio::test]
async fn a_run_that_wakes_a_thread_says_what_it_has_used_and_not_what_the_paused_one_had() {
    let mut graph = StateGraph::<Chat>::new();
    graph
        .add_node("first", answer)
        .add_node("rest", rest)
        .add_node("second", answer);
    graph.add_sequence(&["first", "rest", "second"]);
    let model: Arc<dyn ChatModel> = Arc::new(Big);
    let graph = graph.compile().unwrap().resource(model);
    let api = Api::serve(priced().graph("chat", graph)).await;
    let thread = api.thread().await;
    run(&api, &thread).await;
    let path = format!("/threads/{thread}/runs");
    let mut runs = Value::Null;
    for _ in 0..200 {
        runs = api.get(&path).await;
        if runs[1].is_object() && runs[0]["status"] == "success" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    for run in [&runs[0], &runs[1]] {
        assert_eq!(run["metadata"]["usage_metadata"], used(1, Some(200.0)));
    }
}
