//! The derive in process: what it says, and what it writes.
// Snapshots are written by the tests themselves.
#![allow(clippy::needless_raw_string_hashes, clippy::too_many_lines)]

use expect_test::Expect;
use proc_macro2::TokenStream;

use super::derive;
use crate::diag::messages_in;

mod expansion;
mod many_fields;
mod renamed;

#[track_caller]
fn says(text: &str, messages: &[&str]) {
    let input: TokenStream = text.parse().expect("the text of a test is tokens");
    assert_eq!(messages_in(&derive(input)), messages, "{text}");
}

#[track_caller]
#[allow(clippy::needless_pass_by_value)] // `expect!` is written in place
fn expands(text: &str, expected: Expect) {
    let input: TokenStream = text.parse().expect("the text of a test is tokens");
    let file = syn::parse2(derive(input)).expect("the expansion is a list of items");
    expected.assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn states_without_mistakes_say_nothing() {
    for text in [
        "struct S {}",
        "struct S { a: u8 }",
        "pub(crate) struct S<T: Ord = u8, const N: usize = 1> where T: Eq { a: [T; N] }",
        "#[state(crate = lg)] struct S { #[reducer(append)] r#type: Vec<u8> }",
        "struct S { #[reducer(|a, b| a + b)] a: u8, #[reducer(a::B)] b: u8, #[reducer(f::<u8>())] c: u8 }",
        "struct S { #[state(ephemeral, untracked)] #[reducer(max)] a: u8, #[state(untracked,)] b: u8 }",
    ] {
        says(text, &[]);
    }
}

#[test]
fn only_a_struct_with_names_is_a_state() {
    says(
        "enum S { A }",
        &[
            "a state is a struct with named fields, found an enum: put it into a field, or wrap a value that is replaced whole in `Plain<_>`",
        ],
    );
    says(
        "union S { a: u8 }",
        &[
            "a state is a struct with named fields, found a union: put it into a field, or wrap a value that is replaced whole in `Plain<_>`",
        ],
    );
    says(
        "struct S(u8);",
        &[
            "a state's fields have names, found a tuple struct: name the fields, or wrap a value that is replaced whole in `Plain<_>`",
        ],
    );
    says(
        "struct S;",
        &["a state has fields, found a unit struct: give it fields, or write `{}` for none"],
    );
    says(
        "struct S<'a> { a: &'a str }",
        &["a state owns its data, found a lifetime: it outlives the call that started the run"],
    );
}

#[test]
fn every_mistake_is_reported() {
    says(
        "#[reducer(x)] #[state(ephemeral)] struct S {
            #[reducer] a: u8,
            #[reducer = \"add\"] b: u8,
            #[reducer(\"add\")] c: u8,
            #[reducer(|a| a)] d: u8,
            #[reducer(add, max)] e: u8,
            #[reducer(add)] #[reducer(max)] f: u8,
            #[reducer(1)] g: u8,
            #[reducer(|a, b|)] h: u8,
            #[state] i: u8,
            #[state(untraked)] j: u8,
            #[state(fast)] k: u8,
            #[state(ephemeral = 1)] l: u8,
            #[state(crate = x)] m: u8,
            #[state(reducer = add)] n: u8,
        }",
        &[
            "`#[reducer(…)]` belongs on a field, not on the struct",
            "`ephemeral` belongs on a field, not on the struct",
            "expected a reducer, such as `#[reducer(append)]`, `#[reducer(my_function)]` or `#[reducer(|old, new| old + new)]`",
            "a reducer stands in parentheses: write `#[reducer(add)]`",
            "a reducer is a name, a function or a closure, not a literal: write `#[reducer(add)]`",
            "a reducer takes two values, the current one and the update: `|current, update| …`; found 1",
            "a field has one reducer; found more after it",
            "a field has one reducer, found a second one",
            "the first one is here",
            "a reducer is a name, a function or a closure, not a literal",
            "unexpected end of input, expected an expression",
            "expected a list of options, such as `#[state(ephemeral)]`",
            "unknown option of a field, did you mean `untracked`?",
            "unknown option of a field, expected `ephemeral`, `untracked` or `alias`",
            "`ephemeral` takes no value",
            "`crate = …` belongs on the struct, not on a field",
            "a reducer is an attribute of its own: `#[reducer(…)]` on the field",
        ],
    );
}

#[test]
fn versions_and_aliases_are_checked() {
    says(
        "#[state(version = 3, migrate = old::read)]
        struct S { #[state(alias = \"was\", alias = \"once\")] a: u8, #[state(ephemeral, alias = \"b\")] c: u8 }",
        &[],
    );
    says(
        "#[state(version = 0, version = -1, version = \"2\")]
        #[state(version = 1, version = 2, migrate = a, migrate = b)]
        struct S { #[state(version = 1)] a: u8, #[state(alias)] b: u8, #[state(alias = b)] c: u8 }",
        &[
            "expected a number from 1 on, such as `version = 1`; a state without it has version 0",
            "`version` is given twice",
            "`version = …` belongs on the struct, not on a field",
            "expected `=`",
            "expected string literal",
        ],
    );
    says(
        "#[state(migrate = read)]
        struct S {
            #[state(alias = \"b\", alias = \"a\")] a: u8,
            #[state(alias = \"old\")] b: u8,
            #[state(alias = \"old\")] c: u8,
            #[state(untracked, alias = \"handle\")] d: u8,
        }",
        &[
            "`migrate` reads what older versions have stored, and this state has no version: add `version = 1`",
            "`b` is a field of its own: what was stored under that name would be read into one of two fields",
            "this one",
            "`a` is the field's own name already",
            "`old` is an alias already",
            "the first one is here",
            "an alias is a name under which the field was stored, and an untracked field never is",
        ],
    );
    says(
        "#[state(alias = \"Old\", alias = \"S\", alias)] struct S { a: u8 }",
        &["expected `=`", "`S` is the type's own name already"],
    );
}

#[test]
fn a_mistake_keeps_the_update_and_the_state() {
    for text in [
        "enum S { A }",
        "struct S(u8);",
        "struct S { #[reducer(1)] a: u8 }",
        "#[state(x)] struct S { #[state(y)] a: u8 }",
    ] {
        let input: TokenStream = text.parse().unwrap();
        let output = derive(input).to_string();
        assert!(output.contains("struct SUpdate"), "{text}");
        assert!(output.contains("State for S"), "{text}");
    }
}
