//! Prints what rustc checks of nodes that run side by side: that they do not write one field.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::{Printer, at};
use crate::diag::Range;
use crate::graph::ast::name_span;
use crate::graph::model::{Beside, Node};

/// More pairs than this are left to `compile()`: a large group has many of them, and each costs
/// rustc some time.
const PAIRS: usize = 100;

impl Printer<'_> {
    /// The pairs whose nodes will be there, up to a number.
    pub(super) fn known(&self, mut pairs: Vec<Beside>) -> Vec<Beside> {
        let lost = |vertex: usize| {
            self.model
                .node(vertex)
                .is_none_or(|node| self.is_lost(node))
        };
        pairs.retain(|pair| !lost(pair.first) && !lost(pair.second));
        pairs.truncate(PAIRS);
        pairs
    }

    /// The variable that holds what kind of node it is, if that is asked for.
    pub(super) fn kind_of(&self, name: &str) -> Option<Ident> {
        let is = |vertex: usize| self.model.name(vertex) == name;
        let mut pairs = self.beside.iter();
        pairs
            .any(|pair| is(pair.first) || is(pair.second))
            .then(|| kind(name))
    }

    /// One check per pair. The two names are types there, so that an error can show them.
    pub(super) fn writes(&self) -> TokenStream {
        let nodes = |pair: &Beside| {
            let first = self.model.node(pair.first)?;
            Some((first, self.model.node(pair.second)?))
        };
        let checks = self.beside.iter().filter_map(|pair| {
            let (first, second) = nodes(pair)?;
            Some(self.check(first, second, pair.at))
        });
        checks.collect()
    }

    fn check(&self, first: &Node, second: &Node, Range(start, end): Range) -> TokenStream {
        let root = self.root;
        let (a, b) = (shown(first), shown(second));
        let (kind_a, kind_b) = (kind(&first.name), kind(&second.name));
        // The place of the error is this expression, from its first token to its last.
        let (pair, field) = (
            Ident::new("__pair", at(start)),
            Ident::new("field", at(end)),
        );
        let found = quote_spanned!(at(start)=> #pair.);
        quote! {{
            #[allow(non_camel_case_types, dead_code)]
            enum #a {}
            #[allow(non_camel_case_types, dead_code)]
            enum #b {}
            use #root::__private::{DeclaredWrites as _, UnknownWrites as _};
            let #pair = (&#root::__private::pair(&#kind_a, &#kind_b)).clash();
            #root::__private::written_once::<#a, #b, _>(#found #field);
        }}
    }
}

/// The name of a node as a type.
fn shown(node: &Node) -> Ident {
    let mut name = node.mentions.first().and_then(|path| {
        let last = path.path.segments.last();
        last.map(|segment| segment.ident.clone())
    });
    let span = node
        .mentions
        .first()
        .map_or_else(Span::mixed_site, name_span);
    let name = name.get_or_insert_with(|| Ident::new("node", span));
    name.set_span(at(span));
    name.clone()
}

/// The variable that holds what kind a node is.
fn kind(name: &str) -> Ident {
    Ident::new(&format!("__node_{name}"), Span::mixed_site())
}
