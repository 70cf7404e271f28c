//! What the attributes say about mistakes.

use quote::quote;
use syn::parse_quote;

use super::attr::Options;
use super::signature;
use crate::diag::Errors;

fn mistakes(what: &str, item: &syn::ItemFn) -> Vec<String> {
    let mut errors = Errors::new();
    let read = signature::read(item, what, &mut errors);
    assert_eq!(read.is_some(), errors.is_empty());
    errors.messages()
}

#[test]
fn functions_that_are_no_tasks_are_refused() {
    let borrowed = parse_quote!(
        async fn f(text: &str) {}
    );
    assert_eq!(
        mistakes("task", &borrowed),
        ["a task owns its arguments, because they are stored: take the value, not a reference"]
    );
    let several = parse_quote!(
        fn f<T>((a, b): (T, T), cx: &Context, late: i64) {}
    );
    assert_eq!(
        mistakes("task", &several),
        [
            "a task is an `async fn`",
            "a task has no generics: its arguments and its result are stored",
            "an argument of a task is a name",
            "no argument stands behind the context",
        ]
    );
    let method = parse_quote!(
        async fn f(&self) {}
    );
    assert_eq!(
        mistakes("task", &method),
        ["a task is a function without `self`"]
    );
}

#[test]
fn an_entrypoint_needs_the_context_and_may_take_what_was_saved() {
    let without = parse_quote!(
        async fn f(topic: String) -> i64 {}
    );
    assert_eq!(
        mistakes("entrypoint", &without),
        ["an entrypoint takes the context, which its tasks are called on: `cx: &Context`"]
    );
    let whole = parse_quote!(
        async fn f(topic: String, cx: &Context, previous: Option<&i64>) {}
    );
    assert!(mistakes("entrypoint", &whole).is_empty());
    let saved_by_a_task = parse_quote!(
        async fn f(cx: &Context, previous: Option<&i64>) {}
    );
    assert_eq!(
        mistakes("task", &saved_by_a_task),
        ["no argument stands behind the context"]
    );
}

#[test]
fn unknown_options_are_refused() {
    let mut errors = Errors::new();
    Options::read(quote!(retries = 3), &mut errors);
    assert_eq!(errors.messages(), ["unknown option, did you mean `retry`?"]);
}
