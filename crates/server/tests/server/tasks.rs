//! The ids of tasks: one for each task, everywhere.

use std::collections::BTreeSet;

use crate::support::Api;
use langgraph::error::NodeError;
use langgraph::graph::StateGraph;
use langgraph::message::MessageChunk;
use langgraph::node::Context;
use langgraph::run::Persistence;
use langgraph::{State, graph, node};
use langgraph_server::Server;
use reqwest::Method;
use serde_json::{Value, json};

#[derive(State, Clone, Debug, Default)]
struct Work {
    #[reducer(append)]
    done: Vec<String>,
    items: Vec<String>,
}

#[node(interrupts)]
async fn ask(item: String, _: &Work, cx: &Context) -> Result<WorkUpdate, NodeError> {
    cx.emit_chunk(MessageChunk::text("a")).await;
    tokio::task::yield_now().await;
    cx.emit_chunk(MessageChunk::text(&*item)).await;
    let answer: String = cx.interrupt("ask", &item)?;
    Ok(WorkUpdate::default().done(vec![answer]))
}

fn items(state: &Work) -> Vec<String> {
    state.items.clone()
}

async fn api() -> Api {
    let inner = graph! {
        type State = Work;
        START => for item in items { ask(item) } => END;
    }
    .compile()
    .unwrap();
    let mut outer = StateGraph::<Work>::new();
    outer.add_node("inner", inner).add_sequence(&["inner"]);
    Api::serve(Server::new().graph("work", outer.compile().unwrap())).await
}

fn of<'e>(events: &'e [(String, Value)], mode: &str) -> Vec<(&'e str, &'e Value)> {
    let fits = |name: &str| name == mode || name.starts_with(&format!("{mode}|"));
    events
        .iter()
        .filter(|(name, _)| fits(name))
        .map(|(name, data)| (&**name, data))
        .collect()
}

#[tokio::test]
async fn a_task_has_one_id_in_its_events_and_in_the_state() {
    let api = api().await;
    let thread = api.thread().await;
    let body = json!({
        "assistant_id": "work", "input": {"items": ["x", "y"]}, "stream_subgraphs": true,
        "stream_mode": ["tasks", "checkpoints", "messages-tuple"],
    });
    let events = api.stream(&thread, body).await;
    let state = api
        .get(&format!("/threads/{thread}/state?subgraphs=true"))
        .await;
    let outer = &state["tasks"][0];
    let inner: BTreeSet<&str> = outer["state"]["tasks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|task| task["id"].as_str().unwrap())
        .collect();
    assert_eq!(inner.len(), 2, "{state}");
    let namespace = format!("inner:{}", outer["id"].as_str().unwrap());
    assert_eq!(outer["state"]["checkpoint"]["checkpoint_ns"], *namespace);

    // The start and the end of each task.
    let tasks = of(&events, "tasks");
    let ids = |wanted: &str| -> BTreeSet<&str> {
        let of_graph = tasks.iter().filter(|(name, _)| *name == wanted);
        of_graph
            .map(|(_, task)| task["id"].as_str().unwrap())
            .collect()
    };
    assert_eq!(
        ids("tasks"),
        BTreeSet::from([outer["id"].as_str().unwrap()])
    );
    assert_eq!(ids(&format!("tasks|{namespace}")), inner);

    let checkpoints = of(&events, "checkpoints");
    let (_, last) = checkpoints.last().unwrap();
    for task in last["tasks"].as_array().unwrap() {
        let id = task["id"].as_str().unwrap();
        assert!(inner.contains(id) || outer["id"] == id, "{task}");
    }

    // Chunks of parallel tasks are parts of messages of their own.
    let row = api.get(&format!("/threads/{thread}")).await;
    let waiting = row["interrupts"].as_object().unwrap();
    assert!(waiting.contains_key(outer["id"].as_str().unwrap()), "{row}");
    let chunks = of(&events, "messages");
    let mut messages: BTreeSet<(&str, &str)> = BTreeSet::new();
    for (_, data) in &chunks {
        let path = data[1]["langgraph_checkpoint_ns"].as_str().unwrap();
        let task = path.rsplit(':').next().unwrap();
        assert!(inner.contains(task), "{path}");
        messages.insert((task, data[0]["id"].as_str().unwrap()));
    }
    assert_eq!((chunks.len(), messages.len()), (4, 2), "{chunks:?}");
}

#[tokio::test]
async fn a_checkpoint_in_a_stream_says_where_it_is() {
    let api = api().await;
    let thread = api.thread().await;
    let body = json!({
        "assistant_id": "work", "input": {"items": ["x"]}, "stream_subgraphs": true,
        "stream_mode": ["checkpoints", "debug"],
    });
    let events = api.stream(&thread, body).await;
    let state = api
        .get(&format!("/threads/{thread}/state?subgraphs=true"))
        .await;
    let task = &state["tasks"][0];
    let namespace = format!("inner:{}", task["id"].as_str().unwrap());
    let config = |checkpoint: &Value| {
        let mut configurable = checkpoint.clone();
        for name in ["run_id", "assistant_id", "graph_id"] {
            configurable[name] = state["metadata"][name].clone();
        }
        json!({"configurable": configurable})
    };
    assert_eq!(state["metadata"]["graph_id"], "work");
    assert!(state["metadata"]["run_id"].is_string(), "{state}");

    let root: Vec<&Value> = of(&events, "checkpoints")
        .into_iter()
        .filter_map(|(name, data)| (name == "checkpoints").then_some(data))
        .collect();
    let place = json!({
        "thread_id": thread, "checkpoint_ns": "",
        "checkpoint_id": state["checkpoint"]["checkpoint_id"],
    });
    let last = root.last().unwrap();
    assert_eq!(last["config"], config(&place));
    assert_eq!(root[0]["parent_config"], Value::Null);
    for pair in root.windows(2) {
        assert_eq!(pair[1]["parent_config"], pair[0]["config"]);
    }
    let inner = json!({"thread_id": thread, "checkpoint_ns": namespace});
    assert_eq!(last["tasks"][0]["checkpoint"], inner, "{last}");
    // As in LangGraph: where the graph inside is, and not its state.
    let there = json!({"configurable": inner});
    assert_eq!(last["tasks"][0]["state"], there, "{last}");

    let inside = of(&events, &format!("checkpoints|{namespace}"));
    let (_, last) = inside.last().unwrap();
    assert_eq!(last["config"], config(&task["state"]["checkpoint"]));
    assert_eq!(last["metadata"]["parents"][""], place["checkpoint_id"]);

    let debug = of(&events, "debug");
    let mut debug = debug.iter().map(|(_, data)| &data["payload"]);
    let is_last = |payload: &&Value| payload["config"] == config(&place);
    let last = debug.find(is_last).unwrap();
    assert_eq!(last["checkpoint"], place);
    assert_eq!(last["tasks"][0]["checkpoint"], inner);
    assert_eq!(last["tasks"][0]["state"], there);
    // A task without a graph has none.
    for (_, data) in of(&events, &format!("checkpoints|{namespace}")) {
        for task in data["tasks"].as_array().unwrap() {
            assert_eq!(task["state"], Value::Null, "{task}");
        }
    }
}

#[tokio::test]
async fn the_start_of_a_task_has_the_metadata_of_its_run() {
    let api = api().await;
    let thread = api.thread().await;
    let body = json!({
        "assistant_id": "work", "input": {"items": ["x"]}, "stream_subgraphs": true,
        "stream_mode": ["tasks", "debug"], "metadata": {"team": "blue", "langgraph_step": 7},
        "config": {"metadata": {"shift": {"day": 1}}},
    });
    let events = api.stream(&thread, body).await;
    let state = api.get(&format!("/threads/{thread}/state")).await;
    let expected = json!({
        "team": "blue", "shift": {"day": 1}, "graph_id": "work", "created_by": "system",
        "run_id": state["metadata"]["run_id"], "assistant_id": state["metadata"]["assistant_id"],
    });
    let debug = of(&events, "debug");
    let shown = debug.iter().map(|(_, data)| *data);
    let shown = shown.filter(|data| data["type"] == "task");
    let shown = shown.map(|data| &data["payload"]);
    let tasks = of(&events, "tasks").into_iter().map(|(_, data)| data);
    let starts = tasks
        .chain(shown)
        .filter(|task| task["triggers"].is_array());
    let starts: Vec<&Value> = starts.collect();
    // One in the graph, one in the subgraph, in both modes.
    assert_eq!(starts.len(), 4, "{events:?}");
    for start in starts {
        assert_eq!(start["metadata"], expected, "{start}");
    }
}

#[tokio::test]
async fn the_configuration_of_another_run_does_not_name_the_run() {
    let api = api().await;
    let thread = api.thread().await;
    let other = json!({
        "run_id": "other", "assistant_id": "other", "graph_id": "other", "team": "red", "word": "w",
    });
    let body = json!({
        "assistant_id": "work", "input": {"items": ["x"]}, "stream_mode": "checkpoints",
        "metadata": {"team": "blue"}, "config": {"configurable": other},
    });
    let events = api.stream(&thread, body).await;
    let run = api.get(&format!("/threads/{thread}/runs")).await[0].clone();
    let shown = of(&events, "checkpoints");
    assert!(!shown.is_empty(), "{events:?}");
    for (_, data) in shown {
        for name in ["run_id", "assistant_id"] {
            assert_eq!(data["metadata"][name], run[name], "{data}");
            assert_eq!(data["config"]["configurable"][name], run[name], "{data}");
        }
        assert_eq!(data["config"]["configurable"]["graph_id"], "work");
        assert_eq!(data["metadata"]["team"], "blue");
        assert_eq!(data["metadata"]["word"], "w");
    }
}

#[tokio::test]
async fn a_task_names_the_graph_inside_it_whose_state_can_be_asked_for() {
    let api = api().await;
    let thread = api.thread().await;
    let body = json!({"assistant_id": "work", "input": {"items": ["x", "y"]}});
    api.post(&format!("/threads/{thread}/runs/wait"), body)
        .await;
    let path = format!("/threads/{thread}/state");
    let state = api.get(&path).await;
    let task = &state["tasks"][0];
    let namespace = format!("inner:{}", task["id"].as_str().unwrap());
    let place = json!({"thread_id": thread, "checkpoint_ns": namespace});
    assert_eq!(task["checkpoint"], place);
    assert_eq!(task["state"], Value::Null);

    let whole = api.get(&format!("{path}?subgraphs=true")).await;
    let inside = &whole["tasks"][0]["state"];
    let at = async |checkpoint: &Value| {
        let body = json!({"checkpoint": checkpoint});
        let path = format!("{path}/checkpoint");
        api.call(Method::POST, &path, body).await
    };
    for checkpoint in [&place, &inside["checkpoint"]] {
        let (status, found) = at(checkpoint).await;
        assert_eq!(status, 200, "{found}");
        assert_eq!(found, *inside);
    }
    let older = &inside["parent_checkpoint"];
    let (status, found) = at(older).await;
    assert_eq!(status, 200, "{found}");
    assert_eq!(found["checkpoint"], *older);
    let unknown = json!({"checkpoint_ns": "inner:none"});
    let mut other = older.clone();
    other["checkpoint_id"] = whole["checkpoint_id"].clone();
    for missing in [&unknown, &other] {
        let (status, error) = at(missing).await;
        assert_eq!(status, 404, "{error}");
        let place = missing["checkpoint_ns"].as_str().unwrap();
        assert!(error.to_string().contains(place), "{error}");
    }
}

/// Asks for the history of a subgraph.
async fn history_of(api: &Api, thread: &str, body: Value) -> Vec<Value> {
    let found = api.post(&format!("/threads/{thread}/history"), body).await;
    found.as_array().unwrap().clone()
}

#[tokio::test]
async fn each_call_of_a_subgraph_has_a_history() {
    let api = api().await;
    let thread = api.thread().await;
    let wait = format!("/threads/{thread}/runs/wait");
    for (item, run) in [("x", "first"), ("y", "second")] {
        let metadata = json!({"name": run, "source": "a form", "place": {"shelf": run, "n": 1}});
        let mut body = json!({"assistant_id": "work", "metadata": metadata});
        body["input"] = json!({"items": [item]});
        api.post(&wait, body.clone()).await;
        body["input"] = Value::Null;
        body["command"] = json!({"resume": item});
        api.post(&wait, body).await;
    }
    let root = history_of(&api, &thread, json!({})).await;
    let calls = root
        .iter()
        .filter(|state| state["next"] == json!(["inner"]));
    let calls: Vec<&Value> = calls.collect();
    assert_eq!(calls.len(), 2, "{root:?}");
    // The newest call first, the one that the thread has left behind too.
    for (call, (item, run)) in calls.iter().zip([("y", "second"), ("x", "first")]) {
        let place = &call["tasks"][0]["checkpoint"];
        let all = history_of(&api, &thread, json!({"checkpoint": place})).await;
        assert!(all.len() >= 3, "{all:?}");
        let done = all[0]["values"]["done"].as_array().unwrap();
        assert_eq!(done.last().unwrap(), item);
        for (newer, older) in all.iter().zip(&all[1..]) {
            assert_eq!(newer["parent_checkpoint"], older["checkpoint"]);
        }
        for state in &all {
            let checkpoint = &state["checkpoint"];
            assert_eq!(checkpoint["checkpoint_ns"], place["checkpoint_ns"]);
            assert_eq!(checkpoint["checkpoint_map"][""], call["checkpoint_id"]);
            assert_eq!(state["metadata"]["parents"][""], call["checkpoint_id"]);
            // Each of them can be read by itself.
            let body = json!({"checkpoint": checkpoint});
            let path = format!("/threads/{thread}/state/checkpoint");
            assert_eq!(api.post(&path, body.clone()).await, *state);
            assert_eq!(
                history_of(&api, &thread, body).await,
                std::slice::from_ref(state)
            );
        }
        let page = json!({"checkpoint": place, "limit": 1, "before": all[0]["checkpoint"]});
        assert_eq!(history_of(&api, &thread, page).await, [all[1].clone()]);
        let asked = json!({"name": run, "source": "loop", "place": {"n": 1.0}});
        let asked = json!({"checkpoint": place, "metadata": asked});
        let loops = history_of(&api, &thread, asked).await;
        assert_eq!(loops.len(), all.len() - 1);
        let step = json!({"checkpoint": place, "metadata": {"step": 0}, "select": ["metadata"]});
        let step = history_of(&api, &thread, step).await;
        assert_eq!((step.len(), &step[0]["metadata"]["step"]), (1, &json!(0)));
        for none in [
            json!({"name": "third"}),
            json!({"source": "a form"}),
            json!({"step": "0"}),
            json!({"langgraph_node": "ask"}),
            json!({"place": {"n": 2}}),
        ] {
            let body = json!({"checkpoint": place, "metadata": none});
            assert_eq!(history_of(&api, &thread, body).await, [0; 0], "{none}");
        }
    }
}

#[tokio::test]
async fn the_history_of_a_subgraph_that_has_not_been_called_is_empty() {
    let api = api().await;
    let thread = api.thread().await;
    let body = json!({"assistant_id": "work", "input": {"items": ["x"]}});
    api.post(&format!("/threads/{thread}/runs/wait"), body)
        .await;
    for unknown in ["inner:none", "ask:none", "nope:none", "inner:none|ask:none"] {
        let place = json!({"checkpoint_ns": unknown});
        let history = history_of(&api, &thread, json!({"checkpoint": place})).await;
        assert_eq!(history, [0; 0], "{unknown}");
    }
    let root = history_of(&api, &thread, json!({})).await;
    let only = json!({"checkpoint": {"checkpoint_id": root[1]["checkpoint_id"]}});
    assert_eq!(history_of(&api, &thread, only).await, [root[1].clone()]);
    let unknown = json!({"checkpoint_id": "01a00000-0000-7000-8000-000000000000"});
    let history = history_of(&api, &thread, json!({"checkpoint": unknown})).await;
    assert_eq!(history, [0; 0]);

    let path = format!("/threads/{thread}/history");
    let wrong = json!({"checkpoint": {"checkpoint_ns": "inner"}});
    let (status, error) = api.call(Method::POST, &path, wrong).await;
    assert_eq!(status, 422, "{error}");
    assert!(error.to_string().contains("checkpoint_ns"), "{error}");
}

#[tokio::test]
async fn a_subgraph_that_is_kept_from_call_to_call_has_one_history() {
    let mut inner = StateGraph::<Work>::new();
    inner.add_node("note", |work: &Work| {
        WorkUpdate::default().done(work.items.clone())
    });
    inner.add_sequence(&["note"]);
    let inner = inner.compile().unwrap();
    let inner = inner.persistence(Persistence::PerThread("notes".to_owned()));
    let mut outer = StateGraph::<Work>::new();
    outer.add_node("inner", inner).add_sequence(&["inner"]);
    let api = Api::serve(Server::new().graph("work", outer.compile().unwrap())).await;
    let thread = api.thread().await;
    for item in ["x", "y"] {
        let body = json!({"assistant_id": "work", "input": {"items": [item]}});
        api.post(&format!("/threads/{thread}/runs/wait"), body)
            .await;
    }
    let root = history_of(&api, &thread, json!({})).await;
    let calls = root
        .iter()
        .filter(|state| state["next"] == json!(["inner"]));
    let places = calls.map(|call| &call["tasks"][0]["checkpoint"]);
    let mut histories = Vec::new();
    for place in places {
        let history = history_of(&api, &thread, json!({"checkpoint": place})).await;
        assert_eq!(
            history[0]["checkpoint"]["checkpoint_ns"],
            place["checkpoint_ns"]
        );
        let ids = history.iter().map(|state| state["checkpoint_id"].clone());
        histories.push(ids.collect::<Vec<_>>());
    }
    // Each call leads to the checkpoints of both.
    assert_eq!(histories.len(), 2, "{root:?}");
    assert_eq!(histories[0], histories[1]);
    assert!(histories[0].len() >= 4, "{histories:?}");
}
