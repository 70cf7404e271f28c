//! Random histories of a thread, against a plain tree of checkpoints.

use std::sync::Arc;

use langgraph::checkpoint::{CheckpointId, Checkpointer, Snapshot, Source};
use langgraph::error::CheckpointError;
use langgraph::prelude::*;
use langgraph::thread::{Keep, OnOpenInterrupt};
use langgraph_tests::ByteSaver;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

use langgraph_tests::fixtures::diary::{Diary, World, ask, graph_in, memory, note, over, wrote};

/// What is done to a thread. Checkpoints are chosen among those there are.
#[derive(Clone, Debug)]
enum Op {
    Input(u8),
    Answer(u8, Option<Index>),
    Proceed(Option<Index>),
    Update(u8, Place, Option<Index>),
    CopyCheckpoint(Option<Index>),
    ClearPending,
    Prune(usize),
    CopyThread,
}

/// Where a thread of `a`, `ask` and `b` may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Start,
    A,
    Ask,
    B,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Self::Start => START,
            Self::A => "a",
            Self::Ask => "ask",
            Self::B => "b",
        }
    }

    fn next(self) -> Option<Self> {
        match self {
            Self::Start => Some(Self::A),
            Self::A => Some(Self::Ask),
            Self::Ask => Some(Self::B),
            Self::B => None,
        }
    }
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let at = || proptest::option::weighted(0.4, any::<Index>());
    let places = [Place::Start, Place::A, Place::Ask, Place::B];
    let place = proptest::sample::select(places.to_vec());
    let op = prop_oneof![
        3 => any::<u8>().prop_map(Op::Input),
        5 => (any::<u8>(), at()).prop_map(|(answer, at)| Op::Answer(answer, at)),
        3 => at().prop_map(Op::Proceed),
        3 => (any::<u8>(), place, at()).prop_map(|(text, place, at)| Op::Update(text, place, at)),
        2 => at().prop_map(Op::CopyCheckpoint),
        1 => Just(Op::ClearPending),
        1 => (0..12_usize).prop_map(Op::Prune),
        1 => Just(Op::CopyThread),
    ];
    proptest::collection::vec(op, 1..24)
}

#[derive(Clone, Debug)]
struct Node {
    /// None until the thread has been looked at.
    id: Option<CheckpointId>,
    parent: Option<usize>,
    log: Vec<String>,
    next: Option<Place>,
    /// What is taken up where START is next.
    input: Option<String>,
    step: i64,
    source: Source,
    asked: bool,
    answer: Option<String>,
    gone: bool,
}

/// The checkpoints of a thread, in the order in which they were made.
#[derive(Clone, Debug, Default)]
struct Model {
    nodes: Vec<Node>,
}

impl Model {
    fn head(&self) -> Option<usize> {
        self.nodes.len().checked_sub(1)
    }

    fn live(&self) -> Vec<usize> {
        let all = 0..self.nodes.len();
        all.filter(|index| !self.nodes[*index].gone).collect()
    }

    /// A new checkpoint like another.
    fn add(&mut self, parent: Option<usize>, like: Option<usize>, source: Source) -> usize {
        let like = like.map(|index| self.nodes[index].clone());
        self.nodes.push(Node {
            id: None,
            parent,
            log: like.as_ref().map_or_else(Vec::new, |like| like.log.clone()),
            next: like.as_ref().and_then(|like| like.next),
            input: like.as_ref().and_then(|like| like.input.clone()),
            step: like.as_ref().map_or(-1, |like| like.step + 1),
            source,
            asked: false,
            answer: None,
            gone: false,
        });
        self.nodes.len() - 1
    }

    /// Runs a thread from one of its checkpoints.
    fn run(&mut self, mut at: usize) {
        while let Some(place) = self.nodes[at].next {
            let node = &self.nodes[at];
            let line = match place {
                Place::Start => node.input.clone().unwrap(),
                Place::Ask if node.answer.is_none() => {
                    self.nodes[at].asked = true;
                    return;
                }
                Place::Ask => node.answer.clone().unwrap(),
                place => format!("{}@{}", place.name(), node.log.len()),
            };
            at = self.add(Some(at), Some(at), Source::Loop);
            self.nodes[at].log.push(line);
            self.nodes[at].next = place.next();
            self.nodes[at].input = None;
        }
    }

    fn is_open(&self, at: usize) -> bool {
        self.nodes[at].asked && self.nodes[at].answer.is_none()
    }
}

/// A thread and its model.
struct Played {
    graph: CompiledStateGraph<Diary>,
    thread: String,
    model: Model,
    /// Threads that were left behind.
    others: Vec<(String, Model)>,
    /// How often each kind of thing happened.
    answered: usize,
    forked: usize,
}

fn is_refused<T>(result: &Result<T, AgentError>) -> bool {
    matches!(
        result,
        Err(AgentError::Checkpoint(
            CheckpointError::NothingToResume { .. } | CheckpointError::UnknownThread(_)
        ))
    )
}

impl Played {
    fn new(saver: &Arc<dyn Checkpointer>) -> Self {
        let mut graph = graph_in(&World::new());
        graph
            .add_node("a", note)
            .add_node("ask", ask)
            .add_node("b", note);
        graph.add_sequence(&["a", "ask", "b"]);
        Self {
            graph: over(&graph, saver),
            thread: "0".to_owned(),
            model: Model::default(),
            others: Vec::new(),
            answered: 0,
            forked: 0,
        }
    }

    fn choose(&self, at: Option<Index>) -> Option<usize> {
        let live = self.model.live();
        let at = at.filter(|_| !live.is_empty())?;
        Some(*at.get(&live))
    }

    fn id(&self, at: usize) -> CheckpointId {
        self.model.nodes[at].id.unwrap()
    }

    /// The thread at the chosen checkpoint, or at its head.
    fn thread_at(&self, chosen: Option<usize>) -> Thread<Diary> {
        let thread = self.graph.thread(&self.thread);
        chosen.map_or(thread.clone(), |at| thread.at(self.id(at)))
    }

    #[allow(clippy::too_many_lines)] // one arm for each thing that can be done
    async fn play(&mut self, op: &Op) {
        let (graph, thread) = (self.graph.clone(), self.thread.clone());
        let head = self.model.head();
        match op {
            Op::Input(text) => {
                let text = format!("in {text}");
                let run = graph.run(wrote(&text)).thread(thread);
                // What is asked is dropped: the model knows no dismissal.
                run.on_open_interrupt(OnOpenInterrupt::Drop).await.unwrap();
                let at = self.model.add(head, head, Source::Input);
                self.model.nodes[at].next = Some(Place::Start);
                self.model.nodes[at].input = Some(text);
                self.model.run(at);
            }
            Op::Answer(text, at) => {
                let text = format!("answer {text}");
                let chosen = self.choose(*at);
                let mut run = graph.thread(thread).resume("name", &text);
                if let Some(at) = chosen {
                    run = run.at(self.id(at));
                }
                let ended = run.await;
                match (chosen.or(head), head) {
                    (Some(at), Some(head)) if at == head && self.model.is_open(head) => {
                        ended.unwrap();
                        self.model.nodes[head].answer = Some(text);
                        self.model.run(head);
                        self.answered += 1;
                    }
                    (Some(at), Some(head)) if at != head && self.model.nodes[at].asked => {
                        ended.unwrap();
                        let fork = self.model.add(Some(at), Some(at), Source::Fork);
                        self.model.nodes[fork].answer = Some(text);
                        self.model.run(fork);
                        self.forked += 1;
                    }
                    _ => assert!(is_refused(&ended)),
                }
            }
            Op::Proceed(at) => {
                let chosen = self.choose(*at);
                let mut run = graph.thread(thread).proceed();
                if let Some(at) = chosen {
                    run = run.at(self.id(at));
                }
                let ended = run.await;
                match (chosen, head) {
                    // An update or a copy that is the newest was made to go on from.
                    (Some(at), head)
                        if head != Some(at)
                            || !matches!(
                                self.model.nodes[at].source,
                                Source::Update | Source::Fork
                            ) =>
                    {
                        ended.unwrap();
                        let fork = self.model.add(Some(at), Some(at), Source::Fork);
                        self.model.run(fork);
                        self.forked += 1;
                    }
                    (None, None) => assert!(is_refused(&ended)),
                    (at, head) => {
                        ended.unwrap();
                        self.model.run(at.or(head).unwrap());
                    }
                }
            }
            Op::Update(text, place, at) => {
                let text = format!("update {text}");
                let chosen = self.choose(*at);
                let update = self.thread_at(chosen).update(wrote(&text));
                update.as_node(place.name()).create().await.unwrap();
                let from = chosen.or(head);
                let at = self.model.add(from, from, Source::Update);
                let node = &mut self.model.nodes[at];
                node.log.push(text);
                (node.next, node.input) = (place.next(), None);
                node.step = node.step.max(0);
            }
            Op::CopyCheckpoint(at) => {
                let chosen = self.choose(*at);
                let made = self.thread_at(chosen).fork().await;
                match chosen.or(head) {
                    None => assert!(is_refused(&made)),
                    Some(from) => {
                        made.unwrap();
                        let parent = self.model.nodes[from].parent;
                        self.model.add(parent, Some(from), Source::Fork);
                    }
                }
            }
            Op::ClearPending => {
                graph.thread(thread).clear_pending().create().await.unwrap();
                let at = self.model.add(head, head, Source::Update);
                let node = &mut self.model.nodes[at];
                (node.next, node.input) = (None, None);
                node.step = node.step.max(0);
            }
            Op::Prune(newest) => {
                let live = self.model.live();
                let kept = (*newest).max(1).min(live.len());
                let pruned = graph.thread(&thread).prune(Keep::Newest(*newest)).await;
                if live.is_empty() {
                    assert!(is_refused(&pruned));
                } else {
                    assert_eq!(pruned.unwrap(), live.len() - kept);
                    for index in &live[..live.len() - kept] {
                        self.model.nodes[*index].gone = true;
                    }
                }
            }
            Op::CopyThread => {
                let copy = format!("{}", self.others.len() + 1);
                let copied = graph.thread(&thread).copy(&copy).await;
                if head.is_none() {
                    assert!(is_refused(&copied));
                } else {
                    copied.unwrap();
                    self.thread = copy;
                    self.others.push((thread, self.model.clone()));
                }
            }
        }
    }

    /// The thread is as the model says.
    async fn compare(&mut self) {
        let history = self.graph.thread(&self.thread).history().await.unwrap();
        let live = self.model.live();
        assert_eq!(history.len(), live.len());
        for (index, snapshot) in live.iter().zip(history.iter().rev()) {
            let id = self.model.nodes[*index].id.get_or_insert(snapshot.id);
            assert_eq!(*id, snapshot.id);
        }
        same(&self.model, &history);
        let state = self.graph.thread(&self.thread).state().await.unwrap();
        let Some(head) = self.model.head() else {
            assert!(state.is_none());
            return;
        };
        let (state, node) = (state.unwrap(), &self.model.nodes[head]);
        assert_eq!(Some(state.id), node.id);
        assert_eq!(state.values.log, node.log);
        assert_eq!(names(&state), next(node));
        assert_eq!(
            state.interrupts.len(),
            usize::from(self.model.is_open(head))
        );
    }
}

fn names(snapshot: &Snapshot<Diary>) -> Vec<&str> {
    snapshot.next.iter().map(|name| &**name).collect()
}

fn next(node: &Node) -> Vec<&'static str> {
    node.next.iter().map(|place| place.name()).collect()
}

/// A history, newest first, is what the model says.
fn same(model: &Model, history: &[Snapshot<Diary>]) {
    for (index, snapshot) in model.live().into_iter().zip(history.iter().rev()) {
        let node = &model.nodes[index];
        assert_eq!(Some(snapshot.id), node.id);
        assert_eq!(snapshot.values.log, node.log, "{node:?}");
        assert_eq!(names(snapshot), next(node), "{node:?}");
        assert_eq!(snapshot.step, node.step, "{node:?}");
        assert_eq!(snapshot.source, node.source, "{node:?}");
        assert_eq!(
            snapshot.interrupts.len(),
            usize::from(node.asked),
            "{node:?}"
        );
        let parent = node.parent.and_then(|parent| model.nodes[parent].id);
        assert_eq!(snapshot.parent, parent, "{node:?}");
    }
}

fn histories_fit(saver: impl Fn() -> Arc<dyn Checkpointer>) {
    let config = Config {
        cases: 128,
        failure_persistence: None,
        max_shrink_iters: 4_096,
        ..Config::default()
    };
    let counts = std::cell::Cell::new((0, 0));
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.build().unwrap();
    TestRunner::new(config)
        .run(&ops(), |ops| {
            runtime.block_on(async {
                let mut played = Played::new(&saver());
                for op in &ops {
                    played.play(op).await;
                    played.compare().await;
                }
                // What was left behind is as it was.
                for (thread, model) in &played.others {
                    let history = played.graph.thread(thread).history().await.unwrap();
                    assert_eq!(history.len(), model.live().len());
                    same(model, &history);
                }
                let (answered, forked) = counts.get();
                counts.set((answered + played.answered, forked + played.forked));
            });
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    let (answered, forked) = counts.get();
    // It happens often; how often is left to chance.
    assert!(answered > 20 && forked > 20, "{answered} {forked}");
}

#[test]
fn e6_any_history_of_a_thread_is_the_tree_it_should_be() {
    histories_fit(memory);
}

#[test]
fn e6_any_history_of_a_thread_of_bytes_is_the_tree_it_should_be() {
    histories_fit(|| Arc::new(ByteSaver::default()));
}
