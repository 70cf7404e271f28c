//! Tokens as a person would write them, for the labels of drawn lines.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// The text of a pattern or an expression, on one line.
pub(crate) fn label(tokens: TokenStream) -> String {
    let mut text = String::new();
    write(tokens, &mut text);
    text
}

fn write(tokens: TokenStream, text: &mut String) {
    // Whether a space is due before the next token, if that is a word.
    let mut gap = false;
    let mut previous_joint = false;
    for tree in tokens {
        match tree {
            TokenTree::Ident(ident) => {
                space(text, gap);
                text.push_str(&ident.to_string());
                gap = true;
                previous_joint = false;
            }
            TokenTree::Literal(literal) => {
                space(text, gap);
                text.push_str(&literal.to_string());
                gap = true;
                previous_joint = false;
            }
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => (" { ", " }"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(if gap { open } else { open.trim_start() });
                write(group.stream(), text);
                text.push_str(close);
                gap = true;
                previous_joint = false;
            }
            TokenTree::Punct(punct) => {
                let mark = punct.as_char();
                // `::`, `..`, `&`, `.` and `!` stand close; others as operators do.
                match mark {
                    ',' => {
                        text.push_str(", ");
                        gap = false;
                    }
                    ':' | '.' | '&' | '!' | '?' | '\'' | '@' | '#' => {
                        let typed = mark == ':' && punct.spacing() == Spacing::Alone;
                        text.push(mark);
                        if typed && !previous_joint {
                            text.push(' ');
                        }
                        gap = false;
                    }
                    _ => {
                        if !previous_joint {
                            space(text, true);
                        }
                        text.push(mark);
                        if punct.spacing() == Spacing::Alone {
                            text.push(' ');
                        }
                        gap = false;
                    }
                }
                previous_joint = punct.spacing() == Spacing::Joint;
            }
        }
    }
    text.truncate(text.trim_end().len());
}

fn space(text: &mut String, due: bool) {
    if due && !text.is_empty() && !text.ends_with([' ', '(', '[']) {
        text.push(' ');
    }
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
            (quote!(n if *n >= 3 && !done), "n if *n >= 3 &&!done"),
            (quote!(x @ Some(_)), "x@Some(_)"),
            (quote!("yes"), "\"yes\""),
            (quote!(_), "_"),
            (quote!(-1), "-1"),
        ];
        for (tokens, expected) in cases {
            assert_eq!(label(tokens), expected);
        }
    }
}
