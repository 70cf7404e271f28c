//! Serialization of updates.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{LitStr, WhereClause, parse_quote};

use super::layout::Access;
use super::names::Names;
use super::{Field, StateModel};
use crate::paths::Root;

/// Prints the serde impls: an update is a map of its present fields.
pub(super) fn serde_impls(model: &StateModel<'_>, names: &Names<'_>) -> TokenStream {
    let tracked: Vec<_> = model
        .fields
        .iter()
        .filter(|field| !field.options.untracked)
        .collect();
    // One bound for both directions, so that a field without serde is one error.
    let root = &model.root;
    let bounds = names.each(&tracked, &quote!(#root::__private::StoredField));
    let serialize = serialize(model, names, &tracked, &bounds);
    let deserialize = deserialize(model, names, &tracked, &bounds);
    quote!(#serialize #deserialize)
}

fn serialize(
    model: &StateModel<'_>,
    names: &Names<'_>,
    tracked: &[&Field<'_>],
    bounds: &WhereClause,
) -> TokenStream {
    let root = &model.root;
    let serde = quote!(#root::__private::serde);
    let Names {
        update,
        impl_generics,
        ty_generics,
        layout,
        ..
    } = names;
    let count = layout.count(tracked);
    let entry =
        |name: &str| quote!(#serde::ser::SerializeMap::serialize_entry(&mut map, #name, value)?);
    let entries = tracked.iter().map(|field| {
        let (entry, whole_entry) = (entry(&field.name), entry(&whole_name(&field.name)));
        let body = if field.has_own_update() {
            quote! {
                match value {
                    #root::state::FieldWrite::Update(value) => #entry,
                    #root::state::FieldWrite::Whole(value) => #whole_entry,
                }
            }
        } else {
            quote!(#entry;)
        };
        (*field, body)
    });
    let entries = layout.visit(&quote!(self), Access::Shared, &entries.collect());
    quote! {
        #[automatically_derived]
        #[allow(unused_mut)]
        impl #impl_generics #serde::Serialize for #update #ty_generics #bounds {
            fn serialize<__S: #serde::Serializer>(
                &self,
                serializer: __S,
            ) -> ::core::result::Result<__S::Ok, __S::Error> {
                let count = #count;
                let mut map = #serde::Serializer::serialize_map(
                    serializer,
                    ::core::option::Option::Some(count),
                )?;
                #entries
                #serde::ser::SerializeMap::end(map)
            }
        }
    }
}

fn deserialize(
    model: &StateModel<'_>,
    names: &Names<'_>,
    tracked: &[&Field<'_>],
    bounds: &WhereClause,
) -> TokenStream {
    let root = &model.root;
    let serde = quote!(#root::__private::serde);
    let (update, ty_generics) = (&names.update, &names.ty_generics);
    let reads = tracked.iter().map(|field| read(field, names, root, &serde));
    let mut with_lifetime = model.input.generics.clone();
    with_lifetime.params.insert(0, parse_quote!('de));
    let (read_generics, ..) = with_lifetime.split_for_impl();
    quote! {
        #[automatically_derived]
        impl #read_generics #root::__private::ReadField<'de> for #update #ty_generics #bounds {
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
        impl #read_generics #serde::Deserialize<'de> for #update #ty_generics #bounds {
            fn deserialize<__D: #serde::Deserializer<'de>>(
                deserializer: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                #root::__private::read_fields(deserializer)
            }
        }
    }
}

/// Prints the arms that read the field under its names.
fn read(field: &Field<'_>, names: &Names<'_>, root: &Root, serde: &TokenStream) -> TokenStream {
    let aliases: Vec<_> = field.options.aliases.iter().map(LitStr::value).collect();
    let arm = |name: &str, aliases: &[String], part: TokenStream| {
        let set = names.layout.set(&quote!(self), field, &part);
        quote!(#name #(| #aliases)* => { #set })
    };
    let value = quote!(#serde::de::MapAccess::next_value(map)?);
    if !field.has_own_update() {
        return arm(&field.name, &aliases, value);
    }
    let whole_aliases: Vec<_> = aliases.iter().map(|alias| whole_name(alias)).collect();
    let whole = quote!(#root::state::FieldWrite::Whole(#value));
    let whole = arm(&whole_name(&field.name), &whole_aliases, whole);
    let update = quote!(#root::state::FieldWrite::Update(#value));
    let update = arm(&field.name, &aliases, update);
    quote!(#whole #update)
}

/// The stored name of the whole value of a field whose updates have a type of their own.
fn whole_name(name: &str) -> String {
    format!("={name}")
}
