//! The fields as types, so that two nodes of one group that write one field do not compile.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};

use super::StateModel;
use super::names::Names;
use crate::fields::{hash, list};

/// Prints the place of each field in the state's rows.
pub(super) fn rows(model: &StateModel<'_>, names: &Names<'_>) -> TokenStream {
    let root = &model.root;
    let Names {
        state,
        impl_generics,
        ty_generics,
        bounds,
        ..
    } = names;
    if model.fields.is_empty() {
        return TokenStream::new();
    }
    // A field is a type of the same name, which errors show; it must not hide another type.
    let mut taken = BTreeSet::new();
    words(quote!(#root #state #impl_generics #bounds), &mut taken);
    let mut plain = 0;
    let fields = model.fields.iter().map(|field| {
        let hash = hash(&field.name);
        let (marker, row) = if field.is_reduced() {
            (TokenStream::new(), quote!(()))
        } else {
            let name = marker(field.ident, &taken);
            let places = std::iter::repeat_n(quote!(#root::__private::No), plain);
            let row = list(places.chain([quote!(#name)]).collect::<Vec<_>>().into_iter());
            plain += 1;
            // An error about the field points here.
            let here = Span::mixed_site().located_at(field.ident.span());
            let shown = quote_spanned!(here=> pub enum #name {});
            let marker = quote! {
                #[allow(non_camel_case_types, dead_code, missing_debug_implementations, missing_docs)]
                #shown
                #[automatically_derived]
                impl #root::__private::PlainField for #name {}
            };
            (marker, row)
        };
        quote! {
            #marker
            #[automatically_derived]
            impl #impl_generics #root::__private::FieldAt<#hash> for #state #ty_generics #bounds {
                type Row = #row;
            }
        }
    });
    let fields: TokenStream = fields.collect();
    quote! {
        const _: () = {
            #fields
        };
    }
}

fn marker(field: &Ident, taken: &BTreeSet<String>) -> Ident {
    if taken.contains(&field.to_string()) {
        format_ident!("{field}_field", span = field.span())
    } else {
        field.clone()
    }
}

fn words(tokens: TokenStream, found: &mut BTreeSet<String>) {
    for tree in tokens {
        match tree {
            TokenTree::Ident(word) => {
                found.insert(word.to_string());
            }
            TokenTree::Group(group) => words(group.stream(), found),
            _ => {}
        }
    }
}
