//! The update type.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

use super::layout::Access;
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
        layout,
        ..
    } = names;
    let vis = &model.input.vis;
    let generics = &model.input.generics;
    let title = format!(
        " An update of [`{state}`]: what a node returns.\n\n {}",
        layout.docs()
    );
    let fields = layout.fields();
    let setters = model.fields.iter().map(|field| {
        let Field { ident, name, .. } = field;
        let ty = field.update();
        let docs = setter_docs(field, name);
        let allow = quote!(#[allow(clippy::all, clippy::pedantic)]);
        let value = Ident::new("value", Span::mixed_site());
        let set = layout.set(
            &quote!(self),
            field,
            &field.update_part(&model.root, &value),
        );
        quote! {
            #docs
            #allow
            #[must_use]
            pub fn #ident(mut self, #value: #ty) -> Self {
                #set
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
            #fields
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
        layout,
        ..
    } = names;
    let all: Vec<_> = model.fields.iter().collect();
    let (nothing, everything) = (layout.nothing(), layout.everything());
    let (cloned, equality) = (layout.cloned(), layout.equality());
    let shown = model.fields.iter().map(|field| {
        let name = &field.name;
        (field, quote!(shown.field(#name, value);))
    });
    let shown = layout.visit(&quote!(self), Access::Shared, &shown.collect());
    let clone_bounds = names.parameters(&quote!(::core::clone::Clone));
    let debug_bounds = names.each(&all, &quote!(::core::fmt::Debug));
    let eq_bounds = names.each(&all, &quote!(::core::cmp::PartialEq));
    let title_of_name = update.to_string();
    quote! {
        #[automatically_derived]
        impl #impl_generics ::core::default::Default for #update #ty_generics #bounds {
            fn default() -> Self {
                #nothing
            }
        }

        #[automatically_derived]
        #[allow(unused_imports)]
        impl #impl_generics ::core::clone::Clone for #update #ty_generics #clone_bounds {
            fn clone(&self) -> Self {
                #cloned
            }
        }

        #[automatically_derived]
        #[allow(unused_variables)]
        impl #impl_generics ::core::convert::From<#state #ty_generics> for #update #ty_generics
        #bounds
        {
            fn from(state: #state #ty_generics) -> Self {
                #everything
            }
        }

        #[automatically_derived]
        #[allow(unused_mut)]
        impl #impl_generics ::core::fmt::Debug for #update #ty_generics #debug_bounds {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let mut shown = f.debug_struct(#title_of_name);
                #shown
                shown.finish()
            }
        }

        #[automatically_derived]
        #[allow(unused_variables)]
        impl #impl_generics ::core::cmp::PartialEq for #update #ty_generics #eq_bounds {
            fn eq(&self, other: &Self) -> ::core::primitive::bool {
                #equality
            }
        }
    }
}

fn setter_docs(field: &Field<'_>, name: &str) -> TokenStream {
    let first = format!(" Writes `{name}`; {}.", field.options.rule.describe());
    let docs = &field.docs;
    if docs.is_empty() {
        return quote!(#[doc = #first]);
    }
    quote!(#[doc = #first] #[doc = ""] #(#docs)*)
}
