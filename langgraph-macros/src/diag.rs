//! Errors for people: all of them at once, each on the tokens it is about.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;

/// Collects errors, so that a user sees every mistake in one go.
///
/// Rules push and go on; only the end of the pipeline turns the collection into tokens.
#[derive(Default)]
pub(crate) struct Errors {
    list: Vec<syn::Error>,
}

impl Errors {
    /// No errors yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Reports `message` under all of `tokens`.
    pub(crate) fn on(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    /// Reports `message` at one span.
    pub(crate) fn at(&mut self, span: Span, message: impl std::fmt::Display) {
        self.push(syn::Error::new(span, message));
    }

    /// Reports a mistake that takes two places to understand; both are underlined.
    pub(crate) fn with_note(
        &mut self,
        (here, message): (Span, impl std::fmt::Display),
        (there, note): (Span, impl std::fmt::Display),
    ) {
        let mut error = syn::Error::new(here, message);
        error.combine(syn::Error::new(there, note));
        self.push(error);
    }

    /// Adds an error that was found elsewhere, such as one of `syn`'s.
    pub(crate) fn push(&mut self, error: syn::Error) {
        self.list.push(error);
    }

    /// The value, or `None` and the error remembered.
    pub(crate) fn ok<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many mistakes there are; a note beside an error is not one of its own.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// One `compile_error!` per message, in the order in which they were found.
    ///
    /// They are items and statements alike; an expression macro puts them inside its block.
    pub(crate) fn to_compile_errors(&self) -> TokenStream {
        self.list.iter().map(syn::Error::to_compile_error).collect()
    }

    /// What the user would read, notes included.
    #[cfg(test)]
    pub(crate) fn messages(&self) -> Vec<String> {
        let errors = self.list.iter().cloned();
        errors.flatten().map(|error| error.to_string()).collect()
    }
}

/// `syn` reports what is missing at the end of the input on the whole macro, or on a closing
/// bracket; this puts such an error on the last token that was written, where the user looks.
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

/// The span of the last token, the closing bracket for a group.
pub(crate) fn last_span(tokens: &TokenStream) -> Option<Span> {
    tokens.clone().into_iter().last().map(|tree| match tree {
        TokenTree::Group(group) => group.span_close(),
        tree => tree.span(),
    })
}

/// The candidate that `name` was probably meant to be.
pub(crate) fn did_you_mean<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = match name.chars().count() {
        0..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    candidates
        .into_iter()
        .filter(|candidate| *candidate != name)
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= limit && *distance < candidate.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// ", did you mean `x`?", or nothing when no candidate is near.
pub(crate) fn suggestion<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    did_you_mean(name, candidates)
        .map(|candidate| format!(", did you mean `{candidate}`?"))
        .unwrap_or_default()
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from `a` to `b`.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut previous_char = None;
    for (row, a_char) in a.to_lowercase().chars().enumerate() {
        let mut current = vec![row + 1];
        let mut previous_b = None;
        for (column, &b_char) in b.iter().enumerate() {
            let cell = |line: &[usize], at: usize| line.get(at).copied().unwrap_or(usize::MAX / 2);
            let mut best = (cell(&last, column) + usize::from(a_char != b_char))
                .min(cell(&last, column + 1) + 1)
                .min(cell(&current, column) + 1);
            if previous_char == Some(b_char) && previous_b == Some(a_char) {
                best = best.min(cell(&before_last, column.wrapping_sub(1)) + 1);
            }
            current.push(best);
            previous_b = Some(b_char);
        }
        previous_char = Some(a_char);
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    #[test]
    fn the_nearest_candidate_is_suggested_and_a_far_one_is_not() {
        let names = ["search", "tools", "call_model"];
        assert_eq!(did_you_mean("serach", names), Some("search"));
        assert_eq!(did_you_mean("call_modle", names), Some("call_model"));
        assert_eq!(did_you_mean("Tools", names), Some("tools"));
        assert_eq!(did_you_mean("planner", names), None);
        assert_eq!(did_you_mean("search", ["search"]), None);
        assert_eq!(suggestion("tool", names), ", did you mean `tools`?");
        assert_eq!(suggestion("x", names), "");
    }

    #[test]
    fn a_swap_of_neighbours_is_one_edit() {
        assert_eq!(edit_distance("ab", "ba"), 1);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("kitten", "sitting"), 3);
    }

    #[test]
    fn every_error_is_kept_with_its_note() {
        let mut errors = Errors::new();
        assert!(errors.is_empty());
        errors.on(quote!(a), "first");
        let span = Span::call_site();
        errors.with_note((span, "second"), (span, "and why"));
        assert_eq!(errors.messages(), ["first", "second", "and why"]);
        assert_eq!(errors.len(), 2);
        let tokens = errors.to_compile_errors().to_string();
        assert_eq!(tokens.matches("compile_error").count(), 3);
    }
}
