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
    /// True if the option `writes(…)` names the writes.
    is_declared: bool,
    reads: Option<Vec<String>>,
    writes: Option<Vec<String>>,
}

/// Finds the fields that a function uses.
pub(super) fn of(node: &NodeFn<'_>, options: &NodeOptions) -> Uses {
    let declared = |fields: &Vec<Ident>| fields.iter().map(name).collect();
    let reads = options.reads.as_ref().map(declared);
    let writes = options.writes.as_ref().map(declared);
    Uses {
        is_declared: writes.is_some(),
        reads: reads.or_else(|| read(&node.arguments, node.item.block.to_token_stream()).known()),
        writes: writes.or_else(|| written(node.output, &node.item.block)),
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
    /// Prints the constants of the metadata.
    pub(super) fn constants(&self) -> TokenStream {
        let constant = |name: TokenStream, fields: &Option<Vec<String>>| {
            fields.as_ref().map(|fields| {
                quote! {
                    const #name: ::core::option::Option<&'static [&'static ::core::primitive::str]> =
                        ::core::option::Option::Some(&[#(#fields),*]);
                }
            })
        };
        let reads = constant(quote!(READS), &self.reads);
        if self.is_declared {
            return quote!(#reads);
        }
        let writes = constant(quote!(MAY_WRITE), &self.writes);
        quote!(#reads #writes)
    }

    /// Prints the fields as types.
    pub(super) fn types(&self, root: &Root, marker: &Ident) -> TokenStream {
        let types = |name: TokenStream, fields: &Option<Vec<String>>| {
            fields.as_ref().map(|fields| {
                let names = fields.iter().map(|field| {
                    let hash = fields::hash(field);
                    quote!(#root::__private::Name<#hash>)
                });
                let names = fields::list(names);
                quote! {
                    #[automatically_derived]
                    impl #root::__private::#name for #marker {
                        type Names = #names;
                    }
                }
            })
        };
        let reads = types(quote!(ReadsAtMost), &self.reads);
        let writes = types(quote!(WritesAtMost), &self.writes);
        quote!(#reads #writes)
    }
}

fn name(field: &Ident) -> String {
    syn::ext::IdentExt::unraw(field).to_string()
}
