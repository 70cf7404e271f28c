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

impl Root {
    /// This path, or another where none was given.
    pub(crate) fn or(&self, other: &Self) -> Self {
        Self(self.0.clone().or_else(|| other.0.clone()))
    }

    /// The crate, named at `span`: an error about what follows it then lands there.
    pub(crate) fn at(&self, span: Span) -> TokenStream {
        let ours = || quote_spanned!(span=> ::langgraph);
        self.0.as_ref().map_or_else(ours, ToTokens::to_token_stream)
    }
}

impl ToTokens for Root {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        // `mixed_site`, so that the path means the same inside a `macro_rules!` of the user.
        tokens.extend(self.at(Span::mixed_site()));
    }
}

/// `::langgraph`.
pub(crate) fn root() -> Root {
    Root::default()
}
