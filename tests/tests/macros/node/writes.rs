//! Nodes that say what they write.

use langgraph::prelude::*;

use super::{Failed, Notes, NotesUpdate};

#[node(writes(count))]
pub(super) async fn one_field(state: &Notes) -> i64 {
    state.count + 1
}

#[node(writes(count, log), alias = "old_name", alias = "older_name")]
async fn two_fields(state: &Notes, cx: &Context) -> (i64, Vec<String>) {
    (state.count + 1, vec![cx.node().to_owned()])
}

#[node(writes(count))]
async fn fallible_field(state: &Notes) -> Result<i64, NodeError> {
    Ok(state.count + "1".parse::<i64>()?)
}

#[node(writes(count, log))]
async fn fields_and_a_jump(state: &Notes) -> Result<((i64, Vec<String>), Next), Failed> {
    let values = (state.count + 1, vec!["jump".to_owned()]);
    Ok((values, Next::Continue))
}

#[node(writes(log))]
fn synchronous_field(state: &Notes) -> Vec<String> {
    vec![format!("synchronous after {}", state.count)]
}

#[node(state = Notes, writes(log))]
async fn field_of_an_item(item: u8) -> Vec<String> {
    vec![item.to_string()]
}

struct Writer;

#[node(writes(log))]
impl Writer {
    /// Writes a line.
    async fn run(&self, state: &Notes) -> Vec<String> {
        vec![format!("method after {}", state.log.len())]
    }
}

#[tokio::test]
async fn what_a_node_writes_is_its_value() {
    let mut graph = StateGraph::<Notes>::new();
    graph
        .add_node("one_field", one_field)
        .add_node("two_fields", two_fields)
        .add_node("fallible_field", fallible_field)
        .add_node("fields_and_a_jump", fields_and_a_jump)
        .add_node("synchronous_field", synchronous_field)
        .add_node("method", Writer);
    let nodes = graph.topology().nodes.clone();
    let writes: Vec<_> = nodes.iter().map(|node| node.writes.clone()).collect();
    let fields = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    assert_eq!(writes[0], fields(&["count"]));
    assert_eq!(writes[1], fields(&["count", "log"]));
    assert_eq!(writes[4], fields(&["log"]));
    assert_eq!(writes[5], fields(&["log"]));
    assert_eq!(nodes[5].docs.as_deref(), Some("Writes a line."));
    let jumps: Vec<_> = nodes.iter().map(|node| node.may_goto).collect();
    assert_eq!(jumps, [false, false, false, true, false, false]);
    let worker = graph.add_worker("worker", field_of_an_item);
    let names: Vec<_> = nodes.iter().map(|node| node.name.clone()).collect();
    graph
        .add_sequence(&names)
        .add_map(START, |_: &Notes| [7], &worker);
    let state = graph
        .compile()
        .unwrap()
        .invoke(Notes::default())
        .await
        .unwrap();
    assert_eq!(state.count, 4);
    assert_eq!(
        state.log,
        [
            "7",
            "two_fields",
            "jump",
            "synchronous after 4",
            "method after 4"
        ]
    );
}

#[tokio::test]
async fn a_node_that_declares_its_writes_is_called_for_its_update() {
    let state = Notes::default();
    assert_eq!(one_field(&state).await, NotesUpdate::default().count(1));
    let update = synchronous_field(&state).await;
    assert_eq!(update.log.unwrap(), ["synchronous after 0"]);
}

struct Counts;

#[node(writes(count))]
impl Counts {
    fn run(&self, state: &Notes) -> i64 {
        state.count + 1
    }
}

/// rustc sees what functions say; `compile()` sees the rest.
#[tokio::test]
async fn writers_of_one_field_side_by_side_do_not_compile() {
    let reported = |graph: &StateGraph<Notes>| graph.compile().unwrap_err().to_string();
    let message = "the graph cannot be compiled: `first` and `second` run side by side, and each writes \
                   `count`, which has no reducer; give it one, or let one run after the other";
    let methods = graph! {
        let (first, second) = (Counts, std::sync::Arc::new(Counts));
        START => [first, second] => END;
    };
    assert_eq!(reported(&methods), message);
    let options = graph! {
        let first = one_field.retry(2);
        let second = one_field.retry(2);
        START => [two_fields => first, synchronous_field => second] => END;
    };
    assert_eq!(reported(&options), message);
    // A deferred node runs later, and what it writes is no conflict.
    let deferred = graph! {
        let second = Counts.defer();
        START => [one_field, second] => END;
    };
    let state = deferred.compile().unwrap().invoke(()).await.unwrap();
    assert_eq!(state.count, 2);
    // The builder collects it.
    let mut by_hand = StateGraph::<Notes>::new();
    by_hand
        .add_node("first", one_field)
        .add_node("second", Counts)
        .add_edge(START, "first")
        .add_edge(START, "second")
        .add_edge(["first", "second"], END);
    let lints: Vec<_> = by_hand.lints().iter().map(ToString::to_string).collect();
    assert!(message.ends_with(&lints.concat()), "{lints:?}");
    let error = by_hand.compile().unwrap().invoke(()).await.unwrap_err();
    assert!(matches!(error, AgentError::InvalidUpdate(_)), "{error}");
    assert_eq!(reported(by_hand.deny_lints()), message);
}
