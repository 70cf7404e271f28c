//! `#[node]` in process: what it says, and what it writes.
// Snapshots are written by the tests themselves.
#![allow(clippy::needless_raw_string_hashes, clippy::too_many_lines)]

use expect_test::{Expect, expect};
use proc_macro2::TokenStream;

use crate::diag::messages_in;

fn node(options: &str, item: &str) -> TokenStream {
    let options = options.parse().expect("the text of a test is tokens");
    let item = item.parse().expect("the text of a test is tokens");
    super::expand(options, item)
}

#[track_caller]
fn says(options: &str, item: &str, messages: &[&str]) {
    assert_eq!(messages_in(&node(options, item)), messages, "{item}");
}

#[track_caller]
#[allow(clippy::needless_pass_by_value)] // `expect!` is written in place
fn expands(options: &str, item: &str, expected: Expect) {
    let file = syn::parse2(node(options, item)).expect("the expansion is a list of items");
    expected.assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn nodes_without_mistakes_say_nothing() {
    for item in [
        "async fn f(s: &S) {}",
        "async fn f(s: &S, cx: &Context) -> U {}",
        "async fn f(S { a, .. }: &S, _: &Context) -> Result<U, E> {}",
        "async fn f(s: S) -> (U, Next) {}",
        "async fn f(mut s: S, cx: &graph::Context) {}",
        "async fn f(item: u8, s: &S, cx: &Context) {}",
        "async fn f<'a, T>(s: &'a S<T>) -> U where T: 'static {}",
        "pub(crate) fn f(s: &S) -> U {}",
        "fn f(s: &S) -> Pin<Box<dyn Future<Output = U> + Send + '_>> {}",
        "impl Foo { async fn run(&self, s: &S, cx: &Context) -> U {} fn other(&mut self) {} }",
        "impl<T> Foo<T> { fn run(&self, s: S) {} }",
    ] {
        says("", item, &[]);
    }
    says(
        "crate = lg, alias = \"a\", alias = \"b\", writes(x, y), state = S",
        "async fn f(item: u8) -> (X, Y) {}",
        &[],
    );
}

#[test]
fn arguments_have_their_order() {
    let after = "; what else it needs is in `cx.resource()`";
    for (arguments, message) in [
        (
            "",
            "a node takes the state, found no argument: `async fn f(state: &State)`",
        ),
        (
            "&self, s: &S",
            "a method becomes a node by `#[node]` on its `impl` block",
        ),
        (
            "s: &mut S",
            "a node never changes the state: take it by `&`, and return an update",
        ),
        (
            "cx: &Context",
            "the state comes first: `(state: &State, cx: &Context)`",
        ),
        (
            "cx: Context",
            "the state comes first, and the context is borrowed: `(state: &State, cx: &Context)`",
        ),
        (
            "s: &S, cx: Context",
            "the context is borrowed: `cx: &Context`",
        ),
        (
            "s: &S, cx: &mut Context",
            "the state and the context are borrowed by `&`",
        ),
        (
            "s: &S, item: u8",
            "expected the context, `cx: &Context`; the item of a worker comes first: `(item: Item, state: &State)`",
        ),
        (
            "item: u8, s: S",
            "what follows the item is borrowed: `(item: Item, state: &State, cx: &Context)`",
        ),
        (
            "s: &S, cx: &Context, m: &M",
            &format!(
                "a node takes no more than the state and the context: `(state: &State, cx: &Context)`{after}"
            ),
        ),
        (
            "i: u8, s: &S, cx: &Context, m: &M",
            &format!(
                "a node takes no more than an item, the state and the context: `(item: Item, state: &State, cx: &Context)`{after}"
            ),
        ),
    ] {
        says("", &format!("async fn f({arguments}) {{}}"), &[message]);
    }
}

#[test]
fn a_node_is_a_safe_rust_function() {
    says(
        "",
        "const unsafe extern \"C\" fn f(s: &S) {}",
        &[
            "a node is not a `const fn`: it runs when the graph does",
            "a node is not an `unsafe fn`: the graph calls it; put the unsafe part into a safe function",
            "a node is a Rust function, found a foreign ABI",
        ],
    );
    says(
        "",
        "/// Docs.\nstruct S;",
        &[
            "`#[node]` belongs on an async function, or on an `impl` block with an async method `run`",
        ],
    );
}

#[test]
fn options_are_known_or_guessed() {
    let item = "async fn f(s: &S) {}";
    says(
        "write(a)",
        item,
        &["unknown option of `#[node]`, did you mean `writes`?"],
    );
    says(
        "fast",
        item,
        &[
            "unknown option of `#[node]`, expected `writes(…)`, `reads(…)`, `alias = \"…\"`, `interrupts`, `calls(…)`, `state = …` or `crate = …`",
        ],
    );
    says(
        "timeout = 3",
        item,
        &[
            "`timeout` is a method of the node, not an option of `#[node]`: write `.timeout(…)` where the node is added",
        ],
    );
    says(
        "writes",
        item,
        &["expected the fields, such as `writes(plan, log)`"],
    );
    says(
        "writes()",
        item,
        &["expected at least one field, such as `writes(plan)`"],
    );
    says("writes(a, b, a)", item, &["`a` is named twice"]);
    says(
        "writes(a), writes(b)",
        item,
        &["`writes` is given twice: name all fields in one"],
    );
    says(
        "writes(a)",
        "async fn f(item: u8, cx: &Context) {}",
        &[
            "`writes` needs to know the state: take `state: &State`, or write `#[node(state = State, writes(…))]`",
        ],
    );
}

#[test]
fn a_block_has_a_method_run() {
    says(
        "",
        "impl Node for Foo { fn run(&self, s: &S) {} }",
        &["`#[node]` belongs on an `impl` block of the type itself: it writes the `impl Node`"],
    );
    says(
        "",
        "impl Foo { async fn go(&self, s: &S) {} }",
        &[
            "a node's block has a method `run`: `async fn run(&self, state: &State, cx: &Context)`; \
             a function of it becomes a node by a `#[node]` of its own",
        ],
    );
    for receiver in ["self", "&mut self", "self: Box<Self>"] {
        says(
            "",
            &format!("impl Foo {{ async fn run({receiver}, s: &S) {{}} }}"),
            &["a node is shared by the runs of its graph: take `&self`"],
        );
    }
    says(
        "",
        "impl Foo { async fn run(s: &S) {} }",
        &["a node's `run` takes `&self` first"],
    );
    says(
        "",
        "impl Foo { async fn run(&self, item: u8, s: &S) {} }",
        &[""; 0],
    );
    says(
        "alias = \"old\"",
        "impl Foo { async fn run(&self, s: &S) {} }",
        &["an alias of a value is given where it is added: `.alias(\"…\")`"],
    );
}

#[test]
fn functions_of_a_block_are_nodes_of_their_own() {
    says(
        "",
        "impl<T> Foo<T> { #[node] async fn a(s: &S) {} fn b() {} #[langgraph::node] fn c(s: &S) -> U {} }",
        &[],
    );
    says(
        "",
        "impl Foo { #[node] async fn a(&self, s: &S) {} #[node(writes(x))] async fn b(i: u8) -> X {} }",
        &[
            "a function that is a node takes no `self`: the node that a value is, is the method `run` \
             of the block",
            "`writes` needs to know the state: take `state: &State`, or write \
             `#[node(state = State, writes(…))]`",
        ],
    );
    expands(
        "crate = lg",
        "impl Foo {
            async fn run(&self, s: &S) {}
            /// Plans.
            #[node(writes(plan))]
            pub async fn plan(s: &S) -> String { Self::word() }
            #[node]
            fn check(s: &S, cx: &Context) -> U { word() }
            fn word() -> String { String::new() }
        }",
        expect![[r#"
            impl Foo {
                #[allow(clippy::unused_async, clippy::unused_self)]
                async fn run(&self, s: &S) {}
                /// Plans.
                #[allow(clippy::type_complexity)]
                pub fn plan<'__run>(
                    s: &'__run S,
                ) -> lg::node::NodeFuture<
                    '__run,
                    S,
                    <S as lg::state::State>::Update,
                    lg::__private::Checked<__Foo_plan_node>,
                > {
                    lg::__private::node_future::<
                        S,
                        <S as lg::state::State>::Update,
                        lg::__private::Checked<__Foo_plan_node>,
                    >(async move {
                        {
                            let value0 = Self::__plan_body(s).await;
                            let update = <<S as lg::state::State>::Update as ::core::default::Default>::default();
                            let update = update.plan(value0);
                            update
                        }
                    })
                }
                #[doc(hidden)]
                #[allow(clippy::unused_async)]
                async fn __plan_body(s: &S) -> String {
                    Self::word()
                }
                fn check(s: &S, cx: &Context) -> U {
                    word()
                }
                #[doc(hidden)]
                #[allow(dead_code, clippy::all, clippy::pedantic)]
                fn __check_check(cx: &Context) {
                    let _: &lg::node::Context = cx;
                    lg::__private::answers::<S, U>();
                }
                fn word() -> String {
                    String::new()
                }
            }
            #[doc(hidden)]
            #[allow(non_camel_case_types, dead_code, unreachable_pub, missing_debug_implementations)]
            pub enum __Foo_plan_node {}
            #[automatically_derived]
            impl lg::node::NodeMeta for __Foo_plan_node {
                const NAME: &'static ::core::primitive::str = "plan";
                const DOCS: ::core::option::Option<&'static ::core::primitive::str> = ::core::option::Option::Some(
                    "Plans.",
                );
                const WRITES: ::core::option::Option<&'static [&'static ::core::primitive::str]> = ::core::option::Option::Some(
                    &["plan"],
                );
                const USES: &'static ::core::primitive::str = " => plan";
                #[allow(deprecated, unused_imports, clippy::type_complexity)]
                const MAY_GOTO: ::core::primitive::bool = {
                    use lg::__private::ReturnsNoAnswer as _;
                    lg::__private::Returns::<S, __Foo_plan_node_answer>::MAY_GOTO
                };
            }
            #[automatically_derived]
            impl lg::__private::DeclaresWrites for __Foo_plan_node {
                type Names = (lg::__private::Name<11954888832644785330u64>, ());
            }
            #[automatically_derived]
            impl lg::__private::UsesFields for __Foo_plan_node {
                type Fields = lg::__private::ReadsWrites<
                    (),
                    (lg::__private::Name<11954888832644785330u64>, ()),
                >;
            }
            #[doc(hidden)]
            #[allow(deprecated, dead_code, non_camel_case_types, clippy::type_complexity)]
            type __Foo_plan_node_answer = <S as lg::state::State>::Update;
            #[automatically_derived]
            impl lg::node::Node<S> for Foo
            where
                Foo: ::core::marker::Send + ::core::marker::Sync + 'static,
            {
                #[allow(unused_variables)]
                fn run<'__run>(
                    &'__run self,
                    state: &'__run S,
                    cx: &'__run lg::node::Context,
                ) -> lg::node::NodeRun<'__run, S> {
                    lg::__private::answer_of::<S, ()>().future(<Self>::run(self, state))
                }
                fn may_goto(&self) -> ::core::primitive::bool {
                    lg::__private::answer_of::<S, ()>().may_goto
                }
            }
        "#]],
    );
}

#[test]
fn a_mistake_keeps_the_function() {
    for (options, item) in [
        ("fast", "async fn f(s: &S) {}"),
        ("", "async fn f(s: &S, a: u8, b: u8) {}"),
        ("", "impl Foo { fn f() {} }"),
        ("", "struct f;"),
    ] {
        let output = node(options, item).to_string();
        assert!(
            output.contains('f') && output.contains("compile_error"),
            "{item}"
        );
    }
}

#[test]
fn a_function_with_state_and_context() {
    expands(
        "",
        "/// Plans.
        #[allow(lint)]
        #[instrument]
        pub async fn plan<'a, T: Tr>(state: &'a S<T>, _: &Context) -> Result<U, E>
        where
            T: 'static,
        {
            body().await
        }",
        expect![[r##"
            #[doc(hidden)]
            #[allow(non_camel_case_types, dead_code, unreachable_pub, missing_debug_implementations)]
            pub enum __plan_node {}
            #[automatically_derived]
            impl ::langgraph::node::NodeMeta for __plan_node {
                const NAME: &'static ::core::primitive::str = "plan";
                const DOCS: ::core::option::Option<&'static ::core::primitive::str> = ::core::option::Option::Some(
                    "Plans.",
                );
                const USES: &'static ::core::primitive::str = " => ?";
            }
            #[automatically_derived]
            impl ::langgraph::__private::UsesFields for __plan_node {
                type Fields = ::langgraph::__private::ReadsWrites<
                    (),
                    ::langgraph::__private::UnknownFields,
                >;
            }
            /// Plans.
            #[allow(lint)]
            #[allow(clippy::type_complexity)]
            pub fn plan<'__run, T: Tr>(
                state: &'__run S<T>,
                cx: &'__run Context,
            ) -> ::langgraph::node::NodeFuture<'__run, S<T>, Result<U, E>, __plan_node>
            where
                T: 'static,
            {
                #[allow(clippy::unused_async)]
                #[allow(lint)]
                #[instrument]
                async fn plan<'a, T: Tr>(state: &'a S<T>, _: &Context) -> Result<U, E>
                where
                    T: 'static,
                {
                    body().await
                }
                let _: &::langgraph::node::Context = cx;
                ::langgraph::__private::node_future::<
                    S<T>,
                    Result<U, E>,
                    __plan_node,
                >(plan::<T>(state, cx))
            }
        "##]],
    );
}

#[test]
fn a_worker_with_everything() {
    expands(
        "",
        "async fn write((a, b): (u8, u8), state: &S, cx: &Context) -> U { body }",
        expect![[r##"
            #[doc(hidden)]
            #[allow(non_camel_case_types, dead_code, unreachable_pub, missing_debug_implementations)]
            enum __write_node {}
            #[automatically_derived]
            impl ::langgraph::node::NodeMeta for __write_node {
                const NAME: &'static ::core::primitive::str = "write";
                const USES: &'static ::core::primitive::str = " => ?";
            }
            #[automatically_derived]
            impl ::langgraph::__private::UsesFields for __write_node {
                type Fields = ::langgraph::__private::ReadsWrites<
                    (),
                    ::langgraph::__private::UnknownFields,
                >;
            }
            #[doc(hidden)]
            #[allow(deprecated, dead_code, non_camel_case_types, clippy::type_complexity)]
            type __write_node_answer = U;
            #[allow(clippy::type_complexity)]
            fn write<'__run>(
                item: (u8, u8),
                state: &'__run S,
                cx: &'__run Context,
            ) -> ::langgraph::node::OwnedFuture<'__run, __write_node_answer, __write_node> {
                #[allow(clippy::unused_async)]
                async fn write((a, b): (u8, u8), state: &S, cx: &Context) -> __write_node_answer {
                    body
                }
                let _: &::langgraph::node::Context = cx;
                ::langgraph::__private::answers::<S, U>();
                ::langgraph::node::OwnedFuture::<
                    '__run,
                    __write_node_answer,
                    __write_node,
                >::new(write(item, state, cx))
            }
        "##]],
    );
}

#[test]
fn a_function_that_declares_its_writes() {
    expands(
        "writes(plan, r#type), alias = \"old\"",
        "async fn planner(state: &S) -> Result<((Plan, u8), Next), E> { body }",
        expect![[r##"
            #[doc(hidden)]
            #[allow(non_camel_case_types, dead_code, unreachable_pub, missing_debug_implementations)]
            enum __planner_node {}
            #[automatically_derived]
            impl ::langgraph::node::NodeMeta for __planner_node {
                const NAME: &'static ::core::primitive::str = "planner";
                const WRITES: ::core::option::Option<&'static [&'static ::core::primitive::str]> = ::core::option::Option::Some(
                    &["plan", "type"],
                );
                const ALIASES: &'static [&'static ::core::primitive::str] = &["old"];
                const USES: &'static ::core::primitive::str = " => plan type";
                #[allow(deprecated, unused_imports, clippy::type_complexity)]
                const MAY_GOTO: ::core::primitive::bool = {
                    use ::langgraph::__private::ReturnsNoAnswer as _;
                    ::langgraph::__private::Returns::<S, __planner_node_answer>::MAY_GOTO
                };
            }
            #[automatically_derived]
            impl ::langgraph::__private::DeclaresWrites for __planner_node {
                type Names = (
                    ::langgraph::__private::Name<11954888832644785330u64>,
                    (::langgraph::__private::Name<12075340201627130925u64>, ()),
                );
            }
            #[automatically_derived]
            impl ::langgraph::__private::UsesFields for __planner_node {
                type Fields = ::langgraph::__private::ReadsWrites<
                    (),
                    (
                        ::langgraph::__private::Name<11954888832644785330u64>,
                        (::langgraph::__private::Name<12075340201627130925u64>, ()),
                    ),
                >;
            }
            #[doc(hidden)]
            #[allow(deprecated, dead_code, non_camel_case_types, clippy::type_complexity)]
            type __planner_node_answer = Result<(<S as ::langgraph::state::State>::Update, Next), E>;
            #[allow(clippy::type_complexity)]
            fn planner<'__run>(
                state: &'__run S,
            ) -> ::langgraph::node::NodeFuture<
                '__run,
                S,
                Result<(<S as ::langgraph::state::State>::Update, Next), E>,
                ::langgraph::__private::Checked<__planner_node>,
            > {
                #[allow(clippy::unused_async)]
                async fn planner(state: &S) -> Result<((Plan, u8), Next), E> {
                    body
                }
                ::langgraph::__private::node_future::<
                    S,
                    Result<(<S as ::langgraph::state::State>::Update, Next), E>,
                    ::langgraph::__private::Checked<__planner_node>,
                >(async move {
                    match planner(state).await {
                        ::core::result::Result::Ok(values) => {
                            ::core::result::Result::Ok({
                                let (values, next) = values;
                                let next: Next = next;
                                (
                                    {
                                        let (value0, value1) = values;
                                        let update = <<S as ::langgraph::state::State>::Update as ::core::default::Default>::default();
                                        let update = update.plan(value0);
                                        let update = update.r#type(value1);
                                        update
                                    },
                                    next,
                                )
                            })
                        }
                        ::core::result::Result::Err(error) => ::core::result::Result::Err(error),
                    }
                })
            }
        "##]],
    );
}

#[test]
fn a_synchronous_function_is_only_checked() {
    expands(
        "crate = lg",
        "fn plan(state: &S, cx: &Context) -> U { body }",
        expect![[r#"
            const _: () = {
                #[allow(dead_code, clippy::all, clippy::pedantic)]
                fn check(cx: &Context) {
                    let _: &lg::node::Context = cx;
                    lg::__private::answers::<S, U>();
                }
            };
            fn plan(state: &S, cx: &Context) -> U {
                body
            }
        "#]],
    );
}

#[test]
fn a_method() {
    expands(
        "",
        "impl<T: Tr> Foo<T> { async fn run(&self, state: S, cx: &Context) -> U { body } }",
        expect![[r#"
            impl<T: Tr> Foo<T> {
                #[allow(clippy::unused_async, clippy::unused_self)]
                async fn run(&self, state: S, cx: &Context) -> U {
                    body
                }
            }
            #[automatically_derived]
            impl<T: Tr> ::langgraph::node::Node<S> for Foo<T>
            where
                Foo<T>: ::core::marker::Send + ::core::marker::Sync + 'static,
            {
                #[allow(unused_variables)]
                fn run<'__run>(
                    &'__run self,
                    state: &'__run S,
                    cx: &'__run ::langgraph::node::Context,
                ) -> ::langgraph::node::NodeRun<'__run, S> {
                    ::langgraph::__private::answer_of::<S, U>()
                        .future(<Self>::run(self, ::core::clone::Clone::clone(state), cx))
                }
                fn may_goto(&self) -> ::core::primitive::bool {
                    ::langgraph::__private::answer_of::<S, U>().may_goto
                }
            }
        "#]],
    );
}

#[test]
fn a_renamed_crate_is_named_everywhere() {
    for item in [
        "async fn f(s: &S, cx: &Context) -> U {}",
        "async fn f(i: u8, s: &S, cx: &Context) -> U {}",
        "fn f(s: &S, cx: &Context) -> U {}",
        "impl Foo { async fn run(&self, s: &S, cx: &Context) -> U {} }",
    ] {
        for options in ["crate = lg", "crate = lg, writes(a)"] {
            let output = node(options, item).to_string();
            assert!(!output.contains("langgraph"), "{output}");
        }
    }
}
