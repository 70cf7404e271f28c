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
        !self.broken && !gotos.any(|goto| self.model.name(goto.source.vertex) == node.name)
    }

    /// Prints one check per node without declared targets: rustc reports it at the node. The types of items
    /// are known after the maps.
    pub(super) fn undeclared_gotos(&self) -> TokenStream {
        let nodes = self.model.nodes.iter();
        let nodes = nodes.filter(|node| !self.is_lost(node) && self.follows_edges(node));
        let checks: TokenStream = nodes
            .filter_map(|node| self.undeclared_goto(node))
            .collect();
        if checks.is_empty() {
            return checks;
        }
        let private = private_at(Span::mixed_site());
        quote_spanned! {Span::mixed_site()=>
            use #private::{KnownNode as _, KnownWorker as _, UnknownGoto as _, UnknownKind as _};
            #checks
        }
    }

    fn undeclared_goto(&self, node: &Node) -> Option<TokenStream> {
        let first = node.mentions.first()?;
        // The whole argument stands at the node, so that the error does.
        let span = at(name_span(first));
        let (private, mut kind) = (private_at(span), kind(&node.name));
        kind.set_span(span);
        let options = first.path.get_ident();
        let options = options.and_then(|name| self.options.of(name));
        Some(if let Some(mut of) = options {
            of.set_span(span);
            quote_spanned!(span=> #private::follows_edges(#kind.known_as(#of).kind().goto());)
        } else {
            quote_spanned!(span=> #private::follows_edges(#kind.goto());)
        })
    }
}
