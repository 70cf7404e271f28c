//! The update type: one `Option` per field.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use super::names::Names;
use super::{Field, StateModel};

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
        let (ident, update) = (field.ident, field.update());
        let docs = docs(field);
        quote_spanned!(ident.span()=> #docs pub #ident: ::core::option::Option<#update>)
    });
    let wholes = wholes(model);
    let setters = model.fields.iter().map(|field| {
        let Field { ident, name, .. } = field;
        let ty = field.update();
        let docs = setter_docs(field, name);
        let allow = quote!(#[allow(clippy::all, clippy::pedantic)]);
        let value = Ident::new("value", Span::mixed_site());
        quote! {
            #docs
            #allow
            #[must_use]
            pub fn #ident(mut self, #value: #ty) -> Self {
                self.#ident = ::core::option::Option::Some(#value);
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
            #wholes
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
    let parts = parts(model);
    let nothing = parts
        .iter()
        .map(|part| quote!(#part: ::core::option::Option::None));
    let everything = parts.iter().map(|part| {
        let mut fields = model.fields.iter();
        let from = fields.find(|field| match field.whole() {
            Some(whole) => whole == *part,
            None => field.ident == part,
        });
        if let Some(Field { ident, .. }) = from {
            quote!(#part: ::core::option::Option::Some(state.#ident))
        } else {
            quote!(#part: ::core::option::Option::None)
        }
    });
    let shown = parts.iter().map(|part| {
        let name = syn::ext::IdentExt::unraw(part).to_string();
        let name = name.trim_start_matches("__");
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

/// Returns the names of all parts of an update.
pub(super) fn parts(model: &StateModel<'_>) -> Vec<Ident> {
    let fields = model.fields.iter();
    let mut parts: Vec<Ident> = fields.clone().map(|field| field.ident.clone()).collect();
    parts.extend(fields.filter_map(Field::whole));
    parts
}

/// Prints the parts that hold whole values, of fields whose updates have a type of their own.
fn wholes(model: &StateModel<'_>) -> TokenStream {
    let wholes = model.fields.iter().filter_map(|field| {
        let (whole, ty) = (field.whole()?, field.ty);
        Some(quote!(#[doc(hidden)] pub #whole: ::core::option::Option<#ty>,))
    });
    wholes.collect()
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
