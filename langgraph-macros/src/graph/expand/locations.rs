//! Expands the places of the graph and its nodes, for messages about the graph that a program prints.

use std::collections::BTreeMap;
use std::fmt::Write;

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Type;
use syn::spanned::Spanned;

use super::{Printer, graph, in_an_editor, private_at};
use crate::graph::ast::name_span;
use langgraph_topology::flow::NODES;

impl Printer<'_> {
    /// Prints one call with one text, which is read only for a message: places of their own would cost rustc
    /// time.
    pub(super) fn locations(&self, state: Option<&Type>) -> TokenStream {
        if !proc_macro::is_available() || in_an_editor() {
            return TokenStream::new();
        }
        let start = state.map_or_else(Span::call_site, Spanned::span);
        let file = start.unwrap().file();
        let mut text = place(start);
        let sources = self.sources();
        for (index, node) in self.model.nodes.iter().enumerate() {
            let Some(first) = node.mentions.first().map(name_span) else {
                continue;
            };
            // Tokens of a `macro_rules!` macro may come from another file.
            if first.unwrap().file() != file {
                continue;
            }
            let (name, named) = (&node.name, place(first));
            let _ = write!(text, " {name} {named}");
            let source = sources.get(&(index + NODES)).copied().map(place);
            if let Some(source) = source.filter(|source| *source != named) {
                let _ = write!(text, " >{name} {source}");
            }
        }
        let (private, graph) = (private_at(Span::mixed_site()), graph());
        quote!(#private::written_at(&mut #graph, #file, #text);)
    }

    /// Returns where each vertex is followed by another one first.
    fn sources(&self) -> BTreeMap<usize, Span> {
        let model = self.model;
        let edges = model.edges.iter().map(|edge| edge.from);
        let joins = model
            .joins
            .iter()
            .flat_map(|join| join.sources.iter().copied());
        let branches = model.branches().map(|(_, source)| *source);
        let gotos = model.gotos.iter().map(|goto| goto.source);
        let mut first = BTreeMap::new();
        for source in edges.chain(joins).chain(branches).chain(gotos) {
            first.entry(source.vertex).or_insert(source.span);
        }
        first
    }
}

/// Returns the line and the column.
fn place(span: Span) -> String {
    let start = span.unwrap();
    format!("{}:{}", start.line(), start.column())
}
