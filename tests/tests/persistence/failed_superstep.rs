//! A superstep that fails after its nodes have run leaves a thread that can be read and continued.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;

/// Set for as long as the outside world is broken.
static BROKEN: AtomicBool = AtomicBool::new(true);

#[derive(State, Clone, Debug, Default)]
struct Fragile {
    last: String,
    #[reducer(picky)]
    picky: Vec<String>,
}

/// Panics on a poisonous item while the world is broken.
fn picky(mut old: Vec<String>, new: Vec<String>) -> Vec<String> {
    assert!(
        !(BROKEN.load(Ordering::SeqCst) && new.contains(&"poison".to_owned())),
        "poison"
    );
    old.extend(new);
    old
}

fn add(item: &str) -> FragileUpdate {
    FragileUpdate::default().picky(vec![item.to_owned()])
}

/// `before`, and then what `more` adds.
fn graph(more: impl FnOnce(&mut StateGraph<Fragile>)) -> CompiledStateGraph<Fragile> {
    let mut graph = StateGraph::<Fragile>::new();
    graph.add_node("before", |_: &Fragile| add("before"));
    graph.add_edge(START, "before");
    more(&mut graph);
    let saver = Arc::new(MemorySaver::new());
    graph.compile().unwrap().checkpointer(saver)
}

/// Runs, fails, reads the thread, repairs the world, continues.
async fn fails_and_goes_on(graph: CompiledStateGraph<Fragile>, error: &str, items: &[&str]) {
    BROKEN.store(true, Ordering::SeqCst);
    let failed = graph.run(()).thread("t").await.unwrap_err();
    assert!(failed.to_string().contains(error), "{failed}");
    for _ in 0..2 {
        let state = graph.thread("t").state().await.unwrap().unwrap();
        // At most what a sibling has finished is there already.
        assert!(["before", "before two"].contains(&state.values.picky.join(" ").as_str()));
        assert!(!state.next.is_empty());
        assert!(!graph.thread("t").history().await.unwrap().is_empty());
        // As long as nothing has changed it fails again, and nothing gets worse.
        assert!(graph.thread("t").proceed().await.is_err());
    }
    BROKEN.store(false, Ordering::SeqCst);
    let state = graph
        .thread("t")
        .proceed()
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(state.picky, items);
}

#[tokio::test]
async fn j7_a_superstep_that_fails_behind_its_nodes_poisons_no_thread() {
    let broken = || BROKEN.load(Ordering::SeqCst);

    // A reducer that panics, behind one node.
    let one = graph(|graph| {
        graph.add_node("one", |_: &Fragile| add("poison"));
        graph.add_edge("before", "one");
    });
    fails_and_goes_on(one, "poison", &["before", "poison"]).await;

    // Behind several.
    let several = graph(|graph| {
        graph.add_node("one", |_: &Fragile| add("poison"));
        graph.add_node("two", |_: &Fragile| add("two"));
        graph.add_edge("before", "one").add_edge("before", "two");
    });
    fails_and_goes_on(several, "poison", &["before", "poison", "two"]).await;

    // Behind one of several, whose router is shown what it wrote.
    let routed = graph(|graph| {
        graph.add_node("one", |_: &Fragile| add("poison"));
        graph.add_node("two", |_: &Fragile| add("two"));
        graph.add_edge("before", "one").add_edge("before", "two");
        graph.add_router("one", |_: &Fragile| END);
    });
    fails_and_goes_on(routed, "poison", &["before", "poison", "two"]).await;

    // A conflict.
    let conflict = graph(|graph| {
        for name in ["one", "two"] {
            graph.add_node(name, move |_: &Fragile| {
                let update = add(name);
                if broken() {
                    update.last(name.to_owned())
                } else {
                    update
                }
            });
            graph.add_edge("before", name);
        }
    });
    fails_and_goes_on(conflict, "`last`", &["before", "one", "two"]).await;

    // A router that fails, behind one node and behind several.
    for beside in [false, true] {
        let router = graph(|graph| {
            graph.add_node("one", |_: &Fragile| add("one"));
            graph.add_node("two", |_: &Fragile| add("two"));
            graph.add_edge("before", "one");
            if beside {
                graph.add_edge("before", "two");
            }
            graph.add_router("one", move |_: &Fragile| {
                if broken() {
                    Err(NodeError::msg("lost"))
                } else {
                    Ok(END)
                }
            });
        });
        let items: &[&str] = if beside {
            &["before", "one", "two"]
        } else {
            &["before", "one"]
        };
        fails_and_goes_on(router, "lost", items).await;
    }

    // A router that answers with a node that is not there.
    let unknown = graph(|graph| {
        graph.add_node("one", |_: &Fragile| add("one"));
        graph.add_edge("before", "one");
        graph.add_router(
            "one",
            move |_: &Fragile| if broken() { "nowhere" } else { END },
        );
    });
    fails_and_goes_on(unknown, "nowhere", &["before", "one"]).await;
}
