//! Tasks of A2A that wait for input.

use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::message::Message;
use langgraph::node::Context;
use langgraph::{State, node};
use langgraph_server::Server;
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default)]
struct Desk {
    #[reducer(add_messages)]
    messages: Vec<Message>,
}

#[node(interrupts)]
async fn answer(state: &Desk, cx: &Context) -> Result<DeskUpdate, NodeError> {
    let text = state.messages.last().map(|last| last.text().into_owned());
    let mut text = text.unwrap_or_default();
    if text == "ask" {
        text = cx.interrupt("which", "which?")?;
    }
    let said = format!("Hello: {text}");
    Ok(DeskUpdate::default().messages(vec![Message::assistant(said)]))
}

async fn api() -> Api {
    let mut graph = StateGraph::<Desk>::new();
    graph.add_node("answer", answer).add_sequence(&["answer"]);
    Api::serve(Server::new().graph("desk", graph.compile().unwrap())).await
}

async fn rpc(api: &Api, method: &str, params: Value) -> Value {
    let call = json!({"jsonrpc": "2.0", "id": "7", "method": method, "params": params});
    api.post("/a2a/desk", call).await
}

#[tokio::test]
async fn a_task_that_waits_for_input_can_be_cancelled() {
    let api = api().await;
    let context = "11111111-1111-4111-8111-111111111111";
    let ask = || {
        json!({"message": {
            "messageId": "m", "role": "user", "contextId": context,
            "parts": [{"kind": "text", "text": "ask"}],
        }})
    };
    for (cancel, state) in [
        ("tasks/cancel", "canceled"),
        ("CancelTask", "TASK_STATE_CANCELED"),
    ] {
        // The message after a task that was cancelled is no answer.
        let asked = rpc(&api, "message/send", ask()).await["result"].take();
        assert_eq!(asked["status"]["state"], "input-required", "{asked}");
        let id = json!({"id": asked["id"]});
        let cancelled = rpc(&api, cancel, id.clone()).await["result"].take();
        assert_eq!(cancelled["status"]["state"], state, "{cancelled}");
        let read = rpc(&api, "tasks/get", id.clone()).await["result"].take();
        assert_eq!(read["status"]["state"], "canceled", "{read}");
        let row = api.get(&format!("/threads/{context}")).await;
        assert_eq!(row["status"], "idle", "{row}");
        assert_eq!(row["interrupts"], json!({}), "{row}");
        let again = rpc(&api, cancel, id).await;
        assert_eq!(again["error"]["code"], -32002, "{again}");
    }
}
