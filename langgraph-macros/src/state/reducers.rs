//! The reducers of the fields.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::names::Names;
use super::rule::Rule;
use super::{Field, StateModel};

/// Prints one function per reduced field: the only place that mentions and checks a reducer.
pub(super) fn reducers(model: &StateModel<'_>, names: &Names<'_>) -> TokenStream {
    let root = &model.root;
    let Names {
        impl_generics,
        state_bounds,
        ..
    } = names;
    model
        .fields
        .iter()
        .filter(|field| field.is_reduced())
        .map(|field| {
            let function = reducer_name(field);
            let (ty, update) = (field.ty, field.update());
            let value = match &field.options.rule {
                Rule::Replace => return TokenStream::new(),
                Rule::BuiltIn { name, index } => {
                    let path = Rule::built_in(root, name, *index);
                    quote_spanned!(name.span()=> #root::__private::reducer::<#ty, #update, _, _>(#path))
                }
                Rule::Closure(closure) => {
                    quote!(#root::__private::closure_reducer::<#ty, #update, _>(#closure))
                }
                Rule::Value(value) => {
                    // So that rustc knows the names that a misspelt one may mean.
                    let names = value_is_a_name(value).then(|| {
                        quote! {
                            #[allow(unused_imports)]
                            use #root::__private::reducers::*;
                        }
                    });
                    let made =
                        quote_spanned!(value.span()=> #root::__private::reducer::<#ty, #update, _, _>(#value));
                    quote!(#names #made)
                }
            };
            quote! {
                #[allow(non_snake_case, clippy::multiple_bound_locations)]
                fn #function #impl_generics() -> impl #root::state::Reducer<#ty, #update> #state_bounds {
                    #value
                }
            }
        })
        .collect()
}

fn value_is_a_name(value: &syn::Expr) -> bool {
    matches!(value, syn::Expr::Path(path) if path.path.get_ident().is_some())
}

pub(super) fn reducer_name(field: &Field<'_>) -> Ident {
    Ident::new(&format!("__reducer_{}", field.name), Span::mixed_site())
}
