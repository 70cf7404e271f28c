//! Each rule of the lock, and what it says.

use langgraph::graph::{NodeKind, Topology, lock};
use langgraph::prelude::*;
use langgraph_functional::EntrypointExt;

use super::changes;

#[derive(State, Clone, Debug, Default)]
pub(super) struct Order {
    #[reducer(append)]
    lines: Vec<String>,
    total: u32,
}

fn step(_: &Order) {}

/// The graph of a builder, named.
fn built(build: impl FnOnce(&mut StateGraph<Order>)) -> Topology {
    let mut graph = StateGraph::<Order>::new();
    graph.set_name("orders");
    build(&mut graph);
    graph.compile().unwrap().topology().clone()
}

#[track_caller]
fn refused(before: &Topology, now: &Topology, expected: &[&str]) {
    let found: Vec<String> = changes(before, now)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found}");
    }
    assert!(changes(before, before).is_empty());
}

fn accepted(before: &Topology, now: &Topology) {
    refused(before, now, &[]);
}

fn sequence(nodes: &[&str]) -> Topology {
    built(|graph| {
        for node in nodes {
            graph.add_node(node, step);
        }
        graph.add_sequence(nodes);
    })
}

#[test]
fn a_node_that_is_gone_says_which_alias_brings_it_back() {
    let before = sequence(&["check", "publish"]);
    refused(
        &before,
        &sequence(&["check", "release"]),
        &[
            "a thread may wait for node `publish`, which is gone: if it is `release` now, write `#[node(alias = \"publish\")]` on it; if not, keep the old version of the graph beside this one until no thread waits on it: `Versions::new().add(old).add(new)`",
        ],
    );
    let renamed = |aliases: &[&str]| {
        built(|graph| {
            graph.add_node("check", step).add_node("release", step);
            graph.add_sequence(&["check", "release"]);
            for alias in aliases {
                graph.add_node_alias(alias, "release");
            }
        })
    };
    accepted(&before, &renamed(&["publish"]));
    // Threads may still hold the older of two names.
    refused(
        &renamed(&["publish", "print"]),
        &renamed(&["publish"]),
        &["a thread may wait for node `print`, which is gone: if it is `release` now"],
    );
}

#[test]
fn an_item_of_a_worker_has_its_type() {
    fn map<T: langgraph::node::Item>(items: fn() -> Vec<T>) -> Topology {
        built(|graph| {
            let worker = graph.add_worker("each", |_: T, _: &Order, _: &Context| async {});
            graph.add_map(START, move |_: &Order| items(), &worker);
        })
    }
    let before = map(|| vec![1_u32]);
    accepted(&before, &map(|| vec![2_u32]));
    refused(
        &before,
        &map(|| vec![String::new()]),
        &[
            "a thread may wait for node `each` with an item of type `u32`, and it takes an item of type `String` now: keep the old version",
        ],
    );
    refused(
        &before,
        &sequence(&["each"]),
        &["a thread may wait for node `each` with an item of type `u32`, and it takes no item now"],
    );
}

#[test]
fn a_subgraph_is_known_by_its_name_and_compared_inside() {
    let outer = |name: &str, nodes: &[&str]| {
        built(|graph| {
            let mut inner = StateGraph::<Order>::new();
            inner.set_name(name);
            for node in nodes {
                inner.add_node(node, step);
            }
            inner.add_sequence(nodes);
            graph.add_node("pack", inner.compile().unwrap());
            graph.add_sequence(&["pack"]);
        })
    };
    let before = outer("warehouse", &["fetch", "wrap"]);
    accepted(&before, &outer("warehouse", &["fetch", "label", "wrap"]));
    for now in [outer("shelf", &["fetch", "wrap"]), sequence(&["pack"])] {
        refused(
            &before,
            &now,
            &[
                "a thread may wait in `warehouse`, which node `pack` no longer runs: put the new one in a node of another name, and keep the old version",
            ],
        );
    }
    let now = outer("warehouse", &["fetch", "fold"]);
    let found = langgraph::graph::lock::breaking_changes(&before, &now);
    assert_eq!(found.len(), 1, "{found:?}");
    let text = found[0].to_string();
    assert!(
        text.starts_with("in subgraph `pack`: a thread may wait for node `wrap`"),
        "{text}"
    );
    let agent = |agent: &str| {
        let mut graph = sequence(&["call"]);
        let agent = agent.to_owned();
        graph.nodes[0].kind = NodeKind::Remote { agent };
        graph
    };
    refused(
        &agent("mail"),
        &agent("post"),
        &["a thread may wait in `mail`, which node `call`"],
    );
}

#[test]
fn keys_of_a_node_are_kept() {
    #[node]
    async fn pay(_: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
        let euros: u32 = cx.interrupt("euros", "How much?")?;
        let receipt: String = cx
            .once(("pay", &euros), async { Ok::<_, NodeError>(String::new()) })
            .await?;
        Ok(OrderUpdate::default().lines(vec![receipt]))
    }
    let before = built(|graph| {
        graph.add_node("pay", pay).add_sequence(&["pay"]);
    });
    let mut now = before.clone();
    "u64".clone_into(&mut now.nodes[0].keys[0].ty);
    refused(
        &before,
        &now,
        &[
            "a thread may wait at node `pay` for a `u32` as the answer to `euros`, and the node takes a `u64` now: ask under another key in a node of another name, and keep the old version",
        ],
    );
    "cents".clone_into(&mut now.nodes[0].keys[0].key);
    refused(
        &before,
        &now,
        &[
            "a thread may wait at node `pay` for an answer to `euros`, which the node no longer asks for",
        ],
    );
    let mut now = before.clone();
    "Receipt".clone_into(&mut now.nodes[0].keys[1].ty);
    refused(
        &before,
        &now,
        &[
            "a thread that waits at node `pay` may have stored a `String` as the result of `pay`, and the node takes a `Receipt` now: keep the old version",
        ],
    );
    let mut now = before.clone();
    "transfer".clone_into(&mut now.nodes[0].keys[1].key);
    refused(
        &before,
        &now,
        &[
            "a thread that waits at node `pay` may have stored the result of `pay`, and the work has another key now, so that it runs again: keep the key",
        ],
    );
    // Work that is gone does not run again.
    now.nodes[0].keys.pop();
    accepted(&before, &now);
}

#[test]
fn of_a_key_that_is_made_at_run_time_the_lock_knows_that_the_node_asks() {
    #[node]
    async fn ask(order: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
        let key = format!("line {}", order.lines.len());
        let sure: bool = cx.interrupt(&key, "Sure?")?;
        let last: bool = cx.interrupt_next("And now?")?;
        Ok(OrderUpdate::default().lines(vec![(sure && last).to_string()]))
    }
    #[node]
    async fn confirm(_: &Order, cx: &Context) -> Result<OrderUpdate, NodeError> {
        let sure: bool = cx.interrupt("sure", "Sure?")?;
        Ok(OrderUpdate::default().lines(vec![sure.to_string()]))
    }
    let before = built(|graph| {
        graph.add_node("ask", ask).add_sequence(&["ask"]);
    });
    assert!(lock::write([&before]).contains("  node ask\n    interrupt ? bool\n  edge"));
    refused(
        &before,
        &sequence(&["ask"]),
        &[
            "a thread may wait at node `ask` for an answer under a key that is made at run time, and the node no longer asks for any: ask in the body of the node, or keep the old version",
        ],
    );
    // It may be the same key.
    let named = built(|graph| {
        graph.add_node("ask", confirm).add_sequence(&["ask"]);
    });
    accepted(&before, &named);
    refused(
        &named,
        &before,
        &[
            "a thread may wait at node `ask` for an answer to `sure`, which the node no longer asks for",
        ],
    );
}

#[test]
fn tasks_of_a_function_are_kept() {
    mod first {
        use langgraph::prelude::*;
        use langgraph_functional::{entrypoint, task};

        #[task]
        pub(super) async fn write(topic: String) -> Result<String, NodeError> {
            Ok(topic)
        }
        #[task]
        pub(super) async fn review(text: String, cx: &Context) -> Result<bool, NodeError> {
            Ok(cx.interrupt::<bool>("approve", &text)?)
        }
        #[entrypoint(name = "essay")]
        pub(super) async fn essay(topic: String, cx: &Context) -> Result<bool, NodeError> {
            let text = write(topic).on(cx).await?;
            review(text).on(cx).await
        }
    }
    mod second {
        use langgraph::prelude::*;
        use langgraph_functional::{entrypoint, task};

        #[task(name = "write")]
        pub(super) async fn draft(topic: String) -> Vec<String> {
            vec![topic]
        }
        #[entrypoint(name = "essay")]
        pub(super) async fn essay(topic: String, cx: &Context) -> Result<usize, NodeError> {
            Ok(draft(topic).on(cx).await?.len())
        }
    }
    let first = first::essay.compile().unwrap().topology().clone();
    let lines: Vec<_> = lock::write([&first])
        .lines()
        .skip_while(|line| !line.trim_start().starts_with("node "))
        .map(str::to_owned)
        .collect();
    assert_eq!(
        lines,
        [
            "  node essay",
            "    interrupt approve bool",
            "    task review bool",
            "    task write String",
            "  edge __start__ -> essay",
            "  edge essay -> __end__"
        ]
    );
    let mut second = second::essay.compile().unwrap().topology().clone();
    second.fields.clone_from(&first.fields);
    refused(
        &first,
        &second,
        &[
            "a thread may wait at node `essay` for an answer to `approve`, which the node no longer asks for",
            "a thread that waits at node `essay` may have stored the result of task `review`, which the node no longer calls: if it is another function now, write `#[task(name = \"review\")]` on it; if not, keep the old version",
            "a thread that waits at node `essay` may have stored a `String` as the result of task `write`, which returns a `Vec<String>` now: keep the old version",
        ],
    );
    // A task that is new may run after what the thread waits for.
    let mut fewer = first.clone();
    fewer.nodes[0].keys.retain(|key| key.key != "review");
    accepted(&fewer, &first);
}

/// A change, and what is reported of it.
type Case<'a> = (&'a dyn Fn(&mut Topology), &'a str);

#[test]
fn fields_are_kept_or_migrated() {
    let before = sequence(&["a"]);
    let changed = |change: &dyn Fn(&mut Topology)| {
        let mut now = before.clone();
        change(&mut now);
        now
    };
    let cases: [Case<'_>; 5] = [
        (
            &|now| "sum".clone_into(&mut now.fields[1].name),
            "threads hold field `total`, which is gone: if it was renamed, write `#[state(alias = \"total\")]` on the new field; if not, convert what is stored by `#[state(version = 1, migrate = …)]` on the state",
        ),
        (
            &|now| now.fields[1].untracked = true,
            "threads hold field `total`, which is gone",
        ),
        (
            &|now| "f64".clone_into(&mut now.fields[1].ty),
            "threads hold field `total` as `u32`, and it is `f64` now: convert what is stored",
        ),
        (
            &|now| {
                now.fields[1].reduced = true;
                "add".clone_into(&mut now.fields[1].reducer);
            },
            "threads have merged field `total` without a reducer, and it is merged by `add` now: convert",
        ),
        (
            &|now| "union".clone_into(&mut now.fields[0].reducer),
            "threads have merged field `lines` by `append`, and it is merged by `union` now",
        ),
    ];
    for (change, expected) in cases {
        let mut now = changed(change);
        refused(&before, &now, &[expected]);
        let state = now.state.as_mut().unwrap();
        state.version = 1;
        refused(
            &before,
            &now,
            &[&expected.replace("version = 1", "version = 2")],
        );
        now.state.as_mut().unwrap().migrates = true;
        accepted(&before, &now);
        // A migration from the version before does not convert this one.
        let mut locked = before.clone();
        locked.state.as_mut().unwrap().version = 1;
        refused(
            &locked,
            &now,
            &[&expected.replace("version = 1", "version = 2")],
        );
    }
    accepted(
        &before,
        &changed(&|now| {
            let field = &mut now.fields[1];
            field
                .aliases
                .push(std::mem::replace(&mut field.name, "sum".to_owned()));
        }),
    );
    refused(
        &before,
        &changed(&|now| "Sale".clone_into(&mut now.state.as_mut().unwrap().name)),
        &[
            "threads hold states of type `Order`, and the state is called `Sale` now: if it is the same type, write `#[state(alias = \"Order\")]` on `Sale`; if not, keep the old version",
        ],
    );
    refused(
        &changed(&|now| now.state.as_mut().unwrap().version = 2),
        &before,
        &[
            "threads hold states of version 2, and this is version 0: versions only rise, so give it version 2 or a higher one by `#[state(version = …)]`",
        ],
    );
}

#[test]
fn a_join_keeps_its_sources_and_its_target() {
    let fan = |nodes: &[&str], sources: &[&str], tail: &[&str]| {
        built(|graph| {
            for node in nodes.iter().chain(tail) {
                graph.add_node(node, step);
            }
            for node in nodes {
                graph.add_edge(START, node);
            }
            graph.add_edge(sources, tail[0]).add_chain(tail);
        })
    };
    let before = fan(&["a", "b"], &["a", "b"], &["sum"]);
    accepted(&before, &fan(&["b", "a"], &["b", "a"], &["sum", "print"]));
    let why = "a thread may have finished some of `[a, b]` and wait for the others to start `sum`, and no such join is left: keep the join, and put new nodes before its sources or after its target; otherwise, keep the old version";
    for now in [
        fan(&["a", "b", "c"], &["a", "b", "c"], &["sum"]),
        fan(&["a", "b"], &["a", "b"], &["count", "sum"]),
    ] {
        let found = changes(&before, &now);
        assert!(
            found
                .iter()
                .any(|change| change.to_string().starts_with(why)),
            "{found:?}"
        );
    }
    // A join that is new waits for a node that the thread has left behind.
    let edge = built(|graph| {
        graph
            .add_node("a", step)
            .add_node("b", step)
            .add_node("sum", step);
        graph
            .add_edge(START, "a")
            .add_edge(START, "b")
            .add_edge("a", "sum");
    });
    refused(
        &edge,
        &before,
        &["a thread that waits at node `a` was to reach `sum`, and cannot now"],
    );
}

#[test]
fn a_node_still_leads_where_it_led() {
    let before = sequence(&["a", "b", "c"]);
    accepted(&before, &sequence(&["a", "new", "b", "c", "last"]));
    refused(
        &before,
        &sequence(&["a", "c", "b"]),
        &[
            "a thread that waits at node `b` was to reach `c`, and cannot now: lead from `b` to `c`, also through new nodes; otherwise, keep the old version",
        ],
    );
    let routed = |targets: &[&str]| {
        built(|graph| {
            for node in ["a", "b", "c"] {
                graph.add_node(node, step).add_edge(node, END);
            }
            let paths: Vec<_> = targets.iter().map(|target| (*target, *target)).collect();
            graph
                .add_edge(START, "a")
                .add_conditional_edges("a", |_: &Order| "b", paths);
        })
    };
    let all = routed(&["b", "c", END]);
    accepted(&routed(&["b", END]), &all);
    refused(
        &all,
        &routed(&["b", END]),
        &["a thread that waits at node `a` was to reach `c`"],
    );
    // A router that may name any node reaches all of them.
    let free = built(|graph| {
        for node in ["a", "b", "c"] {
            graph.add_node(node, step);
        }
        graph.add_edge(START, "a").add_router("a", |_: &Order| "b");
    });
    accepted(&all, &free);
}
