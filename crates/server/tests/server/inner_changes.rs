//! The state of a subgraph is changed from outside.

use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node::Context;
use langgraph::{State, graph, node};
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default)]
struct Work {
    item: String,
    #[reducer(append)]
    done: Vec<String>,
}

#[node(interrupts)]
async fn ask(work: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    let answer: String = cx.interrupt("ask", "right?")?;
    Ok(WorkUpdate::default().done(vec![format!("{answer}: {}", work.item)]))
}

#[node]
async fn note(_: &Work) -> WorkUpdate {
    WorkUpdate::default().done(vec!["noted".to_owned()])
}

/// Serves a graph whose node is a graph that asks, behind as many others.
async fn api(depth: usize) -> Api {
    let mut graph = graph! {
        type State = Work;
        START => ask => note => END;
    }
    .compile()
    .unwrap();
    for _ in 0..depth {
        let mut outer = StateGraph::<Work>::new();
        outer.add_node("inner", graph).add_sequence(&["inner"]);
        graph = outer.compile().unwrap();
    }
    Api::serve(Server::new().graph("work", graph)).await
}

/// A thread that asks inside.
struct Asking {
    api: Api,
    thread: String,
}

impl Asking {
    async fn new(depth: usize) -> Self {
        let api = api(depth).await;
        let thread = api.thread().await;
        let asking = Self { api, thread };
        let asked = asking.run(json!({"input": {"item": "x"}})).await;
        assert_eq!(asked["__interrupt__"][0]["value"], "right?");
        asking
    }

    async fn run(&self, mut body: Value) -> Value {
        body["assistant_id"] = json!("work");
        let path = format!("/threads/{}/runs/wait", self.thread);
        self.api.post(&path, body).await
    }

    /// Returns the state of the innermost graph.
    async fn inside(&self) -> Value {
        let path = format!("/threads/{}/state?subgraphs=true", self.thread);
        let mut state = self.api.get(&path).await;
        loop {
            match state["tasks"][0]["state"].take() {
                Value::Null => return state,
                inside => state = inside,
            }
        }
    }

    async fn change(&self, body: Value) -> (u16, Value) {
        let path = format!("/threads/{}/state", self.thread);
        let (status, answer) = self.api.call(Method::POST, &path, body).await;
        (status.as_u16(), answer)
    }
}

#[tokio::test]
async fn a_graph_inside_goes_on_from_the_state_that_it_is_given() {
    for depth in [0, 1, 2] {
        let asking = Asking::new(depth).await;
        let before = asking.inside().await;
        let place = &before["checkpoint"];
        let body = json!({"values": {"item": "y"}, "checkpoint": place});
        let (status, made) = asking.change(body).await;
        assert_eq!(status, 200, "{made}");
        assert_eq!(made["checkpoint"], made["configurable"]);
        let after = asking.inside().await;
        assert_eq!(after["checkpoint"], made["checkpoint"]);
        assert_eq!(after["parent_checkpoint"], *place);
        assert_eq!(after["values"]["item"], "y");
        assert_eq!(after["next"], json!(["ask"]));
        assert_eq!(after["metadata"]["source"], "update");

        // The question was asked of the state before: it is asked again.
        let asked = asking.run(json!({"input": null})).await;
        assert_eq!(asked["__interrupt__"][0]["value"], "right?", "{asked}");
        let done = asking.run(json!({"command": {"resume": "yes"}})).await;
        assert_eq!(done["done"], json!(["yes: y", "noted"]), "{done}");
    }
}

#[tokio::test]
async fn a_change_takes_the_place_of_a_node_inside() {
    let asking = Asking::new(1).await;
    let before = asking.inside().await;
    // Without the id of a checkpoint, it is the newest.
    let place = json!({"checkpoint_ns": before["checkpoint"]["checkpoint_ns"]});
    let values = json!({"done": ["by hand"]});
    let body = json!({"values": values, "as_node": "ask", "checkpoint": place});
    let (status, made) = asking.change(body).await;
    assert_eq!(status, 200, "{made}");
    assert_eq!(asking.inside().await["next"], json!(["note"]));
    let done = asking.run(json!({"input": null})).await;
    assert_eq!(done["done"], json!(["by hand", "noted"]));

    // The thread has left the call behind: nothing would go on from what is written there.
    let late = json!({"values": {"item": "z"}, "checkpoint": place});
    let (status, error) = asking.change(late).await;
    assert_eq!(status, 422, "{error}");
    assert!(error.to_string().contains("inner"), "{error}");
}

#[tokio::test]
async fn a_graph_inside_that_was_not_called_cannot_be_changed() {
    let asking = Asking::new(1).await;
    let path = format!("/threads/{}/history", asking.thread);
    let before = asking.api.post(&path, json!({})).await;
    for (place, expected) in [("inner:none", 404), ("nope:none", 404), ("inner", 422)] {
        let body = json!({"values": {"item": "y"}, "checkpoint": {"checkpoint_ns": place}});
        let (status, error) = asking.change(body).await;
        assert_eq!(status, expected, "{error}");
    }
    assert_eq!(asking.api.post(&path, json!({})).await, before);
}
