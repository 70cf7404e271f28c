//! The pipeline in process: tokens in, messages or code out.

mod agree;
mod expansion;
mod messages;
mod prefixes;

use proc_macro2::TokenStream;

use super::{ast::Graph, check, expand, lets, model::Model, named, parse};
use crate::diag::Errors;

/// A graph that has been read, modelled and checked.
struct Read {
    model: Model,
    errors: Errors,
    /// How many of the errors are the reader's.
    unread: usize,
    expansion: TokenStream,
}

fn read(text: &str) -> Read {
    let tokens: TokenStream = text
        .parse()
        .expect("the text of a test has balanced brackets");
    read_tokens(tokens)
}

fn read_tokens(tokens: TokenStream) -> Read {
    let mut errors = Errors::new();
    let mut graph = parse::parse(tokens, &mut errors);
    named::resolve(&mut graph, &mut errors);
    lets::find_unused(&mut graph);
    let Graph {
        state,
        attributes,
        lets,
        decisions,
        chains,
        first,
        fragments,
        broken,
        root,
    } = graph;
    let unread = errors.len();
    assert_eq!(
        broken,
        unread > 0,
        "a graph is broken exactly when something could not be read"
    );
    let mentions = named::mentions(&decisions);
    let model = Model::new(chains, decisions);
    let written = check::BesideChains {
        lets: &lets,
        broken,
        bounded: attributes.bounded,
    };
    check::check(&model, &written, first, &mut errors);
    let root = root.map_or_else(crate::paths::root, crate::paths::Root::given);
    let frame = expand::Frame {
        state: state.as_ref(),
        lets: &lets,
        decisions: &mentions,
        attributes: &attributes,
        fragments: &fragments,
        broken,
    };
    let expansion = expand::expand(&model, &frame, &errors, &root);
    Read {
        model,
        errors,
        unread,
        expansion,
    }
}

/// The messages that a user would read.
fn reported(text: &str) -> Vec<String> {
    read(text).errors.messages()
}
