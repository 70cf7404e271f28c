//! The names and bounds that the parts of the expansion share.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned as _;
use syn::{DeriveInput, Ident, WhereClause, parse_quote, parse_quote_spanned};

use super::layout::Layout;
use super::{Field, StateModel};
use crate::paths::Root;

/// The parts that every impl needs.
pub(super) struct Names<'a> {
    input: &'a DeriveInput,
    root: &'a Root,
    pub(super) state: &'a Ident,
    pub(super) update: Ident,
    /// How the update holds what it writes.
    pub(super) layout: Layout<'a>,
    pub(super) impl_generics: syn::ImplGenerics<'a>,
    pub(super) ty_generics: syn::TypeGenerics<'a>,
    /// The `where` clause of the struct.
    pub(super) bounds: Option<&'a WhereClause>,
    /// The same, with a state's bounds on its parameters.
    pub(super) state_bounds: WhereClause,
}

impl<'a> Names<'a> {
    pub(super) fn new(model: &'a StateModel<'_>) -> Self {
        let input = model.input;
        let (impl_generics, ty_generics, bounds) = input.generics.split_for_impl();
        let is_state = quote! {
            ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static
        };
        let state_bounds = with_parameters(input, &is_state);
        Self {
            input,
            root: &model.root,
            state: &input.ident,
            update: format_ident!("{}Update", input.ident),
            layout: Layout::new(model),
            impl_generics,
            ty_generics,
            bounds,
            state_bounds,
        }
    }

    /// Returns the struct's bounds and one more for each of its parameters.
    pub(super) fn parameters(&self, bound: &TokenStream) -> WhereClause {
        with_parameters(self.input, bound)
    }

    /// Returns the bounds of an impl of the update that needs its state.
    pub(super) fn of_update(&self) -> WhereClause {
        let (root, state, ty_generics) = (self.root, self.state, &self.ty_generics);
        let mut bounds = self.state_bounds.clone();
        bounds.predicates.push(parse_quote! {
            for<'__state> #state #ty_generics: #root::state::State<Update = Self>
        });
        bounds
    }

    /// Returns the struct's bounds and one more for the type of each of `fields`.
    ///
    /// Because of the binder, rustc checks the bound where the impl is used, so a type that does
    /// not satisfy it is no error before.
    pub(super) fn each(&self, fields: &[&Field<'_>], bound: &TokenStream) -> WhereClause {
        let mut bounds = self.bounds.cloned().unwrap_or_else(no_bounds);
        let mut seen = BTreeSet::new();
        let types = fields
            .iter()
            .flat_map(|field| [Some(field.ty), field.options.update.as_ref()]);
        for ty in types.flatten() {
            if seen.insert(ty.to_token_stream().to_string()) {
                // An error shows the bound: at the field, not at the derive.
                let place = ty.span();
                let bound = bound.clone().into_iter().map(|mut token| {
                    token.set_span(token.span().located_at(place));
                    token
                });
                let bound: TokenStream = bound.collect();
                bounds
                    .predicates
                    .push(parse_quote_spanned!(place=> for<'__field> #ty: #bound));
            }
        }
        bounds
    }
}

fn with_parameters(input: &DeriveInput, bound: &TokenStream) -> WhereClause {
    let mut bounds = input
        .generics
        .where_clause
        .clone()
        .unwrap_or_else(no_bounds);
    for parameter in input.generics.type_params() {
        let name = &parameter.ident;
        bounds.predicates.push(parse_quote!(#name: #bound));
    }
    bounds
}

fn no_bounds() -> WhereClause {
    parse_quote!(where)
}
