//! Random graphs.

use fastrand::Rng;
use langgraph::prelude::*;

use super::states::Probe;

/// What a node asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Asks {
    Nothing,
    Number,
    /// The same key, with another answer.
    Flag,
    /// Another key.
    Other,
}

#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) name: String,
    /// The name in the first graph, or its own if the node is new.
    pub(super) origin: String,
    pub(super) alias: Option<String>,
    pub(super) asks: Asks,
}

/// A graph without loops.
#[derive(Clone, Debug, Default)]
pub(super) struct Spec {
    pub(super) nodes: Vec<Node>,
    pub(super) edges: Vec<(String, String)>,
    pub(super) joins: Vec<(Vec<String>, String)>,
    pub(super) routes: Vec<Route>,
}

/// A router.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub(super) source: String,
    /// Their targets; an arm that is gone is `None`.
    pub(super) arms: Vec<Option<String>>,
    /// How many of the arms it chooses among: those of the first graph.
    known: usize,
}

impl Route {
    /// Returns the arm that the router takes. What is added is never taken.
    fn taken(&self, choice: u64, origin: &str) -> usize {
        let seed = origin
            .bytes()
            .fold(choice, |seed, byte| seed * 31 + u64::from(byte));
        Rng::with_seed(seed).usize(..self.known.max(1))
    }
}

#[node]
async fn plain<S: Probe>(_: &S, cx: &Context) -> Result<S::Update, NodeError> {
    Ok(S::visit(vec![cx.node().to_owned()]))
}

#[node]
async fn number<S: Probe>(_: &S, cx: &Context) -> Result<S::Update, NodeError> {
    let number: u32 = cx.interrupt("more", "number")?;
    Ok(answered::<S>(cx, "more", number))
}

#[node]
async fn flag<S: Probe>(_: &S, cx: &Context) -> Result<S::Update, NodeError> {
    let flag = cx.interrupt::<bool>("more", "flag")?;
    Ok(answered::<S>(cx, "more", flag))
}

#[node]
async fn other<S: Probe>(_: &S, cx: &Context) -> Result<S::Update, NodeError> {
    let number: u32 = cx.interrupt("else", "number")?;
    Ok(answered::<S>(cx, "else", number))
}

fn answered<S: Probe>(cx: &Context, key: &str, answer: impl std::fmt::Display) -> S::Update {
    let node = cx.node();
    S::visit(vec![node.to_owned(), format!("{node}?{key}={answer}")])
}

impl Spec {
    /// Makes a graph of four to seven nodes, each after earlier ones.
    pub(super) fn random(rng: &mut Rng) -> Self {
        let mut spec = Self::default();
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        for (index, name) in names.iter().take(rng.usize(4..=7)).enumerate() {
            let asks = if rng.u8(..4) == 0 {
                Asks::Number
            } else {
                Asks::Nothing
            };
            spec.nodes.push(Node {
                name: (*name).to_owned(),
                origin: (*name).to_owned(),
                alias: None,
                asks,
            });
            if index == 0 {
                continue;
            }
            let earlier = |rng: &mut Rng| names[rng.usize(..index)].to_owned();
            match rng.u8(..10) {
                0..3 if index > 2 => {
                    let first = earlier(rng);
                    let others: Vec<_> = names[..index]
                        .iter()
                        .filter(|name| **name != first)
                        .collect();
                    let second = others[rng.usize(..others.len())].to_string();
                    spec.joins.push((vec![first, second], (*name).to_owned()));
                }
                3..6 => {
                    let source = earlier(rng);
                    let target = Some((*name).to_owned());
                    match spec.routes.iter_mut().find(|route| route.source == source) {
                        Some(route) => {
                            route.arms.push(target);
                            route.known += 1;
                        }
                        None => spec.routes.push(Route {
                            source,
                            arms: vec![Some(END.to_owned()), target],
                            known: 2,
                        }),
                    }
                }
                _ => spec.edges.push((earlier(rng), (*name).to_owned())),
            }
        }
        spec
    }

    /// Builds the graph; `choice` decides its routers.
    pub(super) fn build<S: Probe>(&self, choice: u64) -> Option<CompiledStateGraph<S>> {
        let mut graph = StateGraph::<S>::new();
        graph.set_name("random");
        for node in &self.nodes {
            match node.asks {
                Asks::Nothing => graph.add_node(&node.name, plain::<S>),
                Asks::Number => graph.add_node(&node.name, number::<S>),
                Asks::Flag => graph.add_node(&node.name, flag::<S>),
                Asks::Other => graph.add_node(&node.name, other::<S>),
            };
            if let Some(alias) = &node.alias {
                graph.add_node_alias(alias, &node.name);
            }
        }
        graph.add_edge(START, &self.nodes.first()?.name);
        for (from, to) in &self.edges {
            graph.add_edge(from, to);
        }
        for (sources, target) in &self.joins {
            graph.add_edge(sources.clone(), target);
        }
        for route in &self.routes {
            let taken = route.taken(choice, self.origin(&route.source)?);
            let label = match route.arms.get(taken) {
                Some(Some(_)) => taken.to_string(),
                _ => route.arms.iter().position(Option::is_some)?.to_string(),
            };
            let paths = route.arms.iter().enumerate();
            let paths = paths.filter_map(|(at, arm)| Some((at.to_string(), arm.clone()?)));
            let paths: Vec<(String, String)> = paths.collect();
            graph.add_conditional_edges(&route.source, move |_: &S| label.clone(), paths);
        }
        graph.compile().ok()
    }

    /// Returns the name that a node had in the first graph.
    pub(super) fn origin(&self, name: &str) -> Option<&str> {
        let mut nodes = self.nodes.iter();
        nodes
            .find(|node| node.name == name)
            .map(|node| &*node.origin)
    }

    /// Returns true if a router wants an arm that is gone: it decides otherwise, and no lock knows how.
    pub(super) fn misses_an_arm(&self, choice: u64) -> bool {
        self.routes.iter().any(|route| {
            let origin = self.origin(&route.source).unwrap_or_default();
            matches!(
                route.arms.get(route.taken(choice, origin)),
                Some(None) | None
            )
        })
    }
}
