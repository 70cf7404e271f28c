//! The options of `#[task(…)]` and `#[entrypoint(…)]`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::{Expr, Ident, LitStr, Token};

use crate::diag::{Errors, suggestion};
use crate::paths::Root;

/// The options of both attributes.
const KEYS: [&str; 6] = ["name", "retry", "timeout", "idle_timeout", "cache", "crate"];
/// The options that only entrypoints have.
const ENTRYPOINT_KEYS: [&str; 2] = ["interrupts", "allow"];
/// The options that only tasks have.
const TASK_KEYS: [&str; 1] = ["anywhere"];

/// The options of a function.
pub(super) struct Options {
    pub(super) root: Root,
    pub(super) name: Option<LitStr>,
    /// True if the body may be different when it runs again.
    pub(super) allows_nondeterminism: bool,
    /// True if the task may run in another process.
    pub(super) anywhere: bool,
    /// Methods of the node, with their arguments.
    policies: Vec<(Ident, Policy)>,
}

/// The argument of a method of a node.
enum Policy {
    /// A method without an argument.
    Flag,
    /// The default argument, which depends on what the function is.
    Default,
    Given(Box<Expr>),
}

impl Options {
    /// Reads the options of a task or an entrypoint; it reports each mistake and keeps the rest.
    pub(super) fn read(what: &str, tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self {
            root: Root::Functional,
            name: None,
            allows_nondeterminism: false,
            anywhere: false,
            policies: Vec::new(),
        };
        let parser = syn::meta::parser(|meta| options.take(what, &meta));
        errors.ok(syn::parse::Parser::parse2(parser, tokens));
        options
    }

    fn take(&mut self, what: &str, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let name = meta.path.get_ident().map(Ident::to_string);
        match name.as_deref() {
            Some("crate") => self.root = Root::given(meta.value()?.parse()?),
            Some("name") => self.name = Some(meta.value()?.parse()?),
            Some("retry" | "timeout" | "idle_timeout") => {
                let argument = Policy::Given(Box::new(meta.value()?.parse()?));
                self.policies
                    .push((meta.path.require_ident()?.clone(), argument));
            }
            Some("cache") => {
                let argument = if meta.input.peek(Token![=]) {
                    Policy::Given(Box::new(meta.value()?.parse()?))
                } else {
                    Policy::Default
                };
                self.policies
                    .push((meta.path.require_ident()?.clone(), argument));
            }
            Some("interrupts") if what == "entrypoint" => {
                self.policies
                    .push((meta.path.require_ident()?.clone(), Policy::Flag));
            }
            Some("anywhere") if what == "task" => {
                self.anywhere = true;
                self.policies
                    .push((meta.path.require_ident()?.clone(), Policy::Flag));
            }
            Some("allow") if what == "entrypoint" => {
                meta.parse_nested_meta(|allowed| {
                    if allowed.path.is_ident("nondeterminism") {
                        self.allows_nondeterminism = true;
                        return Ok(());
                    }
                    Err(allowed.error("expected `allow(nondeterminism)`"))
                })?;
            }
            other => return Err(meta.error(unknown(what, other.unwrap_or_default()))),
        }
        Ok(())
    }

    /// Prints the name of the function as threads, events and pictures show it.
    pub(super) fn text(&self, function: &Ident) -> TokenStream {
        match &self.name {
            Some(name) => name.to_token_stream(),
            None => function.unraw().to_string().to_token_stream(),
        }
    }

    /// Prints the path of serde for `#[serde(crate = …)]`.
    pub(super) fn serde(&self) -> String {
        let root = &self.root;
        quote!(#root::__private::serde).to_string().replace(' ', "")
    }

    /// Prints the derives of what threads store. Errors about a field's type point at `span`.
    pub(super) fn derives(&self, span: Span) -> TokenStream {
        let root = self.root.at(span);
        quote_spanned! {span=>
            ::core::clone::Clone,
            ::core::fmt::Debug,
            #root::__private::serde::Serialize,
            #root::__private::serde::Deserialize
        }
    }

    /// Prints the node with its policies. `cached` is the policy of `cache` without an argument.
    pub(super) fn configured(&self, node: impl ToTokens, cached: &TokenStream) -> TokenStream {
        let root = &self.root;
        self.policies
            .iter()
            .fold(node.to_token_stream(), |node, (method, argument)| {
                let argument = match argument {
                    Policy::Flag => None,
                    Policy::Default => Some(cached.clone()),
                    Policy::Given(value) => Some(value.to_token_stream()),
                };
                let arguments = argument.into_iter();
                quote!(#root::__private::langgraph::graph::NodeExt::#method(#node #(, #arguments)*))
            })
    }
}

fn unknown(what: &str, name: &str) -> String {
    let (own, more): (&[&str], _) = if what == "entrypoint" {
        (&ENTRYPOINT_KEYS, "`interrupts`, `allow(nondeterminism)`")
    } else {
        (&TASK_KEYS, "`anywhere`")
    };
    let hint = suggestion(name, KEYS.iter().chain(own).copied());
    if !hint.is_empty() {
        return format!("unknown option of `#[{what}]`{hint}");
    }
    format!(
        "unknown option of `#[{what}]`, expected `name = \"…\"`, `retry = …`, `timeout = …`, `idle_timeout = …`, \
         `cache`, `cache = …`, {more} or `crate = …`"
    )
}
