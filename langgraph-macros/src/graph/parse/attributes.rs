//! Parses what a graph says about itself: `#![bounded]`, `#![input(topic)]`, `#![output(report)]`.

use proc_macro2::Ident;
use syn::Token;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;

use super::Reader;
use super::tokens::bracketed;
use crate::graph::ast::Attributes;

impl Reader<'_> {
    /// Parses `#![name]` or `#![name(field, …)]`.
    pub(super) fn attribute(&mut self, input: ParseStream<'_>, attributes: &mut Attributes) {
        let mut read = |input: ParseStream<'_>| -> syn::Result<()> {
            input.parse::<Token![#]>()?;
            input.parse::<Token![!]>()?;
            let (_, content) = bracketed(input)?;
            read(&content, attributes)
        };
        // An error has been reported, and the graph is broken.
        let _ = self.ok(read(input));
    }
}

fn read(content: ParseStream<'_>, attributes: &mut Attributes) -> syn::Result<()> {
    let name = content.call(Ident::parse_any)?;
    match name.to_string().as_str() {
        "bounded" => {
            attributes.bounded = true;
            Ok(())
        }
        "input" => fields(content, &name, &mut attributes.input),
        "output" => fields(content, &name, &mut attributes.output),
        _ => {
            let message = format!(
                "unknown attribute of a graph, expected `#![bounded]`, `#![input(…)]` or \
                 `#![output(…)]`, found `#![{name}]`"
            );
            // What follows the name belongs to it.
            content.parse::<proc_macro2::TokenStream>()?;
            Err(syn::Error::new(name.span(), message))
        }
    }
}

/// Parses `(field, …)`.
fn fields(
    content: ParseStream<'_>,
    name: &Ident,
    known: &mut Option<Vec<Ident>>,
) -> syn::Result<()> {
    if !content.peek(syn::token::Paren) {
        let message = format!("expected the fields, such as `#![{name}(topic)]`");
        return Err(syn::Error::new(name.span(), message));
    }
    let fields;
    syn::parenthesized!(fields in content);
    let fields = Punctuated::<Ident, Token![,]>::parse_terminated(&fields)?;
    if known.is_some() {
        let message = format!("`{name}` is given twice: name all fields in one");
        return Err(syn::Error::new(name.span(), message));
    }
    *known = Some(fields.into_iter().collect());
    Ok(())
}
