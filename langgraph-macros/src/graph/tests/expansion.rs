//! What each construct is written out to.

use expect_test::{Expect, expect};

use super::read;

#[track_caller]
#[allow(clippy::needless_pass_by_value)] // `expect!` is written in place
fn expands(text: &str, expected: Expect) {
    let expansion = read(text).expansion;
    let file = syn::parse2(quote::quote!(fn graph() #expansion)).expect("the expansion is a block");
    expected.assert_eq(&prettyplease::unparse(&file));
}

#[test]
fn a_chain() {
    expands(
        "START => a => nodes::b => END",
        expect![[r#"
            fn graph() {
                use ::langgraph::__private as __langgraph;
                let mut __graph = __langgraph::closed();
                let _ = [::langgraph::START, ::langgraph::END];
                let __node_a = __langgraph::add(&mut __graph, "a", a);
                let __node_b = __langgraph::add(&mut __graph, "b", nodes::b);
                __langgraph::add_edges(
                    &mut __graph,
                    &[("__start__", "a"), ("a", "b"), ("b", "__end__")],
                );
                use __langgraph::UnknownGoto as _;
                __node_a.goto();
                __node_b.goto();
                __graph
            }
        "#]],
    );
}

#[test]
fn a_state_and_a_let() {
    expands(
        "type State = S; let a = a.retry(3); START => a => END;",
        expect![[r#"
            fn graph() {
                use ::langgraph::__private as __langgraph;
                #[allow(unused_mut)]
                let mut __without_options_a = a;
                let __without_options_0 = __langgraph::without_options(&__without_options_a);
                let a = __without_options_a.retry(3);
                let mut __graph = __langgraph::closed::<S>();
                let _ = [::langgraph::START, ::langgraph::END];
                let __node_a = __langgraph::add(&mut __graph, "a", a);
                __langgraph::add_edges(&mut __graph, &[("__start__", "a"), ("a", "__end__")]);
                use __langgraph::UnknownGoto as _;
                use __langgraph::KnownNode as _;
                use __langgraph::UnknownKind as _;
                __node_a.known_as(__without_options_0).kind().goto();
                __graph
            }
        "#]],
    );
}

#[test]
fn a_renamed_crate() {
    expands(
        "crate = ::graphs; START => a => [b, c] => END;",
        expect![[r#"
            fn graph() {
                use ::graphs::__private as __langgraph;
                let mut __graph = __langgraph::closed();
                let _ = [::graphs::START, ::graphs::END];
                let __node_a = __langgraph::add(&mut __graph, "a", a);
                let __node_b = __langgraph::add(&mut __graph, "b", b);
                let __node_c = __langgraph::add(&mut __graph, "c", c);
                use __langgraph::UnknownWrites as _;
                {
                    #[allow(non_snake_case)]
                    fn b_beside_c<F: __langgraph::WrittenOnce>(_: ::core::marker::PhantomData<F>) {}
                    let __both = __langgraph::pair(&__node_b, &__node_c).clash();
                    b_beside_c(__both.field);
                }
                __langgraph::add_edges(
                    &mut __graph,
                    &[("__start__", "a"), ("a", "b"), ("a", "c"), ("b", "__end__"), ("c", "__end__")],
                );
                use __langgraph::UnknownGoto as _;
                __node_a.goto();
                __node_b.goto();
                __node_c.goto();
                __graph
            }
        "#]],
    );
}

#[test]
#[allow(clippy::too_many_lines, reason = "the expansion is long")]
fn a_renamed_crate_with_every_construct() {
    expands(
        RENAMED,
        expect![[r#"
            fn graph() {
                use ::graphs::__private as __langgraph;
                use __langgraph::{FutureAnswer as _, PlainAnswer as _, TryFutureAnswer as _};
                let mut __graph = __langgraph::closed();
                let _ = [::graphs::START, ::graphs::END, ::graphs::END, ::graphs::END];
                let __node_a = __langgraph::add(&mut __graph, "a", a);
                let (__worker_work, __node_work) = __langgraph::add_worker(
                    &mut __graph,
                    "work",
                    __langgraph::mentions([&work]).of(work),
                );
                __langgraph::add(&mut __graph, "decide", decide);
                let __node_b = __langgraph::add(
                    &mut __graph,
                    "b",
                    __langgraph::mentions([&b, &b]).of(b),
                );
                let __node_e = __langgraph::add(&mut __graph, "e", e);
                let __node_c = __langgraph::add(
                    &mut __graph,
                    "c",
                    __langgraph::mentions([&c]).of(c),
                );
                let __node_d = __langgraph::add(&mut __graph, "d", d);
                use __langgraph::UnknownWrites as _;
                {
                    #[allow(non_snake_case)]
                    fn b_beside_c<F: __langgraph::WrittenOnce>(_: ::core::marker::PhantomData<F>) {}
                    let __both = __langgraph::pair(&__node_b, &__node_c).clash();
                    b_beside_c(__both.field);
                }
                __langgraph::add_edges(&mut __graph, &[("__start__", "a"), ("work", "__end__")]);
                __langgraph::add_joins(&mut __graph, &[(&["b", "c"], "d")]);
                use __langgraph::UnknownGoto as _;
                __node_a.goto();
                __node_b.goto();
                __node_e.goto();
                __node_c.goto();
                __node_d.goto();
                __langgraph::ask_last(
                    __langgraph::add_switch(
                        &mut __graph,
                        &["a"],
                        &[
                            ("R::Each(items)", &["work"], true),
                            ("R::Done if last", &["decide"], false),
                            ("_", &["e"], false),
                        ],
                    ),
                    {
                        let __router = route;
                        let __worker_work = ::core::clone::Clone::clone(&__worker_work);
                        move |__state, __cx| {
                            let __worker_work = ::core::clone::Clone::clone(&__worker_work);
                            let __answer = __langgraph::ask(&__router, __state, __cx);
                            (&__langgraph::Of(&__answer))
                                .kind()
                                .run(
                                    __answer,
                                    move |__answer| match __answer {
                                        R::Each(items) => {
                                            __langgraph::Pick::each(
                                                0usize,
                                                __langgraph::sends(
                                                    items,
                                                    move |item| __langgraph::send(&__worker_work, item),
                                                ),
                                            )
                                        }
                                        R::Done if last => __langgraph::Pick::arm(1usize),
                                        _ => __langgraph::Pick::arm(2usize),
                                    },
                                )
                        }
                    },
                );
                __langgraph::ask_last(
                    __langgraph::add_switch(
                        &mut __graph,
                        &["e"],
                        &[("Some(_)", &["b", "c"], false), ("else", &["__end__"], false)],
                    ),
                    {
                        let __router = more;
                        move |__state, __cx| {
                            let __answer = __langgraph::ask(&__router, __state, __cx);
                            (&__langgraph::Of(&__answer))
                                .kind()
                                .pick(
                                    __answer,
                                    move |__answer| {
                                        if let Some(_) = __answer { 0usize } else { 1usize }
                                    },
                                )
                        }
                    },
                );
                __langgraph::ask_map(
                    __langgraph::add_map(&mut __graph, &["d"], "work"),
                    {
                        let __router = topics;
                        let __worker_work = ::core::clone::Clone::clone(&__worker_work);
                        move |__state, __cx| {
                            let __worker_work = ::core::clone::Clone::clone(&__worker_work);
                            let __answer = __langgraph::ask(&__router, __state, __cx);
                            (&__langgraph::Of(&__answer))
                                .kind()
                                .run(
                                    __answer,
                                    move |__answer| __langgraph::sends(
                                        __answer,
                                        move |topic| __langgraph::send(&__worker_work, topic),
                                    ),
                                )
                        }
                    },
                );
                __langgraph::add_destinations(&mut __graph, "decide", &["b", "__end__"]);
                __node_work.goto();
                __graph
            }
        "#]],
    );
}

#[test]
fn a_renamed_crate_is_named_everywhere() {
    let expansion = read(RENAMED).expansion.to_string();
    assert!(!expansion.contains("compile_error"), "{expansion}");
    let ours = expansion.replace("__langgraph", "");
    assert!(!ours.contains("langgraph"), "{expansion}");
}

const RENAMED: &str = "crate = ::graphs; START => a => match route { R::Each(items) => for item in items \
    { work(item) } => END, R::Done if last => decide => goto [b, END], _ => e => if let Some(_) = more \
    { [b, c] } else { END } }; [b, c] => d => for topic in topics { work(topic) };";

#[test]
fn groups() {
    expands(
        "START => [a, b => c] => d => END",
        expect![[r#"
            fn graph() {
                use ::langgraph::__private as __langgraph;
                let mut __graph = __langgraph::closed();
                let _ = [::langgraph::START, ::langgraph::END];
                let __node_a = __langgraph::add(&mut __graph, "a", a);
                let __node_b = __langgraph::add(&mut __graph, "b", b);
                let __node_c = __langgraph::add(&mut __graph, "c", c);
                let __node_d = __langgraph::add(&mut __graph, "d", d);
                use __langgraph::UnknownWrites as _;
                {
                    #[allow(non_snake_case)]
                    fn a_beside_b<F: __langgraph::WrittenOnce>(_: ::core::marker::PhantomData<F>) {}
                    let __both = __langgraph::pair(&__node_a, &__node_b).clash();
                    a_beside_b(__both.field);
                }
                __langgraph::add_edges(
                    &mut __graph,
                    &[("__start__", "a"), ("__start__", "b"), ("b", "c"), ("d", "__end__")],
                );
                __langgraph::add_joins(&mut __graph, &[(&["a", "c"], "d")]);
                use __langgraph::UnknownGoto as _;
                __node_a.goto();
                __node_b.goto();
                __node_c.goto();
                __node_d.goto();
                __graph
            }
        "#]],
    );
}

#[test]
fn a_loop_mentions_a_node_twice() {
    expands(
        "START => a => match r { R::More => b => a, R::Done(n) if n > 3 => [c, d], _ => END };
         [c, d] => END;",
        expect![[r#"
            fn graph() {
                use ::langgraph::__private as __langgraph;
                use __langgraph::{FutureAnswer as _, PlainAnswer as _, TryFutureAnswer as _};
                let mut __graph = __langgraph::closed();
                let _ = [::langgraph::START, ::langgraph::END, ::langgraph::END];
                let __node_a = __langgraph::add(
                    &mut __graph,
                    "a",
                    __langgraph::mentions([&a]).of(a),
                );
                let __node_b = __langgraph::add(&mut __graph, "b", b);
                let __node_c = __langgraph::add(
                    &mut __graph,
                    "c",
                    __langgraph::mentions([&c]).of(c),
                );
                let __node_d = __langgraph::add(
                    &mut __graph,
                    "d",
                    __langgraph::mentions([&d]).of(d),
                );
                use __langgraph::UnknownWrites as _;
                {
                    #[allow(non_snake_case)]
                    fn c_beside_d<F: __langgraph::WrittenOnce>(_: ::core::marker::PhantomData<F>) {}
                    let __both = __langgraph::pair(&__node_c, &__node_d).clash();
                    c_beside_d(__both.field);
                }
                __langgraph::add_edges(
                    &mut __graph,
                    &[("__start__", "a"), ("b", "a"), ("c", "__end__"), ("d", "__end__")],
                );
                use __langgraph::UnknownGoto as _;
                __node_a.goto();
                __node_b.goto();
                __node_c.goto();
                __node_d.goto();
                __langgraph::ask_last(
                    __langgraph::add_switch(
                        &mut __graph,
                        &["a"],
                        &[
                            ("R::More", &["b"], false),
                            ("R::Done(n) if n > 3", &["c", "d"], false),
                            ("_", &["__end__"], false),
                        ],
                    ),
                    {
                        let __router = r;
                        move |__state, __cx| {
                            let __answer = __langgraph::ask(&__router, __state, __cx);
                            (&__langgraph::Of(&__answer))
                                .kind()
                                .run(
                                    __answer,
                                    move |__answer| match __answer {
                                        R::More => __langgraph::Pick::arm(0usize),
                                        R::Done(n) if n > 3 => __langgraph::Pick::arm(1usize),
                                        _ => __langgraph::Pick::arm(2usize),
                                    },
                                )
                        }
                    },
                );
                __graph
            }
        "#]],
    );
}

#[test]
fn an_if() {
    expands(
        "START => a => if done { END } else { a }",
        expect![[r#"
            fn graph() {
                use ::langgraph::__private as __langgraph;
                use __langgraph::{FutureAnswer as _, PlainAnswer as _, TryFutureAnswer as _};
                let mut __graph = __langgraph::closed();
                let _ = [::langgraph::START, ::langgraph::END];
                let __node_a = __langgraph::add(
                    &mut __graph,
                    "a",
                    __langgraph::mentions([&a]).of(a),
                );
                __langgraph::add_edges(&mut __graph, &[("__start__", "a")]);
                use __langgraph::UnknownGoto as _;
                __node_a.goto();
                __langgraph::ask_last(
                    __langgraph::add_choice(
                        &mut __graph,
                        &["a"],
                        &[("done", "__end__"), ("else", "a")],
                    ),
                    {
                        let __router = done;
                        move |__state, __cx| {
                            let __answer = __langgraph::ask(&__router, __state, __cx);
                            (&__langgraph::Of(&__answer))
                                .kind()
                                .pick(
                                    __answer,
                                    move |__answer| if __answer { 0usize } else { 1usize },
                                )
                        }
                    },
                );
                __graph
            }
        "#]],
    );
    expands(
        "START => a => if let Some(n) = next { END } else { a }",
        expect![[r#"
            fn graph() {
                use ::langgraph::__private as __langgraph;
                use __langgraph::{FutureAnswer as _, PlainAnswer as _, TryFutureAnswer as _};
                let mut __graph = __langgraph::closed();
                let _ = [::langgraph::START, ::langgraph::END];
                let __node_a = __langgraph::add(
                    &mut __graph,
                    "a",
                    __langgraph::mentions([&a]).of(a),
                );
                __langgraph::add_edges(&mut __graph, &[("__start__", "a")]);
                use __langgraph::UnknownGoto as _;
                __node_a.goto();
                __langgraph::ask_last(
                    __langgraph::add_choice(
                        &mut __graph,
                        &["a"],
                        &[("Some(n)", "__end__"), ("else", "a")],
                    ),
                    {
                        let __router = next;
                        move |__state, __cx| {
                            let __answer = __langgraph::ask(&__router, __state, __cx);
                            (&__langgraph::Of(&__answer))
                                .kind()
                                .pick(
                                    __answer,
                                    move |__answer| {
                                        if let Some(n) = __answer { 0usize } else { 1usize }
                                    },
                                )
                        }
                    },
                );
                __graph
            }
        "#]],
    );
}

#[test]
fn an_else_if() {
    expands(
        "START => a => if done { END } else if let Some(ts) = next { for t in ts { b(t) } => END } else { a }",
        expect![[r#"
            fn graph() {
                use ::langgraph::__private as __langgraph;
                use __langgraph::{FutureAnswer as _, PlainAnswer as _, TryFutureAnswer as _};
                let mut __graph = __langgraph::closed();
                let _ = [::langgraph::START, ::langgraph::END, ::langgraph::END];
                let __node_a = __langgraph::add(
                    &mut __graph,
                    "a",
                    __langgraph::mentions([&a]).of(a),
                );
                let (__worker_b, __node_b) = __langgraph::add_worker(&mut __graph, "b", b);
                __langgraph::add_edges(&mut __graph, &[("__start__", "a"), ("b", "__end__")]);
                use __langgraph::UnknownGoto as _;
                __node_a.goto();
                __langgraph::ask_last(
                    __langgraph::ask_first(
                        __langgraph::add_switch(
                            &mut __graph,
                            &["a"],
                            &[
                                ("done", &["__end__"], false),
                                ("Some(ts)", &["b"], true),
                                ("else", &["a"], false),
                            ],
                        ),
                        {
                            let __router = done;
                            move |__state, __cx| {
                                let __answer = __langgraph::ask(&__router, __state, __cx);
                                (&__langgraph::Of(&__answer))
                                    .kind()
                                    .run(
                                        __answer,
                                        move |__answer| {
                                            if __answer {
                                                ::core::option::Option::Some(__langgraph::Pick::arm(0usize))
                                            } else {
                                                ::core::option::Option::None
                                            }
                                        },
                                    )
                            }
                        },
                    ),
                    {
                        let __router = next;
                        let __worker_b = ::core::clone::Clone::clone(&__worker_b);
                        move |__state, __cx| {
                            let __worker_b = ::core::clone::Clone::clone(&__worker_b);
                            let __answer = __langgraph::ask(&__router, __state, __cx);
                            (&__langgraph::Of(&__answer))
                                .kind()
                                .run(
                                    __answer,
                                    move |__answer| {
                                        if let Some(ts) = __answer {
                                            __langgraph::Pick::each(
                                                1usize,
                                                __langgraph::sends(
                                                    ts,
                                                    move |t| __langgraph::send(&__worker_b, t),
                                                ),
                                            )
                                        } else {
                                            __langgraph::Pick::arm(2usize)
                                        }
                                    },
                                )
                        }
                    },
                );
                __node_b.goto();
                __graph
            }
        "#]],
    );
}

#[test]
fn a_for() {
    expands(
        "START => plan => for (i, t) in topics { write((i, t)) } => END",
        expect![[r#"
            fn graph() {
                use ::langgraph::__private as __langgraph;
                use __langgraph::{FutureAnswer as _, PlainAnswer as _, TryFutureAnswer as _};
                let mut __graph = __langgraph::closed();
                let _ = [::langgraph::START, ::langgraph::END];
                let __node_plan = __langgraph::add(&mut __graph, "plan", plan);
                let (__worker_write, __node_write) = __langgraph::add_worker(
                    &mut __graph,
                    "write",
                    write,
                );
                __langgraph::add_edges(&mut __graph, &[("__start__", "plan"), ("write", "__end__")]);
                use __langgraph::UnknownGoto as _;
                __node_plan.goto();
                __langgraph::ask_map(
                    __langgraph::add_map(&mut __graph, &["plan"], "write"),
                    {
                        let __router = topics;
                        let __worker_write = ::core::clone::Clone::clone(&__worker_write);
                        move |__state, __cx| {
                            let __worker_write = ::core::clone::Clone::clone(&__worker_write);
                            let __answer = __langgraph::ask(&__router, __state, __cx);
                            (&__langgraph::Of(&__answer))
                                .kind()
                                .run(
                                    __answer,
                                    move |__answer| __langgraph::sends(
                                        __answer,
                                        move |(i, t)| __langgraph::send(&__worker_write, (i, t)),
                                    ),
                                )
                        }
                    },
                );
                __node_write.goto();
                __graph
            }
        "#]],
    );
}

#[test]
fn a_for_in_an_arm() {
    expands(
        "START => plan => match r { R::Write(ts) => for t in ts { write(t) } => END, \
         R::All => for t in topics { write(t) }, R::Stop => END };",
        expect![[r#"
            fn graph() {
                use ::langgraph::__private as __langgraph;
                use __langgraph::{FutureAnswer as _, PlainAnswer as _, TryFutureAnswer as _};
                let mut __graph = __langgraph::closed();
                let _ = [::langgraph::START, ::langgraph::END, ::langgraph::END];
                let __node_plan = __langgraph::add(&mut __graph, "plan", plan);
                let (__worker_write, __node_write) = __langgraph::add_worker(
                    &mut __graph,
                    "write",
                    __langgraph::mentions([&write]).of(write),
                );
                __langgraph::add_edges(&mut __graph, &[("__start__", "plan"), ("write", "__end__")]);
                use __langgraph::UnknownGoto as _;
                __node_plan.goto();
                __langgraph::ask_last(
                    __langgraph::add_switch(
                        &mut __graph,
                        &["plan"],
                        &[
                            ("R::Write(ts)", &["write"], true),
                            ("R::All", &["write"], true),
                            ("R::Stop", &["__end__"], false),
                        ],
                    ),
                    {
                        let __router = r;
                        let __worker_write = ::core::clone::Clone::clone(&__worker_write);
                        move |__state, __cx| {
                            let __worker_write = ::core::clone::Clone::clone(&__worker_write);
                            let __answer = __langgraph::ask(&__router, __state, __cx);
                            (&__langgraph::Of(&__answer))
                                .kind()
                                .run(
                                    __answer,
                                    move |__answer| match __answer {
                                        R::Write(ts) => {
                                            __langgraph::Pick::each(
                                                0usize,
                                                __langgraph::sends(
                                                    ts,
                                                    move |t| __langgraph::send(&__worker_write, t),
                                                ),
                                            )
                                        }
                                        R::All => {
                                            __langgraph::Pick::each(
                                                1usize,
                                                __langgraph::sends(
                                                    topics(__state),
                                                    move |t| __langgraph::send(&__worker_write, t),
                                                ),
                                            )
                                        }
                                        R::Stop => __langgraph::Pick::arm(2usize),
                                    },
                                )
                        }
                    },
                );
                __node_write.goto();
                __graph
            }
        "#]],
    );
}

#[test]
fn a_goto() {
    expands(
        "START => planner => goto [search, END]; search => planner;",
        expect![[r#"
            fn graph() {
                use ::langgraph::__private as __langgraph;
                let mut __graph = __langgraph::closed();
                let _ = [::langgraph::START, ::langgraph::END];
                __langgraph::add(
                    &mut __graph,
                    "planner",
                    __langgraph::mentions([&planner]).of(planner),
                );
                let __node_search = __langgraph::add(
                    &mut __graph,
                    "search",
                    __langgraph::mentions([&search]).of(search),
                );
                __langgraph::add_edges(
                    &mut __graph,
                    &[("__start__", "planner"), ("search", "planner")],
                );
                use __langgraph::UnknownGoto as _;
                __node_search.goto();
                __langgraph::add_destinations(&mut __graph, "planner", &["search", "__end__"]);
                __graph
            }
        "#]],
    );
}

#[test]
fn a_mistake() {
    expands(
        "START => a => b; a =>",
        expect![[r#"
            fn graph() {
                use ::langgraph::__private as __langgraph;
                let mut __graph = __langgraph::closed();
                let _ = [::langgraph::START];
                __langgraph::add(&mut __graph, "a", __langgraph::mentions([&a]).of(a));
                __langgraph::add(&mut __graph, "b", b);
                __langgraph::add_edges(&mut __graph, &[("__start__", "a"), ("a", "b")]);
                ::core::compile_error! {
                    "expected a node, `[..]`, `match`, `if`, `for`, `goto [..]` or `END` after `=>`"
                }
                __graph
            }
        "#]],
    );
    expands(
        "START => a => match r { X => b => END, Y => };",
        expect![[r#"
            fn graph() {
                use ::langgraph::__private as __langgraph;
                use __langgraph::{FutureAnswer as _, PlainAnswer as _, TryFutureAnswer as _};
                let mut __graph = __langgraph::closed();
                let _ = [::langgraph::START, ::langgraph::END];
                __langgraph::add(&mut __graph, "a", a);
                __langgraph::add(&mut __graph, "b", b);
                __langgraph::add_edges(&mut __graph, &[("__start__", "a"), ("b", "__end__")]);
                __langgraph::ask_last(
                    __langgraph::add_choice(&mut __graph, &["a"], &[("X", "b")]),
                    {
                        let __router = r;
                        move |__state, __cx| {
                            let __answer = __langgraph::ask(&__router, __state, __cx);
                            (&__langgraph::Of(&__answer))
                                .kind()
                                .pick(
                                    __answer,
                                    move |__answer| match __answer {
                                        X => 0usize,
                                        #[allow(unreachable_patterns)]
                                        _ => 0usize,
                                    },
                                )
                        }
                    },
                );
                ::core::compile_error! {
                    "expected where this answer leads after `=>`: a node, `[..]`, `for` or `END`"
                }
                __graph
            }
        "#]],
    );
}

#[test]
fn a_decision_after_any_of_several_nodes_and_by_name() {
    expands(
        "let turn = match r { X => a, Y => END }; START | b => turn; a => turn; a => b;",
        expect![[r#"
            fn graph() {
                use ::langgraph::__private as __langgraph;
                use __langgraph::{FutureAnswer as _, PlainAnswer as _, TryFutureAnswer as _};
                {
                    let turn = ();
                    let _ = (turn, turn);
                }
                let mut __graph = __langgraph::closed();
                let _ = [::langgraph::START, ::langgraph::END];
                let __node_b = __langgraph::add(
                    &mut __graph,
                    "b",
                    __langgraph::mentions([&b]).of(b),
                );
                let __node_a = __langgraph::add(
                    &mut __graph,
                    "a",
                    __langgraph::mentions([&a, &a]).of(a),
                );
                use __langgraph::UnknownWrites as _;
                {
                    #[allow(non_snake_case)]
                    fn a_beside_b<F: __langgraph::WrittenOnce>(_: ::core::marker::PhantomData<F>) {}
                    let __both = __langgraph::pair(&__node_a, &__node_b).clash();
                    a_beside_b(__both.field);
                }
                __langgraph::add_edges(&mut __graph, &[("a", "b")]);
                use __langgraph::UnknownGoto as _;
                __node_b.goto();
                __node_a.goto();
                __langgraph::ask_last(
                    __langgraph::add_choice(
                        &mut __graph,
                        &["__start__", "b", "a"],
                        &[("X", "a"), ("Y", "__end__")],
                    ),
                    {
                        let __router = r;
                        move |__state, __cx| {
                            let __answer = __langgraph::ask(&__router, __state, __cx);
                            (&__langgraph::Of(&__answer))
                                .kind()
                                .pick(
                                    __answer,
                                    move |__answer| match __answer {
                                        X => 0usize,
                                        Y => 1usize,
                                    },
                                )
                        }
                    },
                );
                __graph
            }
        "#]],
    );
}
