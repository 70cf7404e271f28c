//! The options of `#[tool(…)]`, on the function and on an argument.

use proc_macro2::TokenStream;
use syn::{Attribute, Expr, Ident, LitStr, Meta};

use crate::diag::{Errors, suggestion};
use crate::paths::Root;

const KEYS: [&str; 4] = ["name", "description", "return_directly", "crate"];
const ARGUMENT_KEYS: [&str; 3] = ["default", "rename", "description"];

/// The options of `#[tool(…)]` on the function.
pub(super) struct ToolOptions {
    /// The path of `langgraph-agent`.
    pub(super) root: Root,
    /// The name for the model, if it is not the function's.
    pub(super) name: Option<LitStr>,
    /// The description, if it is not the doc comment.
    pub(super) description: Option<LitStr>,
    /// The tool's answer is the agent's answer.
    pub(super) return_directly: bool,
}

impl ToolOptions {
    /// Reads the options; it reports each mistake and keeps the rest.
    pub(super) fn read(tokens: TokenStream, errors: &mut Errors) -> Self {
        let mut options = Self {
            root: Root::Agent,
            name: None,
            description: None,
            return_directly: false,
        };
        let parser = syn::meta::parser(|meta| {
            if meta.path.is_ident("crate") {
                options.root = Root::given(meta.value()?.parse()?);
            } else if meta.path.is_ident("name") {
                let name: LitStr = meta.value()?.parse()?;
                check_name(&name)?;
                options.name = Some(name);
            } else if meta.path.is_ident("description") {
                options.description = Some(meta.value()?.parse()?);
            } else if meta.path.is_ident("return_directly") {
                options.return_directly = true;
            } else {
                return Err(unknown(&meta.path, "`#[tool]`", &KEYS));
            }
            Ok(())
        });
        errors.ok(syn::parse::Parser::parse2(parser, tokens));
        options
    }
}

/// Checks that every provider accepts the name of the tool.
fn check_name(name: &LitStr) -> syn::Result<()> {
    let text = name.value();
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if (1..=64).contains(&text.len()) && text.chars().all(fits) {
        return Ok(());
    }
    Err(syn::Error::new(
        name.span(),
        "a tool's name is 1 to 64 letters, digits, `_` or `-`: model providers refuse others",
    ))
}

/// The value of an argument if the model gives none.
#[derive(Default)]
pub(super) enum Fallback {
    /// The model must give one, or the type has a value for a missing one.
    #[default]
    None,
    /// The default of the type.
    OfType,
    Value(Box<Expr>),
}

/// The attributes of an argument.
#[derive(Default)]
pub(super) struct ArgumentOptions {
    /// Doc comments, and attributes of `serde` and `schemars`, which go to the field.
    pub(super) passed: Vec<Attribute>,
    pub(super) default: Fallback,
    pub(super) rename: Option<LitStr>,
    pub(super) description: Option<LitStr>,
}

/// Reads the attributes of an argument.
pub(super) fn argument(attrs: &[Attribute], errors: &mut Errors) -> ArgumentOptions {
    let mut options = ArgumentOptions::default();
    for attr in attrs {
        let passed = ["doc", "serde", "schemars"];
        if passed.iter().any(|name| attr.path().is_ident(name)) {
            options.passed.push(attr.clone());
        } else if attr.path().is_ident("tool") {
            let result = match &attr.meta {
                Meta::List(list) if !list.tokens.is_empty() => attr.parse_nested_meta(|meta| {
                    if meta.path.is_ident("default") {
                        let given = meta.input.peek(syn::Token![=]);
                        options.default = if given {
                            Fallback::Value(meta.value()?.parse()?)
                        } else {
                            Fallback::OfType
                        };
                    } else if meta.path.is_ident("rename") {
                        options.rename = Some(meta.value()?.parse()?);
                    } else if meta.path.is_ident("description") {
                        options.description = Some(meta.value()?.parse()?);
                    } else {
                        return Err(unknown(&meta.path, "an argument", &ARGUMENT_KEYS));
                    }
                    Ok(())
                }),
                _ => Err(syn::Error::new_spanned(
                    attr,
                    "expected a list of options, such as `#[tool(default = 10)]`",
                )),
            };
            errors.ok(result);
        } else {
            errors.on(
                attr,
                "an argument of a tool takes doc comments, `#[tool(…)]`, `#[serde(…)]` and `#[schemars(…)]`",
            );
        }
    }
    options
}

fn unknown(path: &syn::Path, of: &str, known: &[&str]) -> syn::Error {
    let name = path.get_ident().map(Ident::to_string).unwrap_or_default();
    let hint = suggestion(&name, known.iter().copied());
    let hint = if hint.is_empty() {
        let known: Vec<_> = known.iter().map(|key| format!("`{key}`")).collect();
        format!(", expected {}", known.join(", "))
    } else {
        hint
    };
    syn::Error::new_spanned(path, format!("unknown option of {of}{hint}"))
}
