//! What the attributes say about mistakes.

use quote::quote;
use syn::parse_quote;

use super::attr::Options;
use super::{nondeterminism, signature};
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
    Options::read("task", quote!(retries = 3), &mut errors);
    Options::read("task", quote!(allow(nondeterminism)), &mut errors);
    Options::read("entrypoint", quote!(allow(everything)), &mut errors);
    assert_eq!(
        errors.messages(),
        [
            "unknown option of `#[task]`, did you mean `retry`?",
            "unknown option of `#[task]`, expected `name = \"…\"`, `retry = …`, `timeout = …`, `idle_timeout = …`, \
             `cache`, `cache = …`, `anywhere` or `crate = …`",
            "expected `allow(nondeterminism)`",
        ]
    );
}

/// Returns where a body is not deterministic: the name in the message.
fn found(body: proc_macro2::TokenStream) -> Vec<String> {
    let findings = nondeterminism::findings(body, vec![syn::parse_quote!(given)]);
    let name = |finding: nondeterminism::Finding| {
        finding
            .message
            .split('`')
            .nth(1)
            .unwrap_or_default()
            .to_owned()
    };
    findings.into_iter().map(name).collect()
}

#[test]
fn what_differs_in_each_run_is_found() {
    let clocks = quote!(
        let a = std::time::SystemTime::now();
        join!(b(Instant::now()), { chrono::Utc::now() });
    );
    assert_eq!(
        found(clocks),
        ["SystemTime::now", "Instant::now", "Utc::now"]
    );
    let random = quote!(
        rand::random::<u8>() + rand::rng().random() + fastrand::u8(..),
        uuid::Uuid::new_v4()
    );
    assert_eq!(
        found(random),
        ["rand::random", "rand::rng", "fastrand::u8", "Uuid::new_v4"]
    );
    let order = quote!(
        let mut map = HashMap::new();
        let set: std::collections::HashSet<String> = f();
        for (key, value) in &map {}
        for name in set {}
        map.keys().count();
        for x in given.into_iter() {}
    );
    assert_eq!(found(order), ["map", "set", "map", "given"]);
}

#[test]
fn what_is_the_same_in_each_run_is_not_found() {
    let body = quote!(
        let map = BTreeMap::new();
        let index = HashMap::new();
        for (key, value) in &map {}
        index.get(&1);
        let limit = cx.now().await? + Duration::from_secs(3);
        my::rand::choose(cx.random().await?);
        now();
    );
    assert_eq!(found(body), [""; 0]);
}
