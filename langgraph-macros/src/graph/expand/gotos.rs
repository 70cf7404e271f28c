//! Expands the declared targets, and the check that a node without them names none.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use super::writes::kind;
use super::{Printer, at, graph, private_at};
use crate::graph::ast::name_span;
use crate::graph::model::Node;

impl Printer<'_> {
    pub(super) fn gotos(&self) -> TokenStream {
        let (private, graph) = (private_at(Span::mixed_site()), graph());
        let gotos = self.model.gotos.iter().map(|goto| {
            let (from, to) = (self.name(goto.source.vertex), self.names(&goto.targets));
            quote!(#private::add_destinations(&mut #graph, #from, #to);)
        });
        gotos.collect()
    }

    /// Returns true for a node that declares no targets, in a graph without errors.
    pub(super) fn follows_edges(&self, node: &Node) -> bool {
        let mut gotos = self.model.gotos.iter();
        !self.broken
            && node.worker.is_none()
            && !gotos.any(|goto| self.model.name(goto.source.vertex) == node.name)
    }

    /// Prints one check per node without declared targets: rustc reports it at the node.
    pub(super) fn undeclared_gotos(&self) -> TokenStream {
        let nodes = self.model.nodes.iter();
        let mut nodes = nodes.filter(|node| !self.is_lost(node) && self.follows_edges(node));
        let mut checks = TokenStream::new();
        for node in &mut nodes {
            let Some(first) = node.mentions.first() else {
                continue;
            };
            // The whole argument stands at the node, so that the error does.
            let span = at(name_span(first));
            let (private, mut kind) = (private_at(span), kind(&node.name));
            kind.set_span(span);
            checks.extend(quote_spanned!(span=> #private::follows_edges(#kind.goto());));
        }
        if checks.is_empty() {
            return checks;
        }
        let private = private_at(Span::mixed_site());
        quote_spanned! {Span::mixed_site()=>
            use #private::UnknownGoto as _;
            #checks
        }
    }
}
