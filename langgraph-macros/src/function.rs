//! What `#[node]`, `#[tool]`, `#[task]` and `#[entrypoint]` share.

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::{Attribute, Meta, Safety, Signature, Type, TypeReference};

use crate::diag::Errors;

/// Returns a noun with its article.
pub(crate) fn with_article(noun: &str) -> String {
    let article = if noun.starts_with(['a', 'e', 'i', 'o']) {
        "an"
    } else {
        "a"
    };
    format!("{article} {noun}")
}

/// Refuses unsupported qualifiers of a function; `what` is a node or a tool.
pub(crate) fn qualifiers(sig: &Signature, what: &str, errors: &mut Errors) {
    let a_what = with_article(what);
    if let Some(token) = &sig.constness {
        errors.on(
            token,
            format!("{a_what} is not a `const fn`: it runs when the graph does"),
        );
    }
    if let Safety::Unsafe(token) = &sig.safety {
        errors.on(
            token,
            format!("{a_what} is not an `unsafe fn`: the graph calls it; put the unsafe part into a safe function"),
        );
    }
    if let Some(token) = &sig.abi {
        errors.on(
            token,
            format!("{a_what} is a Rust function, found a foreign ABI"),
        );
    }
    if let Some(token) = &sig.variadic {
        errors.on(token, format!("{a_what} has no variadic arguments"));
    }
}

/// Returns the text of the doc comments.
pub(crate) fn docs(attrs: &[Attribute]) -> Option<String> {
    let mut lines = Vec::new();
    for attr in attrs {
        if let Meta::NameValue(meta) = &attr.meta
            && attr.path().is_ident("doc")
            && let syn::Expr::Lit(literal) = &meta.value
            && let syn::Lit::Str(text) = &literal.lit
        {
            let text = text.value();
            lines.extend(
                text.split('\n')
                    .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end().to_owned()),
            );
        }
    }
    let text = lines.join("\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Splits attributes between the outer function, which is called, and the inner one, which holds
/// the body.
///
/// Documentation and attributes of the item stay outside. Attributes of other macros, such as
/// `#[instrument]`, go to the user's async function; lints go to both.
pub(crate) fn split_attributes(attrs: &[Attribute]) -> (Vec<&Attribute>, Vec<Attribute>) {
    let is = |attr: &Attribute, names: &[&str]| names.iter().any(|name| attr.path().is_ident(name));
    let lints = ["allow", "warn", "deny", "forbid", "expect"];
    let item = ["doc", "deprecated", "must_use", "cfg", "inline", "cold"];
    let outer = attrs
        .iter()
        .filter(|attr| is(attr, &item) || is(attr, &["allow", "warn", "deny", "forbid"]));
    let inner = attrs
        .iter()
        .filter(|attr| !is(attr, &item) || is(attr, &lints));
    (outer.collect(), inner.cloned().collect())
}

/// Returns the reference that a type is, through parentheses and the groups of a `macro_rules!`.
pub(crate) fn reference(ty: &Type) -> Option<&TypeReference> {
    match ty {
        Type::Reference(reference) => Some(reference),
        Type::Paren(inner) => reference(&inner.elem),
        Type::Group(inner) => reference(&inner.elem),
        _ => None,
    }
}

/// Returns the first token of an item after its attributes, which are not the subject of the error.
pub(crate) fn first_token(item: &TokenStream) -> TokenStream {
    let mut trees = item.clone().into_iter().peekable();
    while matches!(trees.peek(), Some(TokenTree::Punct(punct)) if punct.as_char() == '#') {
        trees.next();
        trees.next();
    }
    trees.next().into_iter().collect()
}

/// Returns the span of a type's name, which is more specific than its first token.
pub(crate) fn type_span(ty: &Type) -> Span {
    match ty {
        Type::Path(path) => match path.path.segments.last() {
            Some(last) => last.ident.span(),
            None => ty.span(),
        },
        Type::Reference(reference) => type_span(&reference.elem),
        Type::Paren(inner) => type_span(&inner.elem),
        Type::Group(inner) => type_span(&inner.elem),
        _ => ty.span(),
    }
}
