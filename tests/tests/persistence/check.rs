//! What `check_threads` says of threads whose graph has changed.

use std::sync::Arc;

use langgraph::prelude::*;
use langgraph_tests::ByteSaver;
use langgraph_tests::fixtures::diary::{Diary, wrote};
use langgraph_versions::check_threads;

/// A graph whose workers take items of one type, and wait.
fn maps<T>(items: fn() -> Vec<T>) -> StateGraph<Diary>
where
    T: langgraph::node::Item,
{
    let mut graph = StateGraph::<Diary>::new();
    graph.set_name("maps");
    let worker = graph.add_worker("work", |_: T, _: &Diary, cx: &Context| {
        let asked = cx.interrupt::<String>("what", "What?");
        async move { asked.map(wrote).map_err(NodeError::from) }
    });
    graph.add_map(START, move |_: &Diary| items(), &worker);
    graph
}

#[tokio::test]
async fn a_pending_item_that_its_worker_does_not_take_blocks_the_thread() {
    for nested in [false, true] {
        let saver = Arc::new(ByteSaver::default());
        let outer = |inner: &StateGraph<Diary>| {
            if !nested {
                return inner.compile().unwrap();
            }
            let mut outer = StateGraph::<Diary>::new();
            outer.set_name("maps");
            outer
                .add_node("inner", inner.compile().unwrap())
                .add_sequence(&["inner"]);
            outer.compile().unwrap()
        };
        let before = outer(&maps(|| vec![1_u64, 2])).checkpointer(saver.clone());
        before.run(()).thread("t").await.unwrap();
        let same = check_threads(saver.clone(), &before).await.unwrap();
        assert_eq!(same.blocked().count(), 0, "{same}");

        let after = outer(&maps(|| vec!["one".to_owned()])).checkpointer(saver.clone());
        let report = check_threads(saver, &after).await.unwrap();
        let text = report.to_string();
        let worker = if nested { "inner/work" } else { "work" };
        let expected = format!(
            "a value of thread `t` cannot be read: worker `{worker}` takes `alloc::string::String`, and the item that was stored for it is none"
        );
        assert!(text.contains(&expected), "{text}");
        // The run says the same.
        let run = after.thread("t").resume_all([("what", "x")]).await;
        assert!(run.is_err());
    }
}

/// Two forms of a state.
mod first {
    use super::*;

    #[derive(State, Clone, Debug, Default, PartialEq)]
    pub(super) struct Order {
        pub(super) client: String,
        pub(super) count: u32,
    }
}

mod retyped {
    use super::*;

    #[derive(State, Clone, Debug, Default, PartialEq)]
    pub(super) struct Order {
        pub(super) client: String,
        pub(super) count: String,
    }
}

mod renamed {
    use super::*;

    #[derive(State, Clone, Debug, Default, PartialEq)]
    pub(super) struct Order {
        pub(super) customer: String,
        pub(super) count: u32,
    }
}

mod aliased {
    use super::*;

    #[derive(State, Clone, Debug, Default, PartialEq)]
    pub(super) struct Order {
        #[state(alias = "client")]
        pub(super) customer: String,
    }
}

fn pauses<S: State + Default>() -> CompiledStateGraph<S> {
    let mut graph = StateGraph::<S>::new();
    graph.set_name("orders");
    graph.add_node("wait", |_: &S| ()).add_sequence(&["wait"]);
    graph.interrupt_before(["wait"]);
    graph.compile().unwrap()
}

fn order() -> first::Order {
    first::Order {
        client: "Ada".to_owned(),
        count: 300,
    }
}

#[tokio::test]
async fn a_value_that_cannot_be_read_names_its_field() {
    let saver = Arc::new(ByteSaver::default());
    let before = pauses::<first::Order>().checkpointer(saver.clone());
    before.run(order()).thread("t").await.unwrap();
    let after = pauses::<retyped::Order>().checkpointer(saver);
    let error = after.thread("t").proceed().await.unwrap_err().to_string();
    let expected = "a value of thread `t` cannot be read: field `count`: invalid type: integer `300`, expected a string";
    assert!(error.contains(expected), "{error}");
}

#[tokio::test]
async fn fields_that_have_their_default_now_are_noted() {
    let saver = Arc::new(ByteSaver::default());
    let before = pauses::<first::Order>().checkpointer(saver.clone());
    before.run(order()).thread("t").await.unwrap();
    let notes = async |report: Result<langgraph_versions::Report, AgentError>| {
        let report = report.unwrap();
        assert_eq!(report.blocked().count(), 0, "{report}");
        report.threads[0].notes.clone()
    };
    assert_eq!(
        notes(check_threads(saver.clone(), &before).await).await,
        [""; 0]
    );
    assert_eq!(
        notes(check_threads(saver.clone(), &pauses::<renamed::Order>()).await).await,
        [
            "field `customer` is not stored, and has its default; if it was called `client`, put `#[state(alias = \"client\")]` on it"
        ]
    );
    assert_eq!(
        notes(check_threads(saver.clone(), &pauses::<aliased::Order>()).await).await,
        ["field `count` is stored, and the state has no such field"]
    );
}
