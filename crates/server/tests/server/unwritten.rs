//! Fields that nothing has written: they are absent, however a client reads the state.

use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::node::Context;
use langgraph::{State, node};
use langgraph_server::Server;
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default)]
struct Order {
    item: String,
    price: u32,
    paid: bool,
    tip: Option<f64>,
    rounds: i64,
    #[reducer(add)]
    total: u32,
    #[reducer(append)]
    log: Vec<String>,
}

/// Writes what is the default of its field.
#[node]
async fn price(_: &Order) -> OrderUpdate {
    OrderUpdate::default().price(0)
}

#[node(interrupts)]
async fn pay(_: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
    Ok(OrderUpdate::default().paid(cx.interrupt("pay", "Pay?")?))
}

fn graph() -> langgraph::CompiledStateGraph<Order> {
    let mut inner = StateGraph::<Order>::new();
    inner.add_node("pay", pay).add_sequence(&["pay"]);
    let mut graph = StateGraph::<Order>::new();
    graph
        .add_node("price", price)
        .add_node("till", inner.compile().unwrap())
        .add_sequence(&["price", "till"]);
    graph.compile().unwrap()
}

fn given() -> Value {
    json!({"item": "tea", "total": 0, "log": []})
}

fn priced() -> Value {
    json!({"item": "tea", "price": 0, "total": 0, "log": []})
}

/// Returns the values without what a paused run adds.
fn plain(mut values: Value) -> Value {
    values.as_object_mut().unwrap().remove("__interrupt__");
    values
}

fn of(events: &[(String, Value)], name: &str) -> Vec<Value> {
    let fits = |found: &str| found == name || found.starts_with(&format!("{name}|"));
    let found = events.iter().filter(|(found, _)| fits(found));
    found.map(|(_, data)| data.clone()).collect()
}

async fn state(api: &Api, thread: &str) -> Value {
    api.get(&format!("/threads/{thread}/state?subgraphs=true"))
        .await
}

#[tokio::test]
async fn a_field_that_nothing_has_written_is_absent_from_every_answer() {
    let api = Api::serve(Server::new().graph("shop", graph())).await;
    let thread = api.thread().await;
    let body = json!({
        "assistant_id": "shop", "input": {"item": "tea"}, "stream_subgraphs": true,
        "stream_mode": ["values", "tasks", "checkpoints"],
    });
    let events = api.stream(&thread, body).await;
    let values: Vec<_> = of(&events, "values").into_iter().map(plain).collect();
    assert_eq!(values.first(), Some(&given()));
    assert_eq!(
        values.iter().filter(|values| **values == given()).count(),
        1
    );
    assert!(
        values[1..].iter().all(|values| *values == priced()),
        "{values:#?}"
    );
    let tasks = of(&events, "tasks");
    let mut inputs = tasks.iter().filter(|task| !task["input"].is_null());
    assert_eq!(inputs.next().unwrap()["input"], given());
    assert!(inputs.all(|task| task["input"] == priced()), "{tasks:#?}");
    for checkpoint in of(&events, "checkpoints") {
        assert!(checkpoint["values"]["paid"].is_null(), "{checkpoint}");
    }

    let now = state(&api, &thread).await;
    assert_eq!(now["values"], priced());
    assert_eq!(now["tasks"][0]["state"]["values"], priced());
    let history = api.get(&format!("/threads/{thread}/history")).await;
    let history: Vec<_> = history
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["values"])
        .collect();
    let nothing = json!({"total": 0, "log": []});
    assert_eq!(history, [&priced(), &given(), &nothing]);
    let row = api.get(&format!("/threads/{thread}")).await;
    assert_eq!(plain(row["values"].clone()), priced());

    // What is written is there, whatever it is.
    let body = json!({"assistant_id": "shop", "command": {"resume": false}});
    let path = format!("/threads/{thread}/runs/wait");
    let mut paid = priced();
    paid["paid"] = json!(false);
    assert_eq!(api.post(&path, body).await, paid);
    assert_eq!(state(&api, &thread).await["values"], paid);
}

#[tokio::test]
async fn an_update_writes_the_fields_that_it_names() {
    let api = Api::serve(Server::new().graph("shop", graph())).await;
    let thread = api.thread().await;
    let path = format!("/threads/{thread}/runs/wait");
    let body = json!({"assistant_id": "shop", "input": {"item": "tea"}});
    assert_eq!(plain(api.post(&path, body).await), priced());
    let update = json!({"values": {"rounds": 0, "tip": null}, "as_node": "price"});
    api.post(&format!("/threads/{thread}/state"), update).await;
    // `null` is a value too.
    let mut updated = priced();
    updated["rounds"] = json!(0);
    updated["tip"] = Value::Null;
    assert_eq!(state(&api, &thread).await["values"], updated);

    let copied = api
        .post(&format!("/threads/{thread}/copy"), json!({}))
        .await;
    let copy = copied["thread_id"].as_str().unwrap();
    assert_eq!(state(&api, copy).await["values"], updated);
    // A run without an input goes on from there.
    let body = json!({"assistant_id": "shop", "input": null});
    let path = format!("/threads/{copy}/runs/wait");
    assert_eq!(plain(api.post(&path, body).await), updated);
}

#[tokio::test]
async fn what_was_written_is_known_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("server.db");
    let first = Api::serve(Server::new().graph("shop", graph()).file(&file)).await;
    let thread = first.thread().await;
    let body = json!({"assistant_id": "shop", "input": {"item": "tea"}});
    first
        .post(&format!("/threads/{thread}/runs/wait"), body)
        .await;
    let second = Api::serve(Server::new().graph("shop", graph()).file(&file)).await;
    assert_eq!(state(&second, &thread).await["values"], priced());
}
