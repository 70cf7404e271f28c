//! Expands the check that parallel nodes do not write one field.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::{Printer, at, private_at};
use crate::diag::Range;
use crate::graph::model::{Beside, Node};

/// `compile()` checks all further pairs: a large group has many of them, and each costs rustc some
/// time.
const PAIRS: usize = 40;

impl Printer<'_> {
    /// Returns the pairs of known nodes, up to the limit.
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

    /// Returns the variable with the kind of a node, if a check needs it.
    pub(super) fn kind_of(&self, node: &Node) -> Option<Ident> {
        let is = |vertex: usize| self.model.name(vertex) == node.name;
        let mut pairs = self.beside.iter();
        let is_checked = pairs.any(|pair| is(pair.first) || is(pair.second))
            || self.reads.iter().any(|reader| reader.names(&is))
            || self.follows_edges(node);
        is_checked.then(|| kind(&node.name))
    }

    /// Prints one check per pair.
    pub(super) fn writes(&self) -> TokenStream {
        if self.beside.is_empty() {
            return TokenStream::new();
        }
        let private = private_at(Span::mixed_site());
        let checks = self.beside.iter().map(|pair| self.check(pair));
        quote_spanned! {Span::mixed_site()=>
            use #private::UnknownWrites as _;
            #(#checks)*
        }
    }

    fn check(&self, pair: &Beside) -> TokenStream {
        let (first, second) = (self.model.name(pair.first), self.model.name(pair.second));
        let (kind_of_first, kind_of_second) = (kind(first), kind(second));
        let Range(start, end) = pair.at;
        // The error covers this expression, from its first token to its last.
        let (both, field) = (
            Ident::new("__both", at(start)),
            Ident::new("field", at(end)),
        );
        let found = quote_spanned!(at(start)=> #both.);
        // rustc names the function with the bound, and shows its place: the first node, which may
        // not be where the error is.
        let beside = format!("{first}_beside_{second}");
        let [call, beside] = [at(start), at(pair.start)].map(|span| Ident::new(&beside, span));
        let here = private_at(at(pair.start));
        let bound = quote_spanned! {at(pair.start)=>
            fn #beside<F: #here::WrittenOnce>(_: ::core::marker::PhantomData<F>) {}
        };
        let private = private_at(Span::mixed_site());
        quote! {{
            #[allow(non_snake_case)]
            #bound
            let #both = #private::pair(&#kind_of_first, &#kind_of_second).clash();
            #call(#found #field);
        }}
    }
}

/// The variable with the kind of a node.
pub(super) fn kind(name: &str) -> Ident {
    Ident::new(&format!("__node_{name}"), Span::mixed_site())
}
