//! Functions of an `impl` block with their own `#[node]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{FnArg, ImplItem, ImplItemFn, ItemFn, ItemImpl, Meta, Type};

use super::attr::NodeOptions;
use super::expand::{self};
use super::expansion::Scope;
use super::signature;
use super::uses;
use crate::diag::Errors;

/// Returns the block with its functions as nodes, and the items beside it; `None` if it has none.
pub(super) fn expand(
    block: &ItemImpl,
    options: &NodeOptions,
    errors: &mut Errors,
) -> Option<(ItemImpl, TokenStream)> {
    let of = name(&block.self_ty);
    let mut output = block.clone();
    output.items.clear();
    let mut beside = TokenStream::new();
    let mut any = false;
    for item in &block.items {
        let ImplItem::Fn(function) = item else {
            output.items.push(item.clone());
            continue;
        };
        let Some(own) = own_options(function, options, errors) else {
            output.items.push(item.clone());
            continue;
        };
        any = true;
        let function = ItemFn {
            attrs: without(function),
            vis: function.vis.clone(),
            modifiers: function.modifiers.clone(),
            sig: function.sig.clone(),
            block: Box::new(function.block.clone()),
        };
        let expanded = if let Some(FnArg::Receiver(receiver)) = function.sig.inputs.first() {
            errors.on(
                receiver,
                "a function that is a node takes no `self`: the node that a value is, is the method \
                 `run` of the block",
            );
            None
        } else {
            let node = signature::read(&function, &own, errors);
            node.map(|node| {
                uses::check(&node, &own, errors);
                expand::expand(&node, &own, Scope::Block(&of, &block.generics))
            })
        };
        let function = if let Some(expanded) = expanded {
            beside.extend(expanded.beside);
            expanded.function
        } else {
            quote!(#function)
        };
        output.items.push(ImplItem::Verbatim(function));
    }
    any.then_some((output, beside))
}

/// Returns true for the attribute that makes a function a node.
fn is_node(attribute: &syn::Attribute) -> bool {
    let path = attribute.path();
    path.segments
        .last()
        .is_some_and(|last| last.ident == "node")
}

/// Returns the options of a function's `#[node]`, if it has one.
fn own_options(
    function: &ImplItemFn,
    of_block: &NodeOptions,
    errors: &mut Errors,
) -> Option<NodeOptions> {
    let attribute = function.attrs.iter().find(|attribute| is_node(attribute))?;
    let tokens = match &attribute.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    };
    let mut own = NodeOptions::read(tokens, errors);
    own.root = own.root.or(&of_block.root);
    Some(own)
}

fn without(function: &ImplItemFn) -> Vec<syn::Attribute> {
    let others = function
        .attrs
        .iter()
        .filter(|attribute| !is_node(attribute));
    others.cloned().collect()
}

/// Returns the name of the block's type, for the names of the items beside it.
pub(super) fn name(this: &Type) -> String {
    match this {
        Type::Path(path) => {
            let last = path.path.segments.last();
            last.map_or_else(String::new, |last| {
                syn::ext::IdentExt::unraw(&last.ident).to_string()
            })
        }
        Type::Paren(inner) => name(&inner.elem),
        Type::Group(inner) => name(&inner.elem),
        _ => String::new(),
    }
}
