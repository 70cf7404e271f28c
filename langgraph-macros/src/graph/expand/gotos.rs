//! Expands the declared targets, and the check that a node without them names none.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::writes::kind;
use super::{Printer, at, graph, private_at};
use crate::graph::ast::name_span;
use crate::graph::model::Node;

/// The checks that nodes without declared targets name none.
#[derive(Default)]
pub(super) struct UndeclaredGotos {
    pub(super) of_nodes: TokenStream,
    pub(super) of_workers: TokenStream,
}

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

    /// Prints one check per node without declared targets: rustc reports it at the node.
    ///
    /// `of_nodes` stand before the routers: at each method call, rustc goes through the bounds of all closures
    /// before it. `of_workers` stand after the maps, which determine the types of their items.
    pub(super) fn undeclared_gotos(&self) -> UndeclaredGotos {
        let nodes = self.model.nodes.iter();
        let nodes = nodes.filter(|node| !self.is_lost(node) && self.follows_edges(node));
        let (workers, nodes): (Vec<_>, Vec<_>) = nodes.partition(|node| node.worker.is_some());
        let checks = |nodes: &[&Node]| -> TokenStream {
            let checks = nodes.iter();
            checks
                .filter_map(|node| self.undeclared_goto(node))
                .collect()
        };
        let (of_nodes, of_workers) = (checks(&nodes), checks(&workers));
        if of_nodes.is_empty() && of_workers.is_empty() {
            return UndeclaredGotos::default();
        }
        let private = private_at(Span::mixed_site());
        let has_options = |nodes: &[&Node]| nodes.iter().any(|node| self.base(node).is_some());
        // A trait is looked up at every call of a method of the same name.
        let mut traits = vec!["UnknownGoto"];
        traits.extend(has_options(&nodes).then_some("KnownNode"));
        traits.extend(has_options(&workers).then_some("KnownWorker"));
        if traits.len() > 1 {
            traits.push("UnknownKind");
        }
        let traits = traits
            .iter()
            .map(|name| Ident::new(name, Span::mixed_site()));
        let of_nodes = quote_spanned! {Span::mixed_site()=>
            #(use #private::#traits as _;)*
            #of_nodes
        };
        UndeclaredGotos {
            of_nodes,
            of_workers,
        }
    }

    /// Returns the variable with the type of the node before its options, if it has some.
    fn base(&self, node: &Node) -> Option<Ident> {
        self.options.of(node.mentions.first()?.path.get_ident()?)
    }

    fn undeclared_goto(&self, node: &Node) -> Option<TokenStream> {
        let first = node.mentions.first()?;
        // The whole call stands at the node, so that the error does.
        let span = at(name_span(first));
        let mut kind = kind(&node.name);
        kind.set_span(span);
        Some(if let Some(mut of) = self.base(node) {
            of.set_span(span);
            quote_spanned!(span=> #kind.known_as(#of).kind().goto();)
        } else {
            quote_spanned!(span=> #kind.goto();)
        })
    }
}
