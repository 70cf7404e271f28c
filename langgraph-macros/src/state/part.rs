//! The enum of the parts of an update that is a list.

use proc_macro2::TokenStream;
use quote::quote;

use super::StateModel;
use super::names::Names;

/// Prints the enum, if the update is a list: a variant for each field, with what is written to it.
pub(super) fn part_type(model: &StateModel<'_>, names: &Names<'_>) -> TokenStream {
    let Some(part) = names.layout.part() else {
        return TokenStream::new();
    };
    let root = &model.root;
    let Names {
        impl_generics,
        ty_generics,
        bounds,
        ..
    } = names;
    let (vis, generics) = (&model.input.vis, &model.input.generics);
    let fields: Vec<_> = model.fields.iter().collect();
    let idents: Vec<_> = model.fields.iter().map(|field| field.ident).collect();
    let types = model.fields.iter().map(|field| field.part(root));
    let places = super::places();
    let clone_bounds = names.parameters(&quote!(::core::clone::Clone));
    let eq_bounds = names.each(&fields, &quote!(::core::cmp::PartialEq));
    quote! {
        #[doc(hidden)]
        #[allow(
            non_camel_case_types, dead_code, unreachable_pub, private_interfaces,
            missing_debug_implementations, clippy::all, clippy::pedantic
        )]
        #vis enum #part #generics #bounds {
            #(#idents(#types),)*
        }

        #[automatically_derived]
        impl #impl_generics #root::__private::Part for #part #ty_generics #bounds {
            fn place(&self) -> ::core::primitive::usize {
                match self {
                    #(Self::#idents(_) => #places,)*
                }
            }
        }

        #[automatically_derived]
        #[allow(unused_imports)]
        impl #impl_generics ::core::clone::Clone for #part #ty_generics #clone_bounds {
            fn clone(&self) -> Self {
                // The state's own `Clone` reports a field that has none.
                use #root::__private::NotClone as _;
                match self {
                    #(Self::#idents(value) => Self::#idents(#root::__private::CloneField(value).cloned()),)*
                }
            }
        }

        #[automatically_derived]
        impl #impl_generics ::core::cmp::PartialEq for #part #ty_generics #eq_bounds {
            fn eq(&self, other: &Self) -> ::core::primitive::bool {
                match (self, other) {
                    #((Self::#idents(value), Self::#idents(other)) => value == other,)*
                    _ => false,
                }
            }
        }
    }
}
