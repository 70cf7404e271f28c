//! Serialization of updates.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse_quote;

use super::names::Names;
use super::{Field, StateModel};

/// Prints the serde impls: an update is a map of its present fields.
pub(super) fn serde_impls(model: &StateModel<'_>, names: &Names<'_>) -> TokenStream {
    let root = &model.root;
    let Names {
        update,
        impl_generics,
        ty_generics,
        ..
    } = names;
    let tracked: Vec<_> = model
        .fields
        .iter()
        .filter(|field| !field.options.untracked)
        .collect();
    let serde = quote!(#root::__private::serde);
    let mut parts: Vec<(Ident, String)> = Vec::new();
    for field in &tracked {
        parts.push((field.ident.clone(), field.name.clone()));
        if let Some(whole) = field.whole() {
            parts.push((whole, format!("={}", field.name)));
        }
    }
    let counted = parts.iter().map(|(ident, _)| {
        quote!(+ <::core::primitive::usize as ::core::convert::From<_>>::from(self.#ident.is_some()))
    });
    let entries = parts.iter().map(|(ident, name)| {
        quote! {
            if let ::core::option::Option::Some(value) = &self.#ident {
                #serde::ser::SerializeMap::serialize_entry(&mut map, #name, value)?;
            }
        }
    });
    let reads = tracked.iter().map(|field| {
        let Field {
            ident,
            name,
            options,
            ..
        } = field;
        let aliases = &options.aliases;
        let whole = field.whole().map(|whole| {
            let names = aliases.iter().map(|alias| format!("={}", alias.value()));
            let name = format!("={name}");
            quote! {
                #name #(| #names)* => {
                    self.#whole = ::core::option::Option::Some(
                        #serde::de::MapAccess::next_value(map)?,
                    );
                }
            }
        });
        quote! {
            #whole
            #name #(| #aliases)* => {
                self.#ident = ::core::option::Option::Some(
                    #serde::de::MapAccess::next_value(map)?,
                );
            }
        }
    });
    // One bound for both directions, so that a field without serde is one error.
    let stored_bounds = names.each(&tracked, &quote!(#root::__private::StoredField));
    let mut with_lifetime = model.input.generics.clone();
    with_lifetime.params.insert(0, parse_quote!('de));
    let (read_generics, ..) = with_lifetime.split_for_impl();
    quote! {
        #[automatically_derived]
        #[allow(unused_mut)]
        impl #impl_generics #serde::Serialize for #update #ty_generics #stored_bounds {
            fn serialize<__S: #serde::Serializer>(
                &self,
                serializer: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                let count = 0_usize #(#counted)*;
                let mut map = #serde::Serializer::serialize_map(
                    serializer,
                    ::core::option::Option::Some(count),
                )?;
                #(#entries)*
                #serde::ser::SerializeMap::end(map)
            }
        }

        #[automatically_derived]
        impl #read_generics #root::__private::ReadField<'de> for #update #ty_generics #stored_bounds {
            fn read<__A: #serde::de::MapAccess<'de>>(
                &mut self,
                name: &::core::primitive::str,
                map: &mut __A,
            ) -> ::core::result::Result<::core::primitive::bool, __A::Error> {
                match name {
                    #(#reads)*
                    _ => return ::core::result::Result::Ok(false),
                }
                #[allow(unreachable_code)]
                ::core::result::Result::Ok(true)
            }
        }

        #[automatically_derived]
        impl #read_generics #serde::Deserialize<'de> for #update #ty_generics #stored_bounds {
            fn deserialize<__D: #serde::Deserializer<'de>>(
                deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                #root::__private::read_fields(deserializer)
            }
        }
    }
}
