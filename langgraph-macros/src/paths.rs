//! Paths of the crates that expansions call.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};

/// The crate that an expansion calls.
///
/// Each of these crates also knows itself under its own name, so the defaults work in its own code
/// too.
#[derive(Clone, Default)]
pub(crate) enum Root {
    /// `::langgraph`.
    #[default]
    Runtime,
    /// `::langgraph_agent`.
    Agent,
    /// `::langgraph_functional`.
    Functional,
    /// The path of `crate = path`.
    Given(syn::Path),
}

impl Root {
    /// Creates the path of `crate = …`.
    pub(crate) fn given(path: syn::Path) -> Self {
        Self::Given(path)
    }

    /// Returns this path, or `other` if none was given.
    pub(crate) fn or(&self, other: &Self) -> Self {
        match self {
            Self::Given(_) => self.clone(),
            Self::Runtime | Self::Agent | Self::Functional => other.clone(),
        }
    }

    /// Returns the crate with this span, so errors about what follows it point there.
    pub(crate) fn at(&self, span: Span) -> TokenStream {
        match self {
            Self::Runtime => quote_spanned!(span=> ::langgraph),
            Self::Agent => quote_spanned!(span=> ::langgraph_agent),
            Self::Functional => quote_spanned!(span=> ::langgraph_functional),
            Self::Given(path) => path.to_token_stream(),
        }
    }
}

impl ToTokens for Root {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        // `mixed_site`, so that the path has the same meaning inside a `macro_rules!` of the user.
        tokens.extend(self.at(Span::mixed_site()));
    }
}

/// `::langgraph`.
pub(crate) fn root() -> Root {
    Root::Runtime
}
