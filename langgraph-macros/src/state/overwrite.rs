//! The methods of an update that set a field without its reducer.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::names::Names;
use super::{Field, StateModel};

/// Prints one method per field with a reducer.
///
/// They return another type, so the update keeps the fields of the state and nothing else.
pub(super) fn overwrites(model: &StateModel<'_>, names: &Names<'_>) -> TokenStream {
    let methods: Vec<_> = model
        .fields
        .iter()
        .filter_map(|field| method(model, names, field))
        .collect();
    if methods.is_empty() {
        return TokenStream::new();
    }
    let Names {
        update,
        impl_generics,
        ty_generics,
        layout,
        ..
    } = names;
    let bounds = names.of_update();
    let is_empty = layout.emptiness();
    quote! {
        #[automatically_derived]
        #[allow(dead_code, unreachable_pub, private_interfaces, clippy::all, clippy::pedantic)]
        impl #impl_generics #update #ty_generics #bounds {
            fn __written(self) -> ::core::option::Option<Self> {
                let empty = #is_empty;
                if empty { ::core::option::Option::None } else { ::core::option::Option::Some(self) }
            }

            #(#methods)*
        }
    }
}

fn method(model: &StateModel<'_>, names: &Names<'_>, field: &Field<'_>) -> Option<TokenStream> {
    if !field.is_reduced() {
        return None;
    }
    let (ident, ty, name) = (field.ident, field.ty, &field.name);
    let method = format_ident!(
        "overwrite_{}",
        name.trim_start_matches('_'),
        span = ident.span()
    );
    if model.fields.iter().any(|other| *other.ident == method) {
        return None;
    }
    let docs = format!(" Also sets `{name}` to this value, without its reducer.");
    let value = Ident::new("value", Span::mixed_site());
    let (root, state, ty_generics) = (&model.root, names.state, &names.ty_generics);
    let whole = field.whole_part(root, &value);
    let set = names.layout.set(&quote!(set), field, &whole);
    Some(quote! {
        #[doc = #docs]
        pub fn #method(self, #value: #ty) -> #root::node::Overwriting<#state #ty_generics> {
            let mut set = <Self as ::core::default::Default>::default();
            #set
            #root::node::Overwriting::new(self.__written(), set)
        }
    })
}
