//! The update type: one `Option` per field.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};

use super::names::Names;
use super::{Field, StateModel};
use crate::paths::Root;

/// Prints `FooUpdate`, its setters, and the impls that do not need the state.
pub(super) fn update_type(model: &StateModel<'_>, names: &Names<'_>) -> TokenStream {
    let Names {
        state,
        update,
        impl_generics,
        ty_generics,
        bounds,
        ..
    } = names;
    let vis = &model.input.vis;
    let generics = &model.input.generics;
    let title = format!(
        " An update of [`{state}`]: what a node returns.\n\n A field that is `None` stays as it is."
    );
    let declarations = model.fields.iter().map(|field| {
        let (ident, part) = (field.ident, field.part(&model.root));
        let docs = docs(field);
        quote_spanned!(ident.span()=> #docs pub #ident: ::core::option::Option<#part>)
    });
    let setters = model.fields.iter().map(|field| {
        let Field { ident, name, .. } = field;
        let ty = field.update();
        let docs = setter_docs(field, name);
        let allow = quote!(#[allow(clippy::all, clippy::pedantic)]);
        let value = Ident::new("value", Span::mixed_site());
        let part = update_part(&model.root, field, &value);
        quote! {
            #docs
            #allow
            #[must_use]
            pub fn #ident(mut self, #value: #ty) -> Self {
                self.#ident = ::core::option::Option::Some(#part);
                self
            }
        }
    });
    let impls = impls(model, names);
    quote! {
        #[doc = #title]
        #[must_use = "an update changes nothing until a node returns it"]
        #[allow(unreachable_pub, private_interfaces, clippy::all, clippy::pedantic)]
        #vis struct #update #generics #bounds {
            #(#declarations,)*
        }

        #[automatically_derived]
        #[allow(dead_code, unreachable_pub, private_interfaces)]
        impl #impl_generics #update #ty_generics #bounds {
            #(#setters)*
        }

        #impls
    }
}

/// Prints the impls of an update that do not need its state.
fn impls(model: &StateModel<'_>, names: &Names<'_>) -> TokenStream {
    let Names {
        state,
        update,
        impl_generics,
        ty_generics,
        bounds,
        ..
    } = names;
    let all: Vec<_> = model.fields.iter().collect();
    let parts: Vec<&Ident> = model.fields.iter().map(|field| field.ident).collect();
    let nothing = parts
        .iter()
        .map(|part| quote!(#part: ::core::option::Option::None));
    let everything = model.fields.iter().map(|field| {
        let ident = field.ident;
        let whole = whole_part(&model.root, field, &quote!(state.#ident));
        quote!(#ident: ::core::option::Option::Some(#whole))
    });
    let shown = model.fields.iter().map(|field| {
        let (part, name) = (field.ident, &field.name);
        quote! {
            if let ::core::option::Option::Some(value) = &self.#part {
                shown.field(#name, value);
            }
        }
    });
    let same = parts
        .iter()
        .map(|part| quote!(&& self.#part == other.#part));
    let root = &model.root;
    let cloned = parts
        .iter()
        .map(|part| quote!(#part: #root::__private::CloneField(&self.#part).cloned()));
    let clone_bounds = names.parameters(&quote!(::core::clone::Clone));
    let debug_bounds = names.each(&all, &quote!(::core::fmt::Debug));
    let eq_bounds = names.each(&all, &quote!(::core::cmp::PartialEq));
    let title_of_name = update.to_string();
    quote! {
        #[automatically_derived]
        impl #impl_generics ::core::default::Default for #update #ty_generics #bounds {
            fn default() -> Self {
                Self { #(#nothing,)* }
            }
        }

        #[automatically_derived]
        #[allow(unused_imports)]
        impl #impl_generics ::core::clone::Clone for #update #ty_generics #clone_bounds {
            fn clone(&self) -> Self {
                // The state's own `Clone` reports a field that has none.
                use #root::__private::NotClone as _;
                Self { #(#cloned,)* }
            }
        }

        #[automatically_derived]
        #[allow(unused_variables)]
        impl #impl_generics ::core::convert::From<#state #ty_generics> for #update #ty_generics
        #bounds
        {
            fn from(state: #state #ty_generics) -> Self {
                Self { #(#everything,)* }
            }
        }

        #[automatically_derived]
        #[allow(unused_mut)]
        impl #impl_generics ::core::fmt::Debug for #update #ty_generics #debug_bounds {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let mut shown = f.debug_struct(#title_of_name);
                #(#shown)*
                shown.finish()
            }
        }

        #[automatically_derived]
        #[allow(unused_variables)]
        impl #impl_generics ::core::cmp::PartialEq for #update #ty_generics #eq_bounds {
            fn eq(&self, other: &Self) -> ::core::primitive::bool {
                true #(#same)*
            }
        }
    }
}

/// Prints a field's part of an update that the reducer takes.
fn update_part(root: &Root, field: &Field<'_>, value: &Ident) -> TokenStream {
    if field.has_own_update() {
        quote!(#root::state::FieldWrite::Update(#value))
    } else {
        value.to_token_stream()
    }
}

/// Prints a field's part of an update that is the whole value.
pub(super) fn whole_part(root: &Root, field: &Field<'_>, value: &TokenStream) -> TokenStream {
    if field.has_own_update() {
        quote!(#root::state::FieldWrite::Whole(#value))
    } else {
        value.clone()
    }
}

/// Returns the field's own documentation.
fn docs(field: &Field<'_>) -> TokenStream {
    if field.docs.is_empty() {
        let text = format!(
            " What is written to `{}`: {}.",
            field.name,
            field.options.rule.describe()
        );
        return quote!(#[doc = #text]);
    }
    let docs = &field.docs;
    quote!(#(#docs)*)
}

fn setter_docs(field: &Field<'_>, name: &str) -> TokenStream {
    let first = format!(" Writes `{name}`; {}.", field.options.rule.describe());
    let docs = &field.docs;
    if docs.is_empty() {
        return quote!(#[doc = #first]);
    }
    quote!(#[doc = #first] #[doc = ""] #(#docs)*)
}
