//! The marker of a node function, and what it knows of the function.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Generics, Ident};

use super::attr::NodeOptions;
use super::checked::Known;
use super::expansion::Scope;
use super::keys;
use super::needs::{self, Needs};
use super::signature::NodeFn;
use super::uses;
use crate::fields;
use crate::function::docs;
use crate::paths::Root;

/// Prints the marker and its metadata.
pub(super) fn meta(
    node: &NodeFn<'_>,
    options: &NodeOptions,
    marker: &Ident,
    place: Scope<'_>,
    needed: Option<&Needs>,
    known: Option<&Known>,
) -> TokenStream {
    let root = &options.root;
    let vis = &node.item.vis;
    let name = syn::ext::IdentExt::unraw(&node.item.sig.ident).to_string();
    let said = said(node, options);
    let declared = declared_writes(options, marker);
    let needs = needed.map(|needed| needs(node, root, needed));
    let resources = needed.map(Needs::aliases);
    let body = node.item.block.to_token_stream();
    let uses = uses::of(node, options, &body);
    let (used, used_types) = (uses.constant(), uses.types(root, marker));
    let keys = keys::function(root, &body, &all_generics(node, place));
    let alias = known.map(|known| &known.alias);
    let may_goto = known.and_then(|known| known.may_goto.as_ref());
    quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types, dead_code, unreachable_pub, missing_debug_implementations)]
        #vis enum #marker {}

        #[automatically_derived]
        impl #root::node::NodeMeta for #marker {
            const NAME: &'static ::core::primitive::str = #name;
            #said
            #keys
            #used
            #may_goto
            #needs
        }

        #resources
        #declared
        #used_types
        #alias
    }
}

/// Prints the constants of what the function's documentation and its options say.
fn said(node: &NodeFn<'_>, options: &NodeOptions) -> TokenStream {
    let root = &options.root;
    let docs = docs(&node.item.attrs).map(|docs| {
        quote! {
            const DOCS: ::core::option::Option<&'static ::core::primitive::str> = ::core::option::Option::Some(#docs);
        }
    });
    let writes = options.writes.as_ref().map(|fields| {
        let fields = fields
            .iter()
            .map(|field| syn::ext::IdentExt::unraw(field).to_string());
        quote! {
            const WRITES: ::core::option::Option<&'static [&'static ::core::primitive::str]> =
                ::core::option::Option::Some(&[#(#fields),*]);
        }
    });
    let aliases = (!options.aliases.is_empty()).then(|| {
        let aliases = &options.aliases;
        quote!(const ALIASES: &'static [&'static ::core::primitive::str] = &[#(#aliases),*];)
    });
    let interrupts = options.interrupts.as_ref().map(|_| {
        quote!(
            const INTERRUPTS: ::core::primitive::bool = true;
        )
    });
    let calls = options.calls.as_ref().map(|calls| {
        let (model, tool) = (calls.model, calls.tool);
        quote!(
            const CALLS: #root::graph::Calls = #root::graph::Calls { model: #model, tool: #tool };
        )
    });
    quote!(#docs #writes #aliases #interrupts #calls)
}

/// Prints the names of the fields that the node declares to write, for the compiler.
fn declared_writes(options: &NodeOptions, marker: &Ident) -> Option<TokenStream> {
    let root = &options.root;
    options.writes.as_ref().map(|fields| {
        let names = fields.iter().map(|field| {
            let hash = fields::hash(&syn::ext::IdentExt::unraw(field).to_string());
            quote!(#root::__private::Name<#hash>)
        });
        let names = fields::list(names);
        quote! {
            #[automatically_derived]
            impl #root::__private::DeclaresWrites for #marker {
                type Names = #names;
            }
        }
    })
}

/// Returns the generics of the function, and those of the block around it.
fn all_generics<'a>(node: &NodeFn<'a>, place: Scope<'a>) -> Vec<&'a Generics> {
    let mut generics = vec![&node.item.sig.generics];
    if let Scope::Block(_, of_block) = place {
        generics.push(of_block);
    }
    generics
}

/// Finds the resources that the node always asks for.
pub(super) fn read_needs(node: &NodeFn<'_>, marker: &Ident, place: Scope<'_>) -> Option<Needs> {
    let generics = all_generics(node, place);
    let prefix = format!("{marker}_needs");
    needs::read(&node.arguments, &node.item.block, &generics, &prefix)
}

/// Prints the function that returns these resources.
fn needs(node: &NodeFn<'_>, root: &Root, needs: &Needs) -> TokenStream {
    let list = needs.list(root, &node.arguments);
    quote! {
        #[allow(deprecated, clippy::all, clippy::pedantic)]
        fn needs() -> #root::__private::Vec<#root::node::NeededResource> {
            #list
        }
    }
}
