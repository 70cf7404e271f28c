//! The forms of functions.

use langgraph::graph::worker;
use langgraph::prelude::*;

use super::{Failed, Notes, NotesUpdate, say};

/// Adds a line.
///
/// And another.
#[node]
async fn by_ref(state: &Notes) -> NotesUpdate {
    say(&format!("by_ref after {}", state.log.len()))
}

#[node]
async fn with_context(_: &Notes, cx: &Context) -> NotesUpdate {
    say(cx.node())
}

#[node]
async fn by_value(mut state: Notes) -> Notes {
    state.log.push("by_value".to_owned());
    state
}

#[node]
async fn by_value_with_context(state: Notes, cx: &Context) -> (Notes, Next) {
    let mut state = state;
    state.log.push(cx.node().to_owned());
    (state, Next::Continue)
}

#[node]
async fn fallible(state: &Notes) -> Result<NotesUpdate, NodeError> {
    let count: i64 = "42".parse()?;
    tokio::task::yield_now().await;
    Ok(NotesUpdate::default().count(count + state.count))
}

#[node]
async fn jumping(_: &Notes) -> Result<(NotesUpdate, Next), Failed> {
    Ok((say("jumping"), Next::Continue))
}

#[node]
async fn commanding(_: &Notes) -> Command<Notes> {
    Command::update(say("commanding"))
}

#[node]
async fn silent(_state: &Notes) {}

#[node]
async fn named_lifetimes<'s, 'c>(state: &'s Notes, cx: &'c Context) -> NotesUpdate
where
    'c: 's,
{
    let longer: &'s str = if state.count > 0 { cx.node() } else { "none" };
    say(longer)
}

#[node]
async fn patterns(Notes { log, .. }: &Notes, _: &Context) -> NotesUpdate {
    say(&log.len().to_string())
}

#[node]
fn synchronous(_: &Notes) -> NotesUpdate {
    say("synchronous")
}

#[node]
async fn generic<T>(_: &Notes) -> NotesUpdate
where
    T: Default + std::fmt::Debug + Send + 'static,
{
    say(&format!("{:?}", T::default()))
}

#[tokio::test]
async fn c13_c14_d1_d2_d3_every_form_runs_in_one_graph() {
    let mut graph = StateGraph::<Notes>::new();
    graph
        .add_node("by_ref", by_ref)
        .add_node("with_context", with_context)
        .add_node("by_value", by_value)
        .add_node("by_value_with_context", by_value_with_context)
        .add_node("fallible", fallible)
        .add_node("jumping", jumping)
        .add_node("commanding", commanding)
        .add_node("silent", silent)
        .add_node("named_lifetimes", named_lifetimes)
        .add_node("patterns", patterns)
        .add_node("synchronous", synchronous)
        .add_node("generic", generic::<i16>.retry(2));
    let names: Vec<_> = graph
        .topology()
        .nodes
        .iter()
        .map(|node| node.name.clone())
        .collect();
    graph.add_sequence(&names);
    let state = graph
        .compile()
        .unwrap()
        .invoke(Notes::default())
        .await
        .unwrap();
    assert_eq!(
        state.log,
        [
            "by_ref after 0",
            "with_context",
            "by_value",
            "by_value_with_context",
            "jumping",
            "commanding",
            "named_lifetimes",
            "7",
            "synchronous",
            "0",
        ]
    );
    assert_eq!(state.count, 42);
}

#[tokio::test]
async fn d1_a_node_is_called_like_any_function() {
    let state = Notes::default();
    assert_eq!(by_ref(&state).await, say("by_ref after 0"));
    assert_eq!(by_value(state.clone()).await.log, ["by_value"]);
    assert_eq!(fallible(&state).await.unwrap().count, Some(42));
    assert_eq!(generic::<u8>(&state).await, say("0"));
    let by_ref = by_ref.retry(3);
    let plan = |by_ref: String| by_ref;
    assert_eq!(plan("shadowed".to_owned()), "shadowed");
    let _ = by_ref;
}

#[test]
fn what_a_function_says_of_itself_is_kept() {
    let mut graph = StateGraph::<Notes>::new();
    graph
        .add_node("by_ref", by_ref)
        .add_node("jumping", jumping);
    let nodes = &graph.topology().nodes;
    assert_eq!(
        nodes[0].docs.as_deref(),
        Some("Adds a line.\n\nAnd another.")
    );
    assert!(!nodes[0].may_goto && nodes[1].may_goto);
}

#[node]
async fn one_item(item: u32) -> NotesUpdate {
    say(&item.to_string())
}

#[node]
async fn item_and_state(item: u32, state: &Notes) -> NotesUpdate {
    say(&format!("{item} of {}", state.count))
}

#[node]
async fn item_and_context(item: u32, cx: &Context) -> NotesUpdate {
    say(&format!("{item} in {}", cx.node()))
}

#[node]
async fn item_state_and_context(item: u32, state: &Notes, cx: &Context) -> NotesUpdate {
    say(&format!("{item} of {} in {}", state.count, cx.node()))
}

#[tokio::test]
async fn d3_a_worker_takes_an_item_and_what_it_asks_for() {
    let mut graph = StateGraph::<Notes>::new();
    let items = |_: &Notes| vec![1_u32];
    let a = graph.add_worker("a", one_item);
    let b = graph.add_worker("b", worker(item_and_state).retry(2));
    let c = graph.add_worker("c", item_and_context);
    let d = graph.add_worker("d", item_state_and_context);
    graph
        .add_map(START, items, &a)
        .add_map(START, items, &b)
        .add_map(START, items, &c)
        .add_map(START, items, &d);
    let state = graph
        .compile()
        .unwrap()
        .invoke(Notes::default())
        .await
        .unwrap();
    assert_eq!(state.log, ["1", "1 of 0", "1 in c", "1 of 0 in d"]);
}
