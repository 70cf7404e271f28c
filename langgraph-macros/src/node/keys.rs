//! The keys under which threads remember calls of a node, as far as its body shows them.
//!
//! A key is known if it is a literal, and a type if it is written at the call or at the `let` of its
//! value. What the body calls elsewhere is not known.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Generics, LitStr, Type};

use super::checked::{is_self_contained, takes_no_type};
use super::needs::is_inferred;
use crate::compact::compact;
use crate::paths::Root;

/// A call by a key.
#[derive(Debug)]
pub(crate) struct Key {
    kind: Kind,
    /// The key; empty if it is made at run time.
    text: String,
    /// The type; empty if it is unknown.
    ty: TokenStream,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Interrupt,
    Once,
}

impl Kind {
    /// Prints the variant of `KeyKind`.
    fn variant(self) -> TokenStream {
        match self {
            Self::Interrupt => quote!(Interrupt),
            Self::Once => quote!(Once),
        }
    }
}

/// Finds the calls in the body of a function, each key once.
fn find(body: TokenStream) -> Vec<Key> {
    let mut found = Vec::new();
    read(body, &mut found);
    found
}

/// Prints the keys in the body of a function as values, with the shapes of their types if these have the same
/// meaning outside of the function.
pub(crate) fn print(
    lib: &TokenStream,
    body: &TokenStream,
    generics: &[&Generics],
) -> Vec<TokenStream> {
    let keys = find(body.clone());
    if keys.is_empty() {
        return Vec::new();
    }
    let is_plain = generics.iter().all(|generics| takes_no_type(generics)) && !has_items(body);
    let keys = keys.into_iter();
    keys.map(|Key { kind, text, ty }| {
        let (kind, name) = (kind.variant(), compact(&ty));
        let key =
            quote!(#lib::graph::KeyInfo::new(#text, #lib::graph::KeyKind::#kind).typed(#name));
        match syn::parse2::<Type>(ty) {
            Ok(ty) if is_plain && is_self_contained(&ty) && !is_inferred(ty.to_token_stream()) => {
                quote!(#lib::__private::Shaped::<#ty>::TYPE.add_to(#key))
            }
            _ => key,
        }
    })
    .collect()
}

/// Prints the function of the metadata that returns the keys.
pub(super) fn function(root: &Root, body: &TokenStream, generics: &[&Generics]) -> TokenStream {
    let keys = print(&quote!(#root), body, generics);
    if keys.is_empty() {
        return TokenStream::new();
    }
    quote! {
        #[allow(deprecated, unused_imports, clippy::all, clippy::pedantic)]
        fn keys() -> #root::__private::Vec<#root::graph::KeyInfo> {
            use #root::__private::UnknownShape as _;
            #root::__private::Vec::from([#(#keys),*])
        }
    }
}

/// Returns true if a body may declare types, or give names another meaning.
fn has_items(body: &TokenStream) -> bool {
    body.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => has_items(&group.stream()),
        TokenTree::Ident(word) => {
            let items = [
                "cfg", "const", "enum", "mod", "static", "struct", "type", "union", "use",
            ];
            items.iter().any(|item| word == item)
        }
        _ => false,
    })
}

fn read(tokens: TokenStream, found: &mut Vec<Key>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    // The type of the `let` whose value is being read.
    let mut declared = None;
    while let [first, behind @ ..] = rest {
        if is_word(first, "let") {
            declared = type_of_let(behind);
        } else if is_punct(first, ';') {
            declared = None;
        }
        if let (true, Some((key, after))) = (is_punct(first, '.'), call(behind)) {
            let mut key = key;
            if let (true, true, Some(ty)) = (key.ty.is_empty(), ends_value(after), &declared) {
                key.ty = ty.clone();
            }
            add(key, found);
        }
        if let TokenTree::Group(group) = first {
            read(group.stream(), found);
        }
        rest = behind;
    }
}

/// Adds a key, or the type of a known one.
fn add(key: Key, found: &mut Vec<Key>) {
    let known = |one: &&mut Key| one.kind == key.kind && one.text == key.text;
    match found.iter_mut().find(known) {
        Some(known) if known.ty.is_empty() => known.ty = key.ty,
        Some(_) => {}
        None => found.push(key),
    }
}

/// Reads `name::<Type>("key", …)`, and returns the tokens after it.
fn call(tokens: &[TokenTree]) -> Option<(Key, &[TokenTree])> {
    let (name, rest) = tokens.split_first()?;
    let TokenTree::Ident(name) = name else {
        return None;
    };
    let kind = match () {
        () if name == "interrupt" || name == "interrupt_checked" => Kind::Interrupt,
        () if name == "interrupt_next" => Kind::Interrupt,
        () if name == "once" || name == "once_with" => Kind::Once,
        () => return None,
    };
    let (ty, rest) = turbofish(rest);
    let (TokenTree::Group(arguments), after) = rest.split_first()? else {
        return None;
    };
    let key = literal(arguments.stream()).filter(|_| name != "interrupt_next");
    let text = match kind {
        // What the key is, the run decides.
        Kind::Interrupt if !arguments.stream().is_empty() => key.unwrap_or_default(),
        _ => key?,
    };
    let key = Key { kind, text, ty };
    Some((key, after))
}

/// Reads `::<Type, …>`: the first type, and the tokens after it.
fn turbofish(tokens: &[TokenTree]) -> (TokenStream, &[TokenTree]) {
    let unknown = (TokenStream::new(), tokens);
    let [first, second, third, rest @ ..] = tokens else {
        return unknown;
    };
    if !(is_punct(first, ':') && is_punct(second, ':') && is_punct(third, '<')) {
        return unknown;
    }
    let (mut depth, mut ty, mut is_first) = (1_usize, TokenStream::new(), true);
    for (index, token) in rest.iter().enumerate() {
        if is_punct(token, '<') {
            depth += 1;
        } else if is_punct(token, '>') {
            depth -= 1;
        }
        if depth == 0 {
            return (named(ty), rest.get(index + 1..).unwrap_or_default());
        }
        is_first &= depth > 1 || !is_punct(token, ',');
        if is_first {
            ty.extend([token.clone()]);
        }
    }
    unknown
}

/// Returns a type; empty if it is inferred.
fn named(ty: TokenStream) -> TokenStream {
    if compact(&ty) == "_" {
        TokenStream::new()
    } else {
        ty
    }
}

/// Returns the literal at the start of the arguments: the key, or its name in `("pay", number)` or in
/// `OnceKey::new("pay").with(number)`.
fn literal(arguments: TokenStream) -> Option<String> {
    let mut tokens = arguments.into_iter();
    let mut first = tokens.next()?;
    if is_word(&first, "OnceKey") {
        first = tokens.find(|token| matches!(token, TokenTree::Group(_)))?;
    }
    match first {
        TokenTree::Group(inner) if inner.delimiter() == Delimiter::Parenthesis => {
            literal(inner.stream())
        }
        token => {
            let literal: LitStr = syn::parse2(token.into()).ok()?;
            Some(literal.value())
        }
    }
}

/// Reads `name: Type =` after `let`.
fn type_of_let(tokens: &[TokenTree]) -> Option<TokenStream> {
    let start = tokens.iter().position(|token| is_punct(token, ':'))?;
    let end = tokens.iter().position(|token| is_punct(token, '='))?;
    let ty = tokens.get(start + 1..end)?;
    Some(named(ty.iter().cloned().collect()))
}

/// Returns true if the value of the `let` ends here, at most after `.await` and `?`.
fn ends_value(mut tokens: &[TokenTree]) -> bool {
    if let [dot, word, rest @ ..] = tokens
        && is_punct(dot, '.')
        && is_word(word, "await")
    {
        tokens = rest;
    }
    matches!(tokens, [mark, end, ..] if is_punct(mark, '?') && is_punct(end, ';'))
}

fn is_punct(token: &TokenTree, wanted: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == wanted)
}

fn is_word(token: &TokenTree, wanted: &str) -> bool {
    matches!(token, TokenTree::Ident(word) if word == wanted)
}

#[cfg(test)]
mod tests {
    use super::{Key, Kind, compact, find};

    fn keys(body: &str) -> Vec<(Kind, String, String)> {
        let body = body.parse().expect("the text of a test is tokens");
        let keys = find(body).into_iter();
        keys.map(|Key { kind, text, ty }| (kind, text, compact(&ty)))
            .collect()
    }

    #[test]
    fn keys_and_types_are_found_where_they_are_written() {
        let body = r#"
            let ok: Vec<u8> = cx.interrupt_checked("seats", "How many?", |n| { Ok(n) })?;
            if cx.interrupt::<bool>("sure", &1)? { return; }
            let other = cx.interrupt("open", "?")?;
            let text: String = cx.interrupt::<_>("name", "?").unwrap_or_default();
            cx.once::<Receipt, _>(("pay", &state.amount), async { pay().await }).await?;
            let sum: u64 = cx.once(OnceKey::new("sum").with(1), work).await?;
            cx.interrupt(&format!("dynamic"), "?")?;
            other("sure");
        "#;
        let found = keys(body);
        let found = found.iter().map(|(kind, key, ty)| (*kind, &**key, &**ty));
        let found: Vec<_> = found.collect();
        assert_eq!(
            found,
            [
                (Kind::Interrupt, "seats", "Vec<u8>"),
                (Kind::Interrupt, "sure", "bool"),
                (Kind::Interrupt, "open", ""),
                (Kind::Interrupt, "name", ""),
                (Kind::Once, "pay", "Receipt"),
                (Kind::Once, "sum", "u64"),
                (Kind::Interrupt, "", ""),
            ]
        );
    }
}
