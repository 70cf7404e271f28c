//! Paths of the crates that expansions call.

use proc_macro2::{Ident, Punct, Spacing, Span, TokenStream};
use quote::{ToTokens, TokenStreamExt as _};

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
        let mut tokens = TokenStream::new();
        self.print(span, &mut tokens);
        tokens
    }

    /// Prints token by token: adding a stream to another one is a call of the compiler, and each expansion names its
    /// crate many times.
    fn print(&self, span: Span, tokens: &mut TokenStream) {
        let name = match self {
            Self::Runtime => "langgraph",
            Self::Agent => "langgraph_agent",
            Self::Functional => "langgraph_functional",
            Self::Given(path) => return path.to_tokens(tokens),
        };
        for spacing in [Spacing::Joint, Spacing::Alone] {
            let mut colon = Punct::new(':', spacing);
            colon.set_span(span);
            tokens.append(colon);
        }
        tokens.append(Ident::new(name, span));
    }
}

impl ToTokens for Root {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        // `mixed_site`, so that the path has the same meaning inside a `macro_rules!` of the user.
        self.print(Span::mixed_site(), tokens);
    }
}

/// `::langgraph`.
pub(crate) fn root() -> Root {
    Root::Runtime
}
