//! A case's graph, built with the public builder.

use std::sync::Arc;

use langgraph::error::NodeError;
use langgraph::graph::{Breakpoints, CompilationError, CompilationErrors, END};
use langgraph::graph::{ConfiguredNode, IntoNode, NodeExt};
use langgraph::node::Target;
use langgraph::policy::{CachePolicy, RetryPolicy};
use langgraph::run::Persistence;
use langgraph::{CompiledStateGraph, Context, StateGraph};
use serde_json::Value;

use super::case::{
    Checkpointing, ConditionalSpec, GraphSpec, NodeSpec, OneOrMany, PathMap, RetrySpec, Stops,
};
use super::expr::Scope;
use super::ops::{Failed, OpsHandler, OpsNode, targets};
use super::schema::Schema;
use super::state::{Dynamic, DynamicUpdate};
use super::workplace::SharedSite;
use super::world::World;
use super::writes;

/// Why a graph was not built.
#[derive(Debug)]
pub(super) enum NotBuilt {
    /// The library refuses it.
    Refused(CompilationErrors),
    /// The runner does not support it.
    Unable(String),
}

/// The place of a graph.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The names of its parent nodes.
    pub(super) path: Vec<String>,
    /// The fields of its parent graph.
    pub(super) outer: Option<Arc<Schema>>,
    pub(super) site: SharedSite,
    pub(super) world: Arc<World>,
}

/// Builds a graph, and the graphs inside it.
pub(super) fn build(
    spec: &GraphSpec,
    place: &Place,
) -> Result<CompiledStateGraph<Dynamic>, NotBuilt> {
    let schema = Arc::new(Schema::of(spec).map_err(NotBuilt::Unable)?);
    let mut graph = StateGraph::with_initial(Dynamic::new(Arc::clone(&schema)));
    graph.set_name(place.site.name());
    for node in &spec.nodes {
        let configured = configured(node, spec, &schema, place)?;
        graph.add_node(node.name.as_str(), configured);
        if let Some(targets) = &node.destinations {
            graph.add_destinations(node.name.as_str(), targets.clone());
        }
    }
    for edge in &spec.edges {
        match &edge.from {
            OneOrMany::One(from) => graph.add_edge(from.as_str(), edge.to.as_str()),
            OneOrMany::Many(from) => graph.add_edge(from.clone(), edge.to.as_str()),
        };
    }
    for conditional in &spec.conditional {
        add_route(&mut graph, conditional, spec, &schema);
    }
    graph.interrupt_before(breakpoints(&spec.interrupt_before).map_err(NotBuilt::Unable)?);
    graph.interrupt_after(breakpoints(&spec.interrupt_after).map_err(NotBuilt::Unable)?);
    let graph = graph.compile().map_err(NotBuilt::Refused)?;
    Ok(place.site.with_tasks(graph))
}

/// The breakpoints of a run.
pub(super) fn breakpoints(stops: &Stops) -> Result<Breakpoints, String> {
    match stops {
        Stops::Nodes(names) => Ok(names.iter().map(String::as_str).collect()),
        Stops::All(star) if star == "*" => Ok(Breakpoints::All),
        Stops::All(other) => Err(format!("no breakpoints `{other}`")),
    }
}

fn configured(
    node: &Arc<NodeSpec>,
    graph: &GraphSpec,
    schema: &Arc<Schema>,
    place: &Place,
) -> Result<ConfiguredNode<Dynamic>, NotBuilt> {
    let mut path = place.path.clone();
    path.push(node.name.clone());
    let ops = Arc::new(OpsNode {
        spec: Arc::clone(node),
        path: path.join("/"),
        schema: Arc::clone(schema),
        outer: place.outer.clone(),
        world: Arc::clone(&place.world),
    });
    let mut configured = match &node.subgraph {
        Some(inner) => {
            let place = Place {
                path,
                outer: Some(Arc::clone(schema)),
                site: Arc::clone(&place.site),
                world: Arc::clone(&place.world),
            };
            subgraph(inner, &place)?
        }
        None => Arc::clone(&ops).into_node(),
    };
    if node.cache {
        let key = |state: &Dynamic| state.input(None);
        configured = configured.cache(CachePolicy::new(key));
    }
    if node.error_handler.is_some() {
        configured = configured.on_error(OpsHandler(ops));
    }
    let default = graph.default_retry.clone().map(OneOrMany::One);
    if let Some(retry) = node.retry.as_ref().or(default.as_ref()) {
        for policy in retry.as_slice() {
            configured = configured.retry(policy_of(policy));
        }
    }
    configured = configured.anywhere();
    if node.defer {
        configured = configured.defer();
    }
    Ok(configured)
}

/// Builds a graph as a node, as Python does: fields of the same name are shared, and every output
/// field is written back.
fn subgraph(spec: &GraphSpec, place: &Place) -> Result<ConfiguredNode<Dynamic>, NotBuilt> {
    let schema = Arc::new(Schema::of(spec).map_err(NotBuilt::Unable)?);
    let graph = build(spec, place)?.persistence(persistence(spec, place));
    let into = move |outer: &Dynamic| match outer.input(None) {
        Value::Object(values) => writes::input(&schema, values),
        _ => langgraph::Command::update(DynamicUpdate {
            no_object: true,
            ..DynamicUpdate::default()
        }),
    };
    let back = |inner: Dynamic| {
        if inner.left || inner.touched == 0 {
            DynamicUpdate::default()
        } else {
            inner.output().into()
        }
    };
    let back = move |inner: Dynamic| langgraph::Command::update(back(inner));
    Ok(graph.mapped(into, back).into_node())
}

/// What a subgraph persists: Python's `checkpointer` of `None`, `True` and `False`. Python names a
/// history by the parent nodes.
fn persistence(spec: &GraphSpec, place: &Place) -> Persistence {
    match spec.checkpointer {
        Checkpointing::Inherit => Persistence::PerCall,
        Checkpointing::Own => Persistence::PerThread(place.path.join("/")),
        Checkpointing::None => Persistence::None,
    }
}

fn policy_of(spec: &RetrySpec) -> RetryPolicy {
    let policy = RetryPolicy::attempts(spec.max_attempts).immediately();
    let Some(kinds) = spec.retry_on.clone() else {
        return policy;
    };
    policy.retry_on(move |error: &NodeError| {
        let failed = error.downcast_ref::<Failed>();
        failed.is_some_and(|failed| kinds.contains(&failed.kind))
    })
}

fn add_route(
    graph: &mut StateGraph<Dynamic>,
    conditional: &ConditionalSpec,
    spec: &GraphSpec,
    schema: &Arc<Schema>,
) {
    let source = conditional.from.clone();
    let node = spec.nodes.iter().find(|node| node.name == source);
    let fields = node.and_then(|node| node.input_fields.clone());
    let (route, schema, name) = (
        Arc::clone(&conditional.route),
        Arc::clone(schema),
        source.clone(),
    );
    let router = move |state: &Dynamic, _: &Context| -> Result<Vec<Target<Dynamic>>, NodeError> {
        let input = state.input(fields.as_ref());
        let places = Scope::of(&input, &name).route(&route)?;
        Ok(targets(places, &schema))
    };
    match &conditional.targets {
        None => graph.add_router(source, router),
        Some(PathMap::Nodes(names)) => graph.add_conditional_edges(source, router, names.clone()),
        Some(PathMap::Labels(labels)) => {
            graph.add_conditional_edges(source, router, labels.clone())
        }
    };
}

/// The format's word for the library's refusal of a graph.
pub(super) fn refusal(errors: &CompilationErrors, spec: &GraphSpec) -> String {
    let kind = match errors.iter().next() {
        Some(CompilationError::DuplicateNode { .. }) => "duplicate_node",
        Some(CompilationError::EmptyName) => "empty_name",
        Some(CompilationError::ReservedName { .. }) => "reserved_node_name",
        Some(CompilationError::ReservedCharacter { .. }) => "reserved_character",
        // Python checks for unknown sources before it checks the source of a conditional edge.
        Some(CompilationError::EndAsSource { .. }) if !edge_from_end(spec) => "unknown_source",
        Some(CompilationError::EndAsSource { .. }) => "end_as_source",
        Some(CompilationError::StartAsTarget { .. }) => "start_as_target",
        Some(CompilationError::UnknownJoinNode { .. }) => "join_unknown_node",
        Some(CompilationError::UnknownSource { .. }) => "unknown_source",
        Some(CompilationError::NoEntryPoint) => "no_entry_point",
        Some(CompilationError::UnknownTarget { .. }) => "unknown_target",
        Some(CompilationError::UnknownInterruptNode { .. }) => "unknown_interrupt_node",
        _ => return format!("other: {errors}"),
    };
    kind.to_owned()
}

fn edge_from_end(spec: &GraphSpec) -> bool {
    let mut sources = spec.edges.iter().flat_map(|edge| edge.from.as_slice());
    sources.any(|source| source == END)
}
