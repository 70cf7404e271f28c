//! Nodes whose output type is checked at the definition, and not at each mention.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{GenericParam, Generics, Ident, Lifetime, Type};

use super::expansion::Scope;
use super::lifetime::one_lifetime;
use super::signature::NodeFn;
use crate::paths::Root;

/// An output type that is known by a name outside of the function.
pub(super) struct Known {
    /// The item that gives the type its name.
    pub(super) alias: TokenStream,
    /// The constant of the marker's metadata that says whether the output can name the next node.
    pub(super) may_goto: Option<TokenStream>,
}

/// Returns a name for the output, and what the marker knows of it, if its type has the same meaning
/// outside of the function.
pub(super) fn known(
    node: &NodeFn<'_>,
    root: &Root,
    place: Scope<'_>,
    marker: &Ident,
    answer: &Type,
) -> Option<Known> {
    let state = node.state.filter(|_| !node.is_owned()).map(one_lifetime);
    let of_block = match place {
        Scope::Module => None,
        Scope::Block(_, generics) => Some(generics),
    };
    let plain = std::iter::once(&node.item.sig.generics)
        .chain(of_block)
        .all(takes_no_type)
        && state.as_ref().is_none_or(is_self_contained)
        && is_self_contained(answer);
    plain.then(|| {
        let answers = answers(marker);
        let around = around(answer);
        let may_goto = state.map(|state| {
            quote! {
                #[allow(deprecated, unused_imports, clippy::type_complexity)]
                const MAY_GOTO: ::core::primitive::bool = {
                    use #root::__private::ReturnsNoAnswer as _;
                    #root::__private::Returns::<#state, #answers>::MAY_GOTO
                };
            }
        });
        let alias = quote! {
            #[doc(hidden)]
            #[allow(deprecated, dead_code, non_camel_case_types, clippy::type_complexity)]
            type #answers #around = #answer;
        };
        Known { alias, may_goto }
    })
}

/// The name of the output type beside a marker that knows it. Mentions of it are no errors of their own
/// where the type does not exist.
pub(super) fn answers(marker: &Ident) -> Ident {
    format_ident!("{marker}_answer", span = marker.span())
}

/// The empty parameters of an alias, around its type: there rustc does not propose parameters for a type
/// that it does not find, and all its reports of it are one.
pub(super) fn around(ty: &Type) -> TokenStream {
    let mut spans = ty.to_token_stream().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::mixed_site);
    let last = spans.last().unwrap_or(first);
    let (open, close) = (quote_spanned!(first=> <), quote_spanned!(last=> >));
    quote!(#open #close)
}

pub(super) fn takes_no_type(generics: &Generics) -> bool {
    let mut params = generics.params.iter();
    params.all(|param| matches!(param, GenericParam::Lifetime(_)))
}

/// Returns true if the type names nothing of the function or of the block around it.
pub(super) fn is_self_contained(ty: &Type) -> bool {
    struct Outside(bool);

    impl VisitMut for Outside {
        fn visit_type_impl_trait_mut(&mut self, _: &mut syn::TypeImplTrait) {
            self.0 = false;
        }

        fn visit_lifetime_mut(&mut self, lifetime: &mut Lifetime) {
            self.0 &= lifetime.ident == "static";
        }

        fn visit_path_mut(&mut self, path: &mut syn::Path) {
            self.0 &= path
                .segments
                .first()
                .is_none_or(|first| first.ident != "Self");
            visit_mut::visit_path_mut(self, path);
        }
    }

    let mut outside = Outside(true);
    outside.visit_type_mut(&mut ty.clone());
    outside.0
}
