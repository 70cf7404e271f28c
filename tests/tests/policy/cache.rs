//! Caches of nodes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph::async_trait;
use langgraph::checkpoint::MemorySaver;
use langgraph::graph::worker;
use langgraph::policy::{
    CacheKey, CachePolicy, CachedOutput, InMemoryCache, NodeCache, NodeFailure,
};
use langgraph::prelude::*;
use langgraph::state::PlainUpdate;

use langgraph_tests::fixtures::lines::{Boom, Log, LogUpdate, line, ms, single};

/// How often a node ran.
#[derive(Clone, Default)]
struct Count(Arc<AtomicU32>);

impl Count {
    fn add(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn get(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }

    /// A node that counts its runs.
    fn node(&self) -> impl Fn(&Log) -> LogUpdate + Send + Sync + 'static {
        let count = self.clone();
        move |state| {
            count.add();
            line(format!("n={}", state.n))
        }
    }
}

fn with(n: i64) -> Log {
    Log {
        n,
        ..Log::default()
    }
}

#[tokio::test]
async fn a_cached_node_is_not_run_again_for_the_same_input() {
    let count = Count::default();
    let graph = single(count.node().cache(CachePolicy::input()))
        .compile()
        .unwrap();
    for (input, lines, runs) in [(1, "n=1", 1), (1, "n=1", 1), (2, "n=2", 2), (1, "n=1", 2)] {
        assert_eq!(graph.invoke(with(input)).await.unwrap().lines, [lines]);
        assert_eq!(count.get(), runs);
    }
}

#[tokio::test]
async fn the_key_says_what_is_the_same_input() {
    let count = Count::default();
    let policy = CachePolicy::new(|state: &Log| state.n.abs());
    let graph = single(count.node().cache(policy)).compile().unwrap();
    assert_eq!(graph.invoke(with(-3)).await.unwrap().lines, ["n=-3"]);
    assert_eq!(graph.invoke(with(3)).await.unwrap().lines, ["n=-3"]);
    assert_eq!(count.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_expires_with_its_time_to_live() {
    let count = Count::default();
    let policy = CachePolicy::input().ttl(ms(100));
    let graph = single(count.node().cache(policy)).compile().unwrap();
    graph.invoke(with(1)).await.unwrap();
    tokio::time::advance(ms(99)).await;
    graph.invoke(with(1)).await.unwrap();
    assert_eq!(count.get(), 1);
    tokio::time::advance(ms(1)).await;
    graph.invoke(with(1)).await.unwrap();
    assert_eq!(count.get(), 2);
}

#[tokio::test]
async fn a_cache_holds_no_more_than_its_limit_and_drops_the_oldest() {
    let count = Count::default();
    let cache = Arc::new(InMemoryCache::holding(8));
    let mut graph = single(count.node().cache(CachePolicy::input()));
    graph.cache(Arc::clone(&cache));
    let graph = graph.compile().unwrap();
    for n in 0..9 {
        graph.invoke(with(n)).await.unwrap();
    }
    // One too many: a quarter goes with it.
    assert_eq!((count.get(), cache.len()), (9, 6));
    for n in 3..9 {
        graph.invoke(with(n)).await.unwrap();
    }
    assert_eq!(count.get(), 9);
    graph.invoke(with(2)).await.unwrap();
    assert_eq!(count.get(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_cache_drops_what_has_expired_as_it_grows() {
    let count = Count::default();
    let cache = Arc::new(InMemoryCache::new());
    let policy = CachePolicy::input().ttl(ms(10));
    let mut graph = single(count.node().cache(policy));
    graph.cache(Arc::clone(&cache));
    let graph = graph.compile().unwrap();
    for n in 0..1000 {
        graph.invoke(with(n)).await.unwrap();
        tokio::time::advance(ms(1)).await;
    }
    assert_eq!(count.get(), 1000);
    assert!(cache.len() <= 65, "{}", cache.len());
}

#[tokio::test]
async fn the_item_of_a_worker_is_part_of_the_key() {
    let count = Count::default();
    let counted = count.clone();
    let shout = move |word: String| {
        counted.add();
        async move { line(word.to_uppercase()) }
    };
    let mut graph = StateGraph::<Log>::new();
    let shout = worker(shout).cache(CachePolicy::item());
    let shout = graph.add_worker("shout", shout);
    graph.add_map(START, |state: &Log| state.lines.clone(), &shout);
    let graph = graph.compile().unwrap();
    for (input, output, runs) in [(["a", "b"], ["A", "B"], 2), (["b", "c"], ["B", "C"], 3)] {
        let input = Log {
            lines: input.map(str::to_owned).into(),
            n: 0,
        };
        let state = graph.invoke(input).await.unwrap();
        assert_eq!(state.lines[2..], output);
        assert_eq!(count.get(), runs);
    }
}

#[tokio::test]
async fn errors_are_not_kept_nor_what_a_handler_made_of_them() {
    let count = Count::default();
    let counted = count.clone();
    let fails = move |_: &Log| -> Result<LogUpdate, Boom> {
        counted.add();
        Err(Boom("no"))
    };
    let handle = |_: &Log, _: &NodeFailure| line("handled");
    let node = fails.cache(CachePolicy::input()).on_error(handle);
    let graph = single(node).compile().unwrap();
    for runs in 1..4 {
        assert_eq!(graph.invoke(with(1)).await.unwrap().lines, ["handled"]);
        assert_eq!(count.get(), runs);
    }
}

#[tokio::test]
async fn pauses_are_not_kept_nor_answers_that_a_person_gave() {
    let count = Count::default();
    let counted = count.clone();
    let ask = move |_: &Log, cx: &Context| -> Result<LogUpdate, NodeError> {
        counted.add();
        Ok(line(cx.interrupt::<String>("name", "who?")?))
    };
    let graph = single(ask.cache(CachePolicy::input()))
        .compile()
        .unwrap()
        .checkpointer(Arc::new(MemorySaver::new()));
    for (thread, name) in [("1", "Ada"), ("2", "Grace")] {
        let outcome = graph.run(with(1)).thread(thread).await.unwrap();
        assert_eq!(outcome.interrupts().len(), 1);
        let outcome = graph.thread(thread).resume("name", name).await.unwrap();
        assert_eq!(outcome.state().lines, [name]);
    }
    assert_eq!(count.get(), 4);
}

#[tokio::test]
async fn where_a_node_went_is_kept_with_what_it_wrote() {
    let count = Count::default();
    let counted = count.clone();
    let decide = move |state: &Log| {
        counted.add();
        let target = if state.n > 0 { "up" } else { "down" };
        Command::update(line("decided")).and_goto(target)
    };
    let mut graph = StateGraph::<Log>::new();
    graph
        .add_node("decide", decide.cache(CachePolicy::input()))
        .add_node("up", |_: &Log| line("up"))
        .add_node("down", |_: &Log| line("down"))
        .add_edge(START, "decide")
        .add_edge("decide", "down");
    let graph = graph.compile().unwrap();
    for _ in 0..2 {
        assert_eq!(
            graph.invoke(with(1)).await.unwrap().lines,
            ["decided", "up"]
        );
    }
    assert_eq!(count.get(), 1);
}

#[tokio::test]
async fn a_cached_task_starts_updates_and_finishes_marked_as_cached() {
    let count = Count::default();
    let mut graph = StateGraph::<Log>::new();
    graph
        .add_node("a", count.node().cache(CachePolicy::input()))
        .add_node("b", |_: &Log| line("b"))
        .add_sequence(&["a", "b"]);
    // The same beside another node, where tasks run on their own.
    let mut parallel = graph.clone();
    parallel.add_node("c", |_: &Log| ()).add_edge(START, "c");
    for (graph, beside) in [(graph, false), (parallel, true)] {
        let graph = graph.compile().unwrap();
        graph.invoke(with(1)).await.unwrap();
        let mut events = graph
            .run(with(1))
            .stream(StreamMode::Updates | StreamMode::Tasks);
        let mut seen = Vec::new();
        while let Some(event) = events.next().await {
            seen.push(match event.unwrap().kind {
                EventKind::TaskStarted(task) => format!("start {}", task.node),
                EventKind::TaskFinished(task) => format!("finish {} {}", task.node, task.cached),
                EventKind::Update { node, cached, .. } => format!("update {node} {cached}"),
                other => panic!("{other:?}"),
            });
        }
        seen.retain(|event| !event.contains(" c"));
        let expected = [
            "start a",
            "update a true",
            "finish a true",
            "start b",
            "update b false",
            "finish b false",
        ];
        assert_eq!(seen, expected, "beside another: {beside}");
    }
}

#[tokio::test]
async fn answers_are_forgotten_for_one_node_or_for_all() {
    let (a, b) = (Count::default(), Count::default());
    let by_n = || CachePolicy::new(|state: &Log| state.n);
    let mut graph = StateGraph::<Log>::new();
    graph
        .add_node("a", a.node().cache(by_n()))
        .add_node("b", b.node().cache(by_n()))
        .add_sequence(&["a", "b"]);
    let graph = graph.compile().unwrap();
    let runs = async || {
        graph.invoke(with(1)).await.unwrap();
        (a.get(), b.get())
    };
    assert_eq!(runs().await, (1, 1));
    assert_eq!(runs().await, (1, 1));
    graph.clear_node_cache("b").await.unwrap();
    assert_eq!(runs().await, (1, 2));
    graph.clear_cache().await;
    assert_eq!(runs().await, (2, 3));
    let error = graph.clear_node_cache("c").await.unwrap_err();
    assert!(error.to_string().contains("`c`"), "{error}");
}

#[tokio::test]
async fn graphs_share_answers_only_through_a_cache_that_both_are_given() {
    let count = Count::default();
    let builder = |count: &Count| single(count.node().cache(CachePolicy::input()));
    let (first, second) = (
        builder(&count).compile().unwrap(),
        builder(&count).compile().unwrap(),
    );
    first.invoke(with(1)).await.unwrap();
    second.invoke(with(1)).await.unwrap();
    assert_eq!(count.get(), 2);

    let (count, cache) = (Count::default(), Arc::new(InMemoryCache::new()));
    let shared = |name: &str, version: &str| {
        let mut graph = single(count.node().cache(CachePolicy::input().version(version)));
        graph.set_name(name).cache(Arc::clone(&cache));
        graph.compile().unwrap()
    };
    for (name, version, runs) in [("g", "1", 1), ("g", "1", 1), ("g", "2", 2), ("h", "1", 3)] {
        shared(name, version).invoke(with(1)).await.unwrap();
        assert_eq!(count.get(), runs, "{name} {version}");
    }
    // One graph forgets; the others do not.
    shared("h", "1").clear_cache().await;
    shared("g", "1").invoke(with(1)).await.unwrap();
    assert_eq!(count.get(), 3);
    shared("h", "1").invoke(with(1)).await.unwrap();
    assert_eq!(count.get(), 4);
}

#[tokio::test]
async fn any_cache_can_be_used() {
    /// Keeps the last answer, and notes what it was asked to.
    #[derive(Default)]
    struct Last(Mutex<Option<(CacheKey, CachedOutput, Option<Duration>)>>);
    #[async_trait]
    impl NodeCache for Last {
        async fn get(&self, key: &CacheKey) -> Option<CachedOutput> {
            tokio::task::yield_now().await;
            let last = self.0.lock().unwrap();
            let known = last.as_ref().filter(|last| last.0 == *key);
            known.map(|last| last.1.clone())
        }
        async fn put(&self, key: CacheKey, output: CachedOutput, ttl: Option<Duration>) {
            *self.0.lock().unwrap() = Some((key, output, ttl));
        }
        async fn clear(&self, _: &str, _: Option<&str>) {
            *self.0.lock().unwrap() = None;
        }
    }
    let (count, cache) = (Count::default(), Arc::new(Last::default()));
    let mut graph = single(
        count
            .node()
            .cache(CachePolicy::new(|s: &Log| s.n).ttl(ms(7))),
    );
    graph.set_name("numbers").cache(Arc::clone(&cache));
    let graph = graph.compile().unwrap();
    for (n, runs) in [(1, 1), (1, 1), (2, 2), (1, 3)] {
        graph.invoke(with(n)).await.unwrap();
        assert_eq!(count.get(), runs);
    }
    let last = cache.0.lock().unwrap().take().unwrap();
    let (key, output, ttl) = last;
    assert_eq!(
        (key.graph(), key.node(), key.input()),
        ("numbers", "node", "1")
    );
    assert_eq!(output.output::<Log>().unwrap().writes().len(), 1);
    assert!(output.output::<i64>().is_none());
    assert_eq!(ttl, Some(ms(7)));
}

#[tokio::test]
async fn a_subgraph_is_cached_as_one_node_and_its_nodes_for_themselves() {
    let count = Count::default();
    let inner = || single(count.node()).compile().unwrap();
    let graph = single(inner().cache(CachePolicy::input()))
        .compile()
        .unwrap();
    for _ in 0..2 {
        assert_eq!(graph.invoke(with(1)).await.unwrap().lines, ["n=1"]);
    }
    assert_eq!(count.get(), 1);

    let count = Count::default();
    let inner = single(count.node().cache(CachePolicy::input()))
        .compile()
        .unwrap();
    let graph = single(inner).compile().unwrap();
    for _ in 0..2 {
        assert_eq!(graph.invoke(with(1)).await.unwrap().lines, ["n=1"]);
    }
    assert_eq!(count.get(), 1);
}

#[tokio::test]
async fn a_key_that_cannot_be_written_down_is_an_error() {
    let policy = CachePolicy::new(|_: &i64| std::collections::BTreeMap::from([((1, 2), 3)]));
    let mut graph = StateGraph::<i64>::new();
    graph.add_node("node", (|n: &i64| PlainUpdate(Some(n + 1))).cache(policy));
    graph.add_sequence(&["node"]);
    let error = graph.compile().unwrap().invoke(1).await.unwrap_err();
    assert!(
        error.to_string().contains("cannot be a cache key"),
        "{error}"
    );
}

#[tokio::test]
async fn a_number_that_json_has_no_word_for_is_no_key() {
    // Both would be `null`, and one would get the other's answer.
    for n in [f64::NAN, f64::INFINITY] {
        let policy = CachePolicy::new(move |_: &i64| n);
        let mut graph = StateGraph::<i64>::new();
        graph.add_node("node", (|n: &i64| PlainUpdate(Some(n + 1))).cache(policy));
        graph.add_sequence(&["node"]);
        let error = graph.compile().unwrap().invoke(1).await.unwrap_err();
        let text = error.to_string();
        assert!(text.contains("cannot be a cache key"), "{text}");
        assert!(text.contains("finite"), "{text}");
    }
}
