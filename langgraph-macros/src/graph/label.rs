//! Formats tokens for the labels of drawn lines.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Returns the text of a pattern or an expression, on one line.
pub(crate) fn label(tokens: TokenStream) -> String {
    let mut text = String::new();
    write(tokens, &mut text);
    text
}

/// Operators of more than one character, longer ones first.
const OPERATORS: &[&str] = &[
    "..=", "::", "..", "&&", "||", "==", "!=", "<=", ">=", "->", "=>", "<<", ">>",
];

fn write(tokens: TokenStream, text: &mut String) {
    // True after a value, where an operator is binary and a word needs a space.
    let mut value = false;
    let mut run = String::new();
    for tree in tokens {
        if let TokenTree::Punct(punct) = &tree {
            run.push(punct.as_char());
            if punct.spacing() == Spacing::Joint {
                continue;
            }
        }
        operators(&mut run, &mut value, text);
        match tree {
            TokenTree::Punct(_) => {}
            TokenTree::Ident(_) | TokenTree::Literal(_) => {
                if value {
                    text.push(' ');
                }
                let word = tree.to_string();
                text.push_str(&word);
                value = !matches!(&*word, "if" | "in" | "ref" | "mut" | "move" | "as");
                if !value {
                    text.push(' ');
                }
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => (" { ", " }"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(if value { open } else { open.trim_start() });
                write(group.stream(), text);
                text.push_str(close);
                value = true;
            }
        }
    }
    operators(&mut run, &mut value, text);
    text.truncate(text.trim_end().len());
}

/// Writes a run of punctuation, and clears it.
fn operators(run: &mut String, value: &mut bool, text: &mut String) {
    let mut rest = run.as_str();
    while let Some(first) = rest.chars().next() {
        let mut known = OPERATORS
            .iter()
            .filter(|operator| rest.starts_with(**operator));
        let length = known
            .next()
            .map_or(first.len_utf8(), |operator| operator.len());
        let (operator, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        match operator {
            "," | ":" => {
                text.push_str(operator);
                text.push(' ');
            }
            "::" | ".." | "..=" | "." | "?" | "'" | "#" => text.push_str(operator),
            // A sign, a reference, a negation: without a space after it.
            _ if !*value => text.push_str(operator),
            _ => {
                text.push(' ');
                text.push_str(operator);
                text.push(' ');
            }
        }
        *value = operator == "?";
        rest = after;
    }
    run.clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn labels_read_like_source() {
        let cases = [
            (quote!(Next::CallTools), "Next::CallTools"),
            (quote!(Route::Write(topics)), "Route::Write(topics)"),
            (
                quote!(Route::Write { topics, .. }),
                "Route::Write { topics, .. }",
            ),
            (
                quote!(Some(Route::A | Route::B)),
                "Some(Route::A | Route::B)",
            ),
            (quote!(&[first, ..]), "&[first, ..]"),
            (quote!(1..=5), "1..=5"),
            (quote!(n if n > 3), "n if n > 3"),
            (quote!(n if *n >= 3 && !done), "n if *n >= 3 && !done"),
            (quote!(x @ Some(_)), "x @ Some(_)"),
            (quote!("yes"), "\"yes\""),
            (quote!(_), "_"),
            (quote!(-1), "-1"),
        ];
        for (tokens, expected) in cases {
            assert_eq!(label(tokens), expected);
        }
    }
}
