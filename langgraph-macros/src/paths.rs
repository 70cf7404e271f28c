//! Where the crates are that expansions call.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote_spanned};

/// The crate that an expansion calls.
///
/// Each of these crates names itself as others do, so the defaults are right in its own code too.
#[derive(Clone, Default)]
pub(crate) enum Root {
    /// `::langgraph`.
    #[default]
    Runtime,
    /// `::langgraph_agent`.
    Agent,
    /// What `crate = path` says.
    Given(syn::Path),
}

impl Root {
    /// The path a user gave with `crate = …`.
    pub(crate) fn given(path: syn::Path) -> Self {
        Self::Given(path)
    }

    /// This path, or another where none was given.
    pub(crate) fn or(&self, other: &Self) -> Self {
        match self {
            Self::Given(_) => self.clone(),
            Self::Runtime | Self::Agent => other.clone(),
        }
    }

    /// The crate, named at `span`: an error about what follows it then lands there.
    pub(crate) fn at(&self, span: Span) -> TokenStream {
        match self {
            Self::Runtime => quote_spanned!(span=> ::langgraph),
            Self::Agent => quote_spanned!(span=> ::langgraph_agent),
            Self::Given(path) => path.to_token_stream(),
        }
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
    Root::Runtime
}
