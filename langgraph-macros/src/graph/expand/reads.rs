//! Expands the check that a node reads only what may have been written before it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::ext::IdentExt as _;

use super::writes::kind;
use super::{Printer, at, graph, private_at};
use crate::fields;
use crate::graph::ast::{Attributes, name_span};
use langgraph_topology::flow::{Analysis, NODES};
use langgraph_topology::precede::Precedence;

/// `compile()` checks all further nodes: a node after many others is work for rustc.
const BEFORE: usize = 8;
/// The same, for all nodes of a graph together.
const ALL: usize = 100;

/// A node, and those that can run before it.
pub(super) struct ReadCheck {
    vertex: usize,
    before: Vec<usize>,
}

impl ReadCheck {
    /// Returns true if the check names such a vertex.
    pub(super) fn names(&self, is: &dyn Fn(usize) -> bool) -> bool {
        is(self.vertex) || self.before.iter().any(|vertex| is(*vertex))
    }
}

impl Printer<'_> {
    /// Returns the nodes to check, if the graph declares its input. Which nodes are deferred is not known
    /// here, so each may be.
    pub(super) fn readers(&self, attributes: &Attributes) -> Vec<ReadCheck> {
        let mut readers = Vec::new();
        if attributes.input.is_none() || self.broken {
            return readers;
        }
        let topology = self.model.topology();
        let analysis = Analysis::new(&topology);
        let order = Precedence::new(&analysis, &|_| true);
        let is_known = |vertex: &usize| {
            let node = self.model.node(*vertex);
            node.is_some_and(|node| node.worker.is_none() && !self.is_lost(node))
        };
        let mut all = 0;
        for vertex in (NODES..NODES + self.model.nodes.len()).filter(is_known) {
            let before = order.before(vertex);
            if before.len() <= BEFORE && before.iter().all(is_known) {
                all += 1 + before.len();
                readers.push(ReadCheck { vertex, before });
            }
            if all > ALL {
                break;
            }
        }
        readers
    }

    /// Prints the declarations, and one check for each node.
    pub(super) fn reads(&self, attributes: &Attributes) -> TokenStream {
        let Attributes { input, output, .. } = attributes;
        if input.is_none() && output.is_none() {
            return TokenStream::new();
        }
        let (private, graph) = (private_at(Span::mixed_site()), graph());
        let names = |fields: Option<&Vec<Ident>>| {
            let Some(fields) = fields else {
                return quote!(::core::option::Option::None);
            };
            let names = fields.iter().map(|field| field.unraw().to_string());
            quote!(::core::option::Option::Some(&[#(#names),*]))
        };
        let (given, wanted) = (names(input.as_ref()), names(output.as_ref()));
        let state = Ident::new("state", Span::mixed_site());
        let fields = input.iter().chain(output).flatten();
        let fields = fields.map(|field| quote_spanned!(at(field.span())=> let _ = &#state.#field;));
        let declared = quote! {
            #private::declare_fields(&mut #graph, #given, #wanted, |#state| { #(#fields)* });
        };
        let hashes = input.iter().flatten();
        let hashes = hashes.map(|field| {
            let hash = fields::hash(&field.unraw().to_string());
            quote!(#private::Name<#hash>)
        });
        let given = fields::list(hashes.collect::<Vec<_>>().into_iter());
        let checks = self.reads.iter().map(|reader| self.read(reader, &given));
        let checks: TokenStream = checks.collect();
        if checks.is_empty() {
            return declared;
        }
        quote_spanned! {Span::mixed_site()=>
            #declared
            use #private::UnknownReads as _;
            #checks
        }
    }

    fn read(&self, reader: &ReadCheck, given: &TokenStream) -> TokenStream {
        let name = self.model.name(reader.vertex);
        let node = self.model.node(reader.vertex);
        let Some(mention) = node.and_then(|node| node.mentions.first()) else {
            return TokenStream::new();
        };
        let span = at(name_span(mention));
        let before = reader.before.iter();
        let before = before.map(|vertex| kind(self.model.name(*vertex)));
        let (here, private) = (private_at(span), private_at(Span::mixed_site()));
        let reads = Ident::new(&format!("{name}_reads"), span);
        let (found, field) = (Ident::new("__found", span), Ident::new("field", span));
        let value = quote_spanned!(span=> #found.#field);
        let kind = kind(name).into_token_stream();
        let bound = quote_spanned! {span=>
            fn #reads<F: #here::WrittenBefore>(_: ::core::marker::PhantomData<F>) {}
        };
        quote! {{
            #[allow(non_snake_case)]
            #bound
            let #found = #private::reading(&#kind, ::core::marker::PhantomData::<#given>)
                #(.after(&#before))*
                .unwritten();
            #reads(#value);
        }}
    }
}
