//! The options of `#[task(…)]` and `#[entrypoint(…)]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Expr, Ident, LitStr};

use crate::diag::{Errors, suggestion};
use crate::paths::Root;

const KEYS: [&str; 5] = ["name", "retry", "timeout", "idle_timeout", "crate"];

/// The options of a function.
pub(super) struct Options {
    pub(super) root: Root,
    pub(super) name: Option<LitStr>,
    /// Methods of the node, with their arguments.
    policies: Vec<(Ident, Expr)>,
}

impl Options {
    /// Reads the options; it reports each mistake and keeps the rest.
    pub(super) fn read(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self {
            root: Root::Functional,
            name: None,
            policies: Vec::new(),
        };
        let parser = syn::meta::parser(|meta| {
            let name = meta.path.get_ident().map(Ident::to_string);
            match name.as_deref() {
                Some("crate") => options.root = Root::given(meta.value()?.parse()?),
                Some("name") => options.name = Some(meta.value()?.parse()?),
                Some("retry" | "timeout" | "idle_timeout") => {
                    let method = meta.path.require_ident()?.clone();
                    options.policies.push((method, meta.value()?.parse()?));
                }
                other => {
                    let hint = suggestion(other.unwrap_or_default(), KEYS);
                    let expected = if hint.is_empty() {
                        ", expected `name = \"…\"`, `retry = …`, `timeout = …`, `idle_timeout = …` or `crate = …`"
                    } else {
                        &hint
                    };
                    return Err(meta.error(format!("unknown option{expected}")));
                }
            }
            Ok(())
        });
        errors.ok(syn::parse::Parser::parse2(parser, tokens));
        options
    }

    /// Prints the node with its policies.
    pub(super) fn configured(&self, node: impl ToTokens) -> TokenStream {
        let root = &self.root;
        self.policies.iter().fold(node.to_token_stream(), |node, (method, value)| {
            quote!(#root::__private::langgraph::graph::NodeExt::#method(#node, #value))
        })
    }
}
