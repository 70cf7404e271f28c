//! `#[tool]` in process: what it says, and what it writes.
// Snapshots are written by the tests themselves.
#![allow(clippy::needless_raw_string_hashes, clippy::too_many_lines)]

use expect_test::{Expect, expect};
use proc_macro2::TokenStream;

use crate::diag::messages_in;

fn tool(options: &str, item: &str) -> TokenStream {
    let options = options.parse().expect("the text of a test is tokens");
    let item = item.parse().expect("the text of a test is tokens");
    super::expand(options, item)
}

#[track_caller]
fn says(options: &str, item: &str, messages: &[&str]) {
    assert_eq!(messages_in(&tool(options, item)), messages, "{item}");
}

#[track_caller]
#[allow(clippy::needless_pass_by_value)] // `expect!` is written in place
fn expands(options: &str, item: &str, expected: Expect) {
    let file = syn::parse2(tool(options, item)).expect("the expansion is a list of items");
    expected.assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn tools_without_mistakes_say_nothing() {
    says(
        "",
        "/// Adds.\nasync fn add(a: u8, mut b: Option<u8>) -> u8 {}",
        &[],
    );
    says("description = \"Adds.\"", "fn add() {}", &[]);
    says(
        "name = \"a-b\", return_directly, crate = lg",
        "/// Adds.\nasync fn add(#[tool(default = 1, rename = \"x\")] #[serde(flatten)] a: A, cx: &agent::ToolContext<'_>) {}",
        &[],
    );
}

#[test]
fn a_tool_has_a_description() {
    let message =
        "a tool needs a description, which the model reads: write a doc comment above `add`";
    says("", "fn add() {}", &[message]);
    says("", "///  \nfn add() {}", &[message]);
}

#[test]
fn arguments_are_what_a_model_can_give() {
    for (arguments, message) in [
        (
            "&self",
            "a tool is a function: for one with fields, implement `Tool` for the type",
        ),
        (
            "q: &str",
            "the model gives a tool its arguments, so they are owned: expected `String`, found a reference",
        ),
        (
            "q: &Query",
            "the model gives a tool its arguments, so they are owned: expected `Query`, found a reference",
        ),
        (
            "q: &[u8]",
            "the model gives a tool its arguments, so they are owned: expected an owned value, such as a `Vec`, found a reference",
        ),
        (
            "cx: &Context",
            "a tool takes a `&ToolContext`, which can do what a `Context` can",
        ),
        ("cx: &ToolContext, q: u8", "the context comes last"),
        (
            "cx: ToolContext",
            "the context is borrowed: `cx: &ToolContext`",
        ),
        ("cx: &mut ToolContext", "the context is borrowed by `&`"),
        (
            "q: impl Display",
            "the model gets one schema: name the type of the argument",
        ),
        (
            "(a, b): (u8, u8)",
            "an argument of a tool has a name, which the model uses; take it apart in the body",
        ),
        (
            "#[tool(defalt)] a: u8",
            "unknown option of an argument, did you mean `default`?",
        ),
        (
            "#[tool] a: u8",
            "expected a list of options, such as `#[tool(default = 10)]`",
        ),
        (
            "#[cfg(x)] a: u8",
            "an argument of a tool takes doc comments, `#[tool(…)]`, `#[serde(…)]` and `#[schemars(…)]`",
        ),
    ] {
        says(
            "",
            &format!("/// Docs.\nasync fn f({arguments}) {{}}"),
            &[message],
        );
    }
    let many: Vec<_> = (0..13).map(|n| format!("a{n}: u8")).collect();
    let many = many.join(",");
    says(
        "",
        &format!("/// Docs.\nfn f({many}) {{}}"),
        &["a tool takes up to 12 arguments: group them in a struct"],
    );
}

#[test]
fn a_tool_is_one_function() {
    says(
        "",
        "/// Docs.\nfn f<T>(a: T) {}",
        &[
            "a tool is not generic: the model gets one schema; call the generic function from a tool for each type",
        ],
    );
    says(
        "",
        "/// Docs.\nstruct F;",
        &["`#[tool]` belongs on a function"],
    );
    says(
        "nam = \"x\"",
        "/// Docs.\nfn f() {}",
        &["unknown option of `#[tool]`, did you mean `name`?"],
    );
    says(
        "name = \"\"",
        "/// Docs.\nfn f() {}",
        &["a tool's name is 1 to 64 letters, digits, `_` or `-`: model providers refuse others"],
    );
}

#[test]
fn a_tool_with_a_context() {
    expands(
        "",
        "/// Searches.
        pub async fn search(
            /// For what.
            query: String,
            #[tool(default = 10)] limit: u8,
            cx: &ToolContext,
        ) -> Result<String, ToolError> { body }",
        expect![[r##"
            #[doc(hidden)]
            #[allow(non_camel_case_types, dead_code, unreachable_pub, missing_debug_implementations)]
            pub enum __search_tool {}
            const _: () = {
                #[allow(unused_imports)]
                use ::core::{convert::Into as _, iter::Iterator as _, option::Option::Some};
                #[doc(hidden)]
                #[derive(
                    ::langgraph_agent::__private::serde::Deserialize,
                    ::langgraph_agent::__private::schemars::JsonSchema,
                )]
                #[serde(crate = "::langgraph_agent::__private::serde")]
                #[schemars(crate = "::langgraph_agent::__private::schemars")]
                #[allow(
                    missing_debug_implementations,
                    missing_docs,
                    unreachable_pub,
                    clippy::all,
                    clippy::pedantic
                )]
                pub struct __Arguments
                where
                    for<'__a> String: ::langgraph_agent::__private::ToolArgument,
                    for<'__a> u8: ::langgraph_agent::__private::ToolArgument,
                {
                    /// For what.
                    pub query: String,
                    #[serde(default = "__default_limit")]
                    pub limit: u8,
                }
                #[allow(non_snake_case)]
                fn __default_limit() -> u8 {
                    10
                }
                #[allow(dead_code, clippy::all, clippy::pedantic)]
                fn check() {
                    let () = ::langgraph_agent::__private::argument::<String>();
                    let () = ::langgraph_agent::__private::argument::<u8>();
                }
                #[automatically_derived]
                impl ::langgraph_agent::ToolMeta for __search_tool
                where
                    for<'__a> String: ::langgraph_agent::__private::ToolArgument,
                    for<'__a> u8: ::langgraph_agent::__private::ToolArgument,
                {
                    const NAME: &'static ::core::primitive::str = "search";
                    const DESCRIPTION: &'static ::core::primitive::str = "Searches.";
                    type Arguments = __Arguments;
                    #[allow(unused_variables)]
                    fn call<'a>(
                        arguments: __Arguments,
                        cx: &'a ::langgraph_agent::ToolContext<'a>,
                    ) -> ::langgraph_agent::ToolRun<'a> {
                        let __Arguments { query, limit } = arguments;
                        ::langgraph_agent::ToolFuture::into_run(search(query, limit, cx))
                    }
                }
            };
            /// Searches.
            #[allow(clippy::type_complexity)]
            pub fn search<'__call>(
                query: String,
                limit: u8,
                cx: &'__call ::langgraph_agent::ToolContext<'__call>,
            ) -> ::langgraph_agent::ToolFuture<'__call, Result<String, ToolError>, __search_tool> {
                #[allow(clippy::unused_async)]
                async fn search(
                    query: String,
                    limit: u8,
                    cx: &ToolContext<'_>,
                ) -> Result<String, ToolError> {
                    body
                }
                ::langgraph_agent::ToolFuture::new(search(query, limit, cx))
            }
        "##]],
    );
}

#[test]
fn a_synchronous_tool_without_arguments() {
    expands(
        "name = \"time\", return_directly",
        "/// The time.\nfn now() -> String { body }",
        expect![[r##"
            #[doc(hidden)]
            #[allow(non_camel_case_types, dead_code, unreachable_pub, missing_debug_implementations)]
            enum __now_tool {}
            const _: () = {
                #[allow(unused_imports)]
                use ::core::{convert::Into as _, iter::Iterator as _, option::Option::Some};
                #[doc(hidden)]
                #[derive(
                    ::langgraph_agent::__private::serde::Deserialize,
                    ::langgraph_agent::__private::schemars::JsonSchema,
                )]
                #[serde(crate = "::langgraph_agent::__private::serde")]
                #[schemars(crate = "::langgraph_agent::__private::schemars")]
                #[allow(
                    missing_debug_implementations,
                    missing_docs,
                    unreachable_pub,
                    clippy::all,
                    clippy::pedantic
                )]
                pub struct __Arguments {}
                #[allow(dead_code, clippy::all, clippy::pedantic)]
                fn check() {}
                #[automatically_derived]
                impl ::langgraph_agent::ToolMeta for __now_tool {
                    const NAME: &'static ::core::primitive::str = "time";
                    const DESCRIPTION: &'static ::core::primitive::str = "The time.";
                    const RETURNS_DIRECTLY: ::core::primitive::bool = true;
                    type Arguments = __Arguments;
                    #[allow(unused_variables)]
                    fn call<'a>(
                        arguments: __Arguments,
                        cx: &'a ::langgraph_agent::ToolContext<'a>,
                    ) -> ::langgraph_agent::ToolRun<'a> {
                        let __Arguments {} = arguments;
                        ::langgraph_agent::ToolFuture::into_run(now())
                    }
                }
            };
            /// The time.
            #[allow(clippy::type_complexity)]
            fn now() -> ::langgraph_agent::ToolFuture<'static, String, __now_tool> {
                #[allow(clippy::unused_async)]
                fn now() -> String {
                    body
                }
                ::langgraph_agent::ToolFuture::new(async move { now() })
            }
        "##]],
    );
}

#[test]
fn a_renamed_crate_is_named_everywhere() {
    let output = tool(
        "crate = lg",
        "/// Docs.\nasync fn f(#[tool(default = 1)] a: u8, cx: &ToolContext) -> U {}",
    );
    assert!(!output.to_string().contains("langgraph"), "{output}");
}
