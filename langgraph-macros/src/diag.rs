//! Error messages: all of them at once, each at its tokens.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;

use langgraph_topology::similar::did_you_mean;

/// Collects errors, so that a user sees every mistake at once.
///
/// Rules push errors and continue; only the end of the pipeline turns the collection into tokens.
#[derive(Default)]
pub(crate) struct Errors {
    list: Vec<syn::Error>,
}

impl Errors {
    /// Creates an empty collection.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Reports `message` at all of `tokens`.
    pub(crate) fn on(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Reports `message` at one span.
    pub(crate) fn at(&mut self, span: Span, message: impl std::fmt::Display) {
        self.push(syn::Error::new(span, message));
    }

    /// Reports a mistake that concerns two places; both are underlined.
    pub(crate) fn with_note(
        &mut self,
        (here, message): (impl ToTokens, impl std::fmt::Display),
        (there, note): (impl ToTokens, impl std::fmt::Display),
    ) {
        let mut error = syn::Error::new_spanned(here, message);
        error.combine(syn::Error::new_spanned(there, note));
        self.push(error);
    }

    /// Adds an existing error, such as one of `syn`'s.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.list.push(error);
    }

    /// Returns the value, or adds the error and returns `None`.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the number of mistakes; a note does not count.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns one `compile_error!` per message, in order.
    ///
    /// They are valid as items and as statements; an expression macro puts them inside its block.
    pub(crate) fn to_compile_errors(&self) -> TokenStream {
        self.list.iter().map(syn::Error::to_compile_error).collect()
    }

    /// Returns every error and every note, with its place.
    #[cfg(test)]
    pub(crate) fn list(&self) -> impl Iterator<Item = syn::Error> + '_ {
        self.list.iter().flatten()
    }

    /// Returns the messages, including notes.
    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        self.list().map(|error| error.to_string()).collect()
    }
}

/// The place of an error: from one token to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range(pub(crate) Span, pub(crate) Span);

impl Range {
    /// A single token.
    pub(crate) fn at(span: Span) -> Self {
        Self(span, span)
    }
}

impl ToTokens for Range {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self(start, end) = *self;
        tokens.extend([start, end].map(|span| TokenTree::Ident(Ident::new("_range", span))));
    }
}

/// Moves an error to the last token that the user wrote. `syn` reports a missing token at the end
/// of the input on the whole macro, or on a closing bracket.
pub(crate) fn anchored(error: syn::Error, written: &TokenStream) -> syn::Error {
    let message = error.to_string();
    if !message.starts_with("unexpected end of input") {
        return error;
    }
    match last_span(written) {
        Some(span) => syn::Error::new(span, message),
        None => error,
    }
}

/// Returns the span of the last token; for a group, the closing bracket.
pub(crate) fn last_span(tokens: &TokenStream) -> Option<Span> {
    tokens.clone().into_iter().last().map(|tree| match tree {
        TokenTree::Group(group) => group.span_close(),
        tree => tree.span(),
    })
}

/// Returns ", did you mean `x`?", or nothing if no candidate is similar.
pub(crate) fn suggestion<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    did_you_mean(name, candidates)
        .map(|candidate| format!(", did you mean `{candidate}`?"))
        .unwrap_or_default()
}

/// Returns the messages of the `compile_error!`s in an expansion, in order.
#[cfg(test)]
pub(crate) fn messages_in(expansion: &TokenStream) -> Vec<String> {
    let mut messages = Vec::new();
    let mut previous = String::new();
    for tree in expansion.clone() {
        if let TokenTree::Group(group) = &tree
            && previous == "compile_error!"
            && let Ok(text) = syn::parse2::<syn::LitStr>(group.stream())
        {
            messages.push(text.value());
        }
        match &tree {
            TokenTree::Punct(punct) if punct.as_char() == '!' => previous.push('!'),
            tree => previous = tree.to_string(),
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn a_suggestion_is_the_end_of_a_sentence() {
        assert_eq!(suggestion("tool", ["tools"]), ", did you mean `tools`?");
        assert_eq!(suggestion("tool", ["search"]), "");
    }

    #[test]
    fn every_error_is_kept_with_its_note() {
        let mut errors = Errors::new();
        assert!(errors.is_empty());
        errors.on(quote!(a), "first");
        let place = Range::at(Span::call_site());
        errors.with_note((place, "second"), (place, "and why"));
        assert_eq!(errors.messages(), ["first", "second", "and why"]);
        assert_eq!(errors.len(), 2);
        let tokens = errors.to_compile_errors().to_string();
        assert_eq!(tokens.matches("compile_error").count(), 3);
    }
}
