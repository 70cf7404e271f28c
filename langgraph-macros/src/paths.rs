//! Where the runtime crate is.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};

/// The runtime crate in an expansion: `::langgraph`, or what `crate = path` says.
///
/// The runtime crate names itself `langgraph` too, so the default is right in its own tests.
#[derive(Clone, Default)]
pub(crate) struct Root(Option<syn::Path>);

impl Root {
    /// The path a user gave with `crate = …`.
    pub(crate) fn given(path: syn::Path) -> Self {
        Self(Some(path))
    }
}

impl ToTokens for Root {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match &self.0 {
            Some(path) => path.to_tokens(tokens),
            // `mixed_site`, so that the path means the same inside a `macro_rules!` of the user.
            None => tokens.extend(quote_spanned!(Span::mixed_site()=> ::langgraph)),
        }
    }
}

/// `::langgraph`.
pub(crate) fn root() -> Root {
    Root::default()
}
