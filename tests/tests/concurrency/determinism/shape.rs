//! Random graphs: what they look like, and how they are built.

use langgraph::graph::NodeExt;
use langgraph::node::Send;
use langgraph::prelude::*;
use proptest::prelude::*;
use serde_json::json;

use super::schedule::Schedule;

#[derive(State, Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct World {
    /// What ran, in which superstep, and how much of this it saw.
    #[reducer(append)]
    pub(super) visits: Vec<String>,
    /// One writer per superstep; two are a conflict.
    pub(super) last: String,
    /// Seen by the next superstep only.
    #[state(ephemeral)]
    pub(super) hint: String,
}

/// A graph over [`World`]. Numbers that name nodes are taken modulo what is there.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    starts: Vec<usize>,
    nodes: Vec<NodeShape>,
    /// The sources and the target of each; a target comes after its sources.
    joins: Vec<(Vec<usize>, usize)>,
    /// Where the worker's edges lead.
    worker_edges: Vec<usize>,
}

#[derive(Clone, Debug)]
struct NodeShape {
    kind: Kind,
    defer: bool,
    /// Forward only.
    edges: Vec<usize>,
    routers: Vec<RouterShape>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    Visit,
    /// Writes the field that only one node may write.
    Last,
    Hint,
    /// Sets the list instead of adding to it.
    Overwrite,
    /// Goes forward by its own word instead of along its edges.
    Jump(usize),
    Fail,
    Ask,
}

#[derive(Clone, Debug)]
enum RouterShape {
    /// One of these sets of later nodes, by what the router sees.
    Pick(Vec<Vec<usize>>),
    /// Back to an earlier node, while little has been visited.
    Back(usize),
    /// So many items at most, by what the router sees.
    Map(usize),
    /// A later node, with a state of its own.
    Private(usize),
}

/// How far a loop may go: once that much has been visited, no router leads back.
const ROUNDS: usize = 14;

pub(super) fn shapes(with_stops: bool) -> impl Strategy<Value = Shape> {
    let kind = if with_stops {
        prop_oneof![
            12 => Just(Kind::Visit),
            2 => Just(Kind::Last),
            1 => Just(Kind::Hint),
            1 => Just(Kind::Overwrite),
            1 => any::<usize>().prop_map(Kind::Jump),
            1 => Just(Kind::Ask),
            1 => Just(Kind::Fail),
        ]
        .boxed()
    } else {
        prop_oneof![
            8 => Just(Kind::Visit),
            1 => Just(Kind::Last),
            1 => Just(Kind::Hint),
            1 => Just(Kind::Overwrite),
            1 => any::<usize>().prop_map(Kind::Jump),
        ]
        .boxed()
    };
    let some = || prop::collection::vec(any::<usize>(), 0..3);
    let router = prop_oneof![
        3 => prop::collection::vec(some(), 1..4).prop_map(RouterShape::Pick),
        2 => any::<usize>().prop_map(RouterShape::Back),
        2 => (1_usize..4).prop_map(RouterShape::Map),
        1 => any::<usize>().prop_map(RouterShape::Private),
    ];
    let routers = prop_oneof![
        3 => Just(Vec::new()),
        2 => prop::collection::vec(router, 1..3),
    ];
    let node = (kind, prop::bool::weighted(0.15), some(), routers);
    let node = node.prop_map(|(kind, defer, edges, routers)| NodeShape {
        kind,
        defer,
        edges,
        routers,
    });
    let join = (prop::collection::vec(any::<usize>(), 2..4), any::<usize>());
    (
        prop::collection::vec(any::<usize>(), 1..4),
        prop::collection::vec(node, 2..9),
        prop::collection::vec(join, 0..3),
        prop::collection::vec(any::<usize>(), 0..2),
    )
        .prop_map(|(starts, nodes, joins, worker_edges)| Shape {
            starts,
            nodes,
            joins,
            worker_edges,
        })
}

fn name(index: usize) -> String {
    format!("n{index}")
}

/// A later node than `from`, if there is one.
fn later(from: usize, raw: usize, count: usize) -> Option<String> {
    let after = count.saturating_sub(from + 1);
    (after > 0).then(|| name(from + 1 + raw % after))
}

fn note(text: String) -> WorldUpdate {
    WorldUpdate::default().visits(vec![text])
}

impl Shape {
    pub(super) fn build(&self) -> StateGraph<World> {
        let count = self.nodes.len();
        let mut graph = StateGraph::new();
        for (index, shape) in self.nodes.iter().enumerate() {
            let kind = match shape.kind {
                Kind::Jump(raw) => Behaviour::Jump(later(index, raw, count)),
                kind => Behaviour::Kind(kind),
            };
            let node = Body(kind).into_configured();
            graph.add_node(name(index), if shape.defer { node.defer() } else { node });
        }
        let worker = graph.add_worker("worker", work);
        for start in &self.starts {
            graph.add_edge(START, name(start % count));
        }
        for (index, shape) in self.nodes.iter().enumerate() {
            for raw in &shape.edges {
                graph.add_edge(
                    name(index),
                    later(index, *raw, count).unwrap_or(END.to_owned()),
                );
            }
            for (salt, router) in shape.routers.iter().enumerate() {
                match router {
                    RouterShape::Pick(sets) => {
                        let sets: Vec<Vec<String>> = sets
                            .iter()
                            .map(|set| {
                                set.iter()
                                    .filter_map(|raw| later(index, *raw, count))
                                    .collect()
                            })
                            .collect();
                        graph.add_router(name(index), move |state: &World| {
                            sets[(state.visits.len() + salt) % sets.len()].clone()
                        });
                    }
                    RouterShape::Back(raw) => {
                        let target = name(raw % (index + 1));
                        graph.add_router(name(index), move |state: &World| {
                            (state.visits.len() < ROUNDS).then(|| target.clone())
                        });
                    }
                    RouterShape::Map(most) => {
                        let (worker, most) = (worker.clone(), *most);
                        graph.add_router(name(index), move |state: &World| {
                            (0..state.visits.len() % (most + 1))
                                .map(|item| Send::to(&worker, item))
                                .collect::<Vec<_>>()
                        });
                    }
                    RouterShape::Private(raw) => {
                        let Some(target) = later(index, *raw, count) else {
                            continue;
                        };
                        graph.add_router(name(index), move |state: &World| {
                            let mut private = state.clone();
                            private.visits.push("private".to_owned());
                            Send::state(target.clone(), private)
                        });
                    }
                }
            }
        }
        for (sources, target) in &self.joins {
            let sources: Vec<usize> = sources.iter().map(|raw| raw % count).collect();
            let last = sources.iter().copied().max().unwrap_or(0);
            if let Some(target) = later(last, *target, count) {
                graph.add_edge(sources.into_iter().map(name).collect::<Vec<_>>(), target);
            }
        }
        for raw in &self.worker_edges {
            graph.add_edge("worker", name(raw % count));
        }
        graph
    }
}

/// Takes its turn; an item falls apart into the ones below it, in tasks of their own.
async fn work(item: usize, state: &World, cx: &Context) -> Result<Command<World>, NodeError> {
    Schedule::turn(cx, item).await?;
    let text = format!("worker({item})@{}:{}", cx.step(), state.visits.len());
    let command = Command::update(note(text));
    Ok(if item < 2 {
        command
    } else {
        command.and_goto(Send::to("worker", item - 1)).and_edges()
    })
}

#[derive(Clone)]
enum Behaviour {
    Kind(Kind),
    Jump(Option<String>),
}

#[derive(Clone)]
struct Body(Behaviour);

impl Body {
    fn into_configured(self) -> langgraph::graph::ConfiguredNode<World> {
        langgraph::graph::IntoNode::into_node(self)
    }

    async fn run(&self, state: &World, cx: &Context) -> Result<Command<World>, NodeError> {
        cx.emit(json!({"begins": cx.node()})).await?;
        Schedule::turn(cx, state.visits.len()).await?;
        cx.emit(json!({"ends": cx.node()})).await?;
        let text = format!(
            "{}@{}:{}{}",
            cx.node(),
            cx.step(),
            state.visits.len(),
            state.hint
        );
        let update = note(text.clone());
        Ok(match &self.0 {
            Behaviour::Jump(target) => Command::update(update).and_goto(target.clone()),
            Behaviour::Kind(kind) => match kind {
                Kind::Last => Command::update(update.last(text)),
                Kind::Hint => Command::update(update.hint(format!("!{}", cx.node()))),
                Kind::Overwrite => Command::overwrite(note(text)),
                Kind::Ask => {
                    let answer: String = cx.interrupt("ask", &text)?;
                    Command::update(note(answer))
                }
                Kind::Fail if state.visits.len() > 4 => {
                    return Err(NodeError::msg(format!("{text} failed")));
                }
                _ => Command::update(update),
            },
        })
    }
}

impl Node<World> for Body {
    fn run<'a>(&'a self, state: &'a World, cx: &'a Context) -> langgraph::node::NodeRun<'a, World> {
        langgraph::node::NodeRun::future(Body::run(self, state, cx))
    }
}
