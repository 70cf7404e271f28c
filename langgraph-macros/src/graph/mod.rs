//! `graph!`: parse, model, check, expand.

mod ast;
mod check;
mod expand;
mod label;
mod lets;
mod model;
mod named;
mod parse;

use proc_macro2::TokenStream;

use crate::diag::Errors;
use crate::paths;

/// The expansion of `graph!`.
pub(crate) fn expand(input: TokenStream) -> TokenStream {
    let mut errors = Errors::new();
    let mut graph = parse::parse(input, &mut errors);
    named::resolve(&mut graph, &mut errors);
    lets::find_unused(&mut graph);
    // Errors about missing parts are reported on the first chain.
    let chain = graph.chains.first().and_then(|chain| chain.stages.first());
    let first = chain.map(ast::Stage::span).or(graph.first);
    let decisions = named::mentions(&graph.decisions);
    let model = model::Model::new(graph.chains, graph.decisions);
    let written = check::BesideChains {
        lets: &graph.lets,
        broken: graph.broken,
        bounded: graph.attributes.bounded,
    };
    check::check(&model, &written, first, &mut errors);
    let root = graph.root.map_or_else(paths::root, paths::Root::given);
    let graph = expand::Frame {
        state: graph.state.as_ref(),
        lets: &graph.lets,
        decisions: &decisions,
        attributes: &graph.attributes,
        fragments: &graph.fragments,
        broken: graph.broken,
    };
    expand::expand(&model, &graph, &errors, &root)
}

#[cfg(test)]
mod tests;
