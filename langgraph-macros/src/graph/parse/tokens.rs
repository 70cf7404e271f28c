//! Inspects tokens: the next one, and the user's likely intention.

use proc_macro2::{Delimiter, Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseBuffer, ParseStream};
use syn::{Expr, Token, token};

use super::STAGES;

/// Returns why the next token cannot be a node, with the correct form.
pub(super) fn not_a_node(input: ParseStream<'_>) -> Option<String> {
    let (tree, _) = input.cursor().token_tree()?;
    let hint = match tree {
        TokenTree::Literal(literal) => {
            let text = literal.to_string();
            let name = text.trim_matches('"');
            if text.starts_with('"') && syn::parse_str::<Ident>(name).is_ok() {
                format!("a node is a name that is in scope, not a string: write `{name}`")
            } else {
                format!("expected {STAGES}, found `{text}`")
            }
        }
        TokenTree::Group(group) => match group.delimiter() {
            Delimiter::Parenthesis => {
                "nodes that run side by side stand in brackets, as in `[a, b]`".to_owned()
            }
            Delimiter::Brace => format!("expected {STAGES}, found `{{`"),
            _ => return None,
        },
        TokenTree::Punct(punct) => match punct.as_char() {
            ':' | '<' => return None,
            '&' => "a node is given by its name alone: remove the `&`".to_owned(),
            '|' => "a closure needs a name here: give it one with `let name = |state: &State| …;` \
                    before the chains"
                .to_owned(),
            '=' if input.peek(Token![=>]) => "expected a node or `START` before `=>`".to_owned(),
            other => format!("expected {STAGES}, found `{other}`"),
        },
        TokenTree::Ident(word) => match &*word.to_string() {
            "loop" | "while" => {
                "a loop is written as an edge back to the node where it begins, as in `b => a`"
                    .to_owned()
            }
            "break" | "return" => "the end of a branch is written `END`".to_owned(),
            "continue" => "name the node to go on with".to_owned(),
            "else" => "`else` belongs to an `if` stage".to_owned(),
            "self" | "Self" | "super" | "crate" => return None,
            "fn" | "async" | "use" | "const" | "static" | "struct" | "enum" | "impl" | "mod" => {
                format!(
                    "`{word}` cannot stand in `graph!`: it holds chains, `let`s and `type State`"
                )
            }
            _ if input.peek(syn::Ident) => return None,
            _ => format!("expected {STAGES}, found the keyword `{word}`"),
        },
    };
    Some(hint)
}

/// Returns true if a stage can begin here.
pub(super) fn begins_stage(input: ParseStream<'_>) -> bool {
    let keyword = input.peek(Token![match])
        || input.peek(Token![if])
        || input.peek(Token![for])
        || input.peek(Token![let])
        || input.peek(Token![type]);
    keyword || input.peek(Ident::peek_any) || input.peek(token::Bracket) || input.peek(Token![::])
}

/// Returns true if a chain must end here.
pub(super) fn ends_chain(input: ParseStream<'_>) -> bool {
    input.is_empty() || input.peek(Token![;]) || input.peek(Token![,])
}

/// Returns true if a chain follows.
pub(super) fn arrow_before_semicolon(input: ParseStream<'_>) -> bool {
    let rest = input.fork();
    while !rest.is_empty() && !rest.peek(Token![;]) {
        if rest.peek(Token![=>]) {
            return true;
        }
        skip_one(&rest);
    }
    false
}

/// Returns the next token for a message.
pub(super) fn found(input: ParseStream<'_>) -> String {
    match input.cursor().token_tree() {
        Some((TokenTree::Group(group), _)) => match group.delimiter() {
            Delimiter::Parenthesis => "`(`".to_owned(),
            Delimiter::Brace => "`{`".to_owned(),
            _ => "`[`".to_owned(),
        },
        Some((tree, _)) => format!("`{tree}`"),
        None => "the end".to_owned(),
    }
}

/// Returns the span of the next token, or `otherwise` at the end.
pub(super) fn input_span(input: ParseStream<'_>, otherwise: Span) -> Span {
    input
        .cursor()
        .token_tree()
        .map_or(otherwise, |(tree, _)| tree.span())
}

/// Skips one token, or one bracketed group.
pub(super) fn skip_one(input: ParseStream<'_>) {
    // Parsing a token tree fails only at the end, where there is nothing to skip.
    let _: syn::Result<TokenTree> = input.parse();
}

/// Skips to the next statement.
pub(super) fn skip_past_semicolon(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![;]) {
        skip_one(input);
    }
    skip_one(input);
}

pub(super) fn word(input: ParseStream<'_>) -> syn::Result<Ident> {
    input.parse()
}

/// Parses the arguments of a call.
pub(super) fn arguments(input: ParseStream<'_>) -> syn::Result<(token::Paren, Vec<Expr>)> {
    let content;
    let paren = syn::parenthesized!(content in input);
    let arguments = content.parse_terminated(Expr::parse, Token![,])?;
    Ok((paren, arguments.into_iter().collect()))
}

pub(super) fn bracketed(input: ParseStream<'_>) -> syn::Result<(token::Bracket, ParseBuffer<'_>)> {
    let content;
    let bracket = syn::bracketed!(content in input);
    Ok((bracket, content))
}

pub(super) fn braced(input: ParseStream<'_>) -> syn::Result<(token::Brace, ParseBuffer<'_>)> {
    let content;
    let brace = syn::braced!(content in input);
    Ok((brace, content))
}

/// Returns true for an expression whose last token is a `}`.
pub(super) fn ends_in_braces(expression: &Expr) -> bool {
    let last = expression.to_token_stream().into_iter().last();
    matches!(last, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace)
}

/// Collects the names that a pattern may bind: its lower-case words.
pub(super) fn bound_names(pattern: &TokenStream, names: &mut Vec<Ident>) {
    for tree in pattern.clone() {
        match tree {
            TokenTree::Ident(ident) => {
                let text = ident.to_string();
                if text.starts_with(|first: char| first.is_lowercase() || first == '_') {
                    names.push(ident);
                }
            }
            TokenTree::Group(group) => bound_names(&group.stream(), names),
            _ => {}
        }
    }
}
