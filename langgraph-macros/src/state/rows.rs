//! The fields as types, so that two nodes of one group that write one field do not compile.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};

use super::StateModel;
use super::names::Names;
use crate::fields::hash;
use crate::paths::Root;

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
            let (shift, row) = shifted(root, plain, &quote!((#name, ())));
            plain += 1;
            // An error about the field points here.
            let here = Span::mixed_site().located_at(field.ident.span());
            let shown = quote_spanned!(here=> pub enum #name {});
            let marker = quote! {
                #shift
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

/// Returns a row behind the places of so many other fields, and the alias that adds the last of these places. Each
/// alias uses the one of the field before, so the text of a row does not grow with the number of fields.
fn shifted(root: &Root, places: usize, row: &TokenStream) -> (TokenStream, TokenStream) {
    let alias = |places| format_ident!("__After{places}");
    let Some(before) = places.checked_sub(1) else {
        return (TokenStream::new(), row.clone());
    };
    let (this, rest) = (alias(places), quote!(Row));
    let rest = if before == 0 {
        rest
    } else {
        let before = alias(before);
        quote!(#before<#rest>)
    };
    let shift = quote!(type #this<Row> = (#root::__private::No, #rest););
    (shift, quote!(#this<#row>))
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
