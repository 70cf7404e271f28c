//! The fields that a node reads and writes, as far as its signature and its body show them.
//!
//! Reads are known if the body names the state only to name a field of it. Writes are known if every value
//! that the body returns is made here: `FooUpdate::default()` and its setters.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Ident;

use super::attr::NodeOptions;
use super::signature::NodeFn;
use crate::diag::Errors;
use crate::fields;
use crate::paths::Root;

mod reads;
mod written;

use reads::read;
use written::written;

/// The fields that a node uses at most; `None` if that is unknown.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Uses {
    reads: Option<Vec<String>>,
    writes: Option<Vec<String>>,
}

/// Finds the fields that a function uses.
pub(super) fn of(node: &NodeFn<'_>, options: &NodeOptions, body: &TokenStream) -> Uses {
    let declared = |fields: &Vec<Ident>| fields.iter().map(name).collect();
    let reads = options.reads.as_ref().map(declared);
    let writes = options.writes.as_ref().map(declared);
    Uses {
        reads: reads.or_else(|| read(&node.arguments, body.clone()).known()),
        writes: writes.or_else(|| written(node.output, &node.item.block, body)),
    }
}

/// Reports the fields that a function reads and does not declare.
pub(super) fn check(node: &NodeFn<'_>, options: &NodeOptions, errors: &mut Errors) {
    let Some(declared) = &options.reads else {
        return;
    };
    let read = read(&node.arguments, node.item.block.to_token_stream());
    for field in read.fields {
        if !declared.iter().any(|known| name(known) == name(&field)) {
            let text = format!(
                "`{}` is read here, and `reads(…)` does not name it",
                name(&field)
            );
            errors.on(&field, text);
        }
    }
}

impl Uses {
    /// Prints the constant of the metadata.
    pub(super) fn constant(&self) -> TokenStream {
        if *self == Self::default() {
            return TokenStream::new();
        }
        // One literal: rustc checks each expression of each node.
        let names = |fields: Option<&Vec<String>>| {
            fields.map_or_else(|| "?".to_owned(), |fields| fields.join(" "))
        };
        let (reads, writes) = (names(self.reads.as_ref()), names(self.writes.as_ref()));
        let uses = format!("{reads} => {writes}");
        quote!(const USES: &'static ::core::primitive::str = #uses;)
    }

    /// Prints the fields as types.
    pub(super) fn types(&self, root: &Root, marker: &Ident) -> TokenStream {
        if *self == Self::default() {
            return TokenStream::new();
        }
        let named = |field: &String| {
            let hash = fields::hash(field);
            quote!(#root::__private::Name<#hash>)
        };
        let types = |fields: Option<&Vec<String>>| {
            fields.map_or_else(
                || quote!(#root::__private::UnknownFields),
                |fields| fields::list(fields.iter().map(named)),
            )
        };
        let reads = types(self.reads.as_ref());
        // A constant in a type is a body of its own for rustc.
        let fields = if self.reads == self.writes {
            quote!(Both<#reads>)
        } else {
            let writes = types(self.writes.as_ref());
            quote!(ReadsWrites<#reads, #writes>)
        };
        quote! {
            #[automatically_derived]
            impl #root::__private::UsesFields for #marker {
                type Fields = #root::__private::#fields;
            }
        }
    }
}

fn name(field: &Ident) -> String {
    syn::ext::IdentExt::unraw(field).to_string()
}
