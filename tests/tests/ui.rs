//! What the macros accept, and what they say about mistakes.
//!
//! `TRYBUILD=overwrite cargo test -p langgraph-tests --test ui` writes the messages anew.

#[test]
fn j1_mistakes_are_told_at_their_place() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/*/pass/*.rs");
    cases.compile_fail("ui/*/fail/*.rs");
}
