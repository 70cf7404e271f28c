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
            let mut __graph = ::langgraph::__private::closed::<_>();
            let _ = [::langgraph::START, ::langgraph::END];
            __graph.add_node("a", a);
            __graph.add_node("b", nodes::b);
            ::langgraph::__private::add_edges(
                &mut __graph,
                &[("__start__", "a"), ("a", "b"), ("b", "__end__")],
            );
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
                let a = a.retry(3);
                let mut __graph = ::langgraph::__private::closed::<S>();
                let _ = [::langgraph::START, ::langgraph::END];
                __graph.add_node("a", a);
                ::langgraph::__private::add_edges(
                    &mut __graph,
                    &[("__start__", "a"), ("a", "__end__")],
                );
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
                let mut __graph = ::graphs::__private::closed::<_>();
                let _ = [::graphs::START, ::graphs::END];
                __graph.add_node("a", a);
                let __node_b = ::graphs::__private::add(&mut __graph, "b", b);
                let __node_c = ::graphs::__private::add(&mut __graph, "c", c);
                ::graphs::__private::add_edges(
                    &mut __graph,
                    &[("__start__", "a"), ("a", "b"), ("a", "c"), ("b", "__end__"), ("c", "__end__")],
                );
                {
                    #[allow(non_snake_case)]
                    fn b_beside_c<F: ::graphs::__private::WrittenOnce>(
                        _: ::core::marker::PhantomData<F>,
                    ) {}
                    use ::graphs::__private::{DeclaredWrites as _, UnknownWrites as _};
                    let __both = (&::graphs::__private::pair(&__node_b, &__node_c)).clash();
                    b_beside_c(__both.field);
                }
                __graph
            }
        "#]],
    );
}

#[test]
fn groups() {
    expands(
        "START => [a, b => c] => d => END",
        expect![[r#"
            fn graph() {
                let mut __graph = ::langgraph::__private::closed::<_>();
                let _ = [::langgraph::START, ::langgraph::END];
                let __node_a = ::langgraph::__private::add(&mut __graph, "a", a);
                let __node_b = ::langgraph::__private::add(&mut __graph, "b", b);
                __graph.add_node("c", c);
                __graph.add_node("d", d);
                ::langgraph::__private::add_edges(
                    &mut __graph,
                    &[("__start__", "a"), ("__start__", "b"), ("b", "c"), ("d", "__end__")],
                );
                ::langgraph::__private::add_joins(&mut __graph, &[(&["a", "c"], "d")]);
                {
                    #[allow(non_snake_case)]
                    fn a_beside_b<F: ::langgraph::__private::WrittenOnce>(
                        _: ::core::marker::PhantomData<F>,
                    ) {}
                    use ::langgraph::__private::{DeclaredWrites as _, UnknownWrites as _};
                    let __both = (&::langgraph::__private::pair(&__node_a, &__node_b)).clash();
                    a_beside_b(__both.field);
                }
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
                let mut __graph = ::langgraph::__private::closed::<_>();
                let _ = [::langgraph::START, ::langgraph::END, ::langgraph::END];
                __graph.add_node("a", ::langgraph::__private::mentions([&a]).of(a));
                __graph.add_node("b", b);
                let __node_c = ::langgraph::__private::add(
                    &mut __graph,
                    "c",
                    ::langgraph::__private::mentions([&c]).of(c),
                );
                let __node_d = ::langgraph::__private::add(
                    &mut __graph,
                    "d",
                    ::langgraph::__private::mentions([&d]).of(d),
                );
                ::langgraph::__private::add_edges(
                    &mut __graph,
                    &[("__start__", "a"), ("b", "a"), ("c", "__end__"), ("d", "__end__")],
                );
                ::langgraph::__private::add_switch(
                        &mut __graph,
                        "a",
                        &[
                            ("R::More", &["b"], false),
                            ("R::Done(n) if n > 3", &["c", "d"], false),
                            ("_", &["__end__"], false),
                        ],
                    )
                    .asking({
                        let __router = r;
                        move |__state, __cx| {
                            use ::langgraph::__private::{
                                FutureAnswer as _, PlainAnswer as _, ResultAnswer as _,
                                TryFutureAnswer as _,
                            };
                            let __answer = ::langgraph::__private::ask(&__router, __state, __cx);
                            (&&&&::langgraph::__private::Of(&__answer))
                                .kind()
                                .run(
                                    __answer,
                                    move |__answer| match __answer {
                                        R::More => ::langgraph::__private::Pick::arm(0usize),
                                        R::Done(n) if n > 3 => {
                                            ::langgraph::__private::Pick::arm(1usize)
                                        }
                                        _ => ::langgraph::__private::Pick::arm(2usize),
                                    },
                                )
                        }
                    });
                {
                    #[allow(non_snake_case)]
                    fn c_beside_d<F: ::langgraph::__private::WrittenOnce>(
                        _: ::core::marker::PhantomData<F>,
                    ) {}
                    use ::langgraph::__private::{DeclaredWrites as _, UnknownWrites as _};
                    let __both = (&::langgraph::__private::pair(&__node_c, &__node_d)).clash();
                    c_beside_d(__both.field);
                }
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
                let mut __graph = ::langgraph::__private::closed::<_>();
                let _ = [::langgraph::START, ::langgraph::END];
                __graph.add_node("a", ::langgraph::__private::mentions([&a]).of(a));
                ::langgraph::__private::add_edges(&mut __graph, &[("__start__", "a")]);
                ::langgraph::__private::add_switch(
                        &mut __graph,
                        "a",
                        &[("done", &["__end__"], false), ("else", &["a"], false)],
                    )
                    .asking({
                        let __router = done;
                        move |__state, __cx| {
                            use ::langgraph::__private::{
                                FutureAnswer as _, PlainAnswer as _, ResultAnswer as _,
                                TryFutureAnswer as _,
                            };
                            let __answer = ::langgraph::__private::ask(&__router, __state, __cx);
                            (&&&&::langgraph::__private::Of(&__answer))
                                .kind()
                                .run(
                                    __answer,
                                    move |__answer| {
                                        if __answer {
                                            ::langgraph::__private::Pick::arm(0usize)
                                        } else {
                                            ::langgraph::__private::Pick::arm(1usize)
                                        }
                                    },
                                )
                        }
                    });
                __graph
            }
        "#]],
    );
    expands(
        "START => a => if let Some(n) = next { END } else { a }",
        expect![[r#"
            fn graph() {
                let mut __graph = ::langgraph::__private::closed::<_>();
                let _ = [::langgraph::START, ::langgraph::END];
                __graph.add_node("a", ::langgraph::__private::mentions([&a]).of(a));
                ::langgraph::__private::add_edges(&mut __graph, &[("__start__", "a")]);
                ::langgraph::__private::add_switch(
                        &mut __graph,
                        "a",
                        &[("Some(n)", &["__end__"], false), ("else", &["a"], false)],
                    )
                    .asking({
                        let __router = next;
                        move |__state, __cx| {
                            use ::langgraph::__private::{
                                FutureAnswer as _, PlainAnswer as _, ResultAnswer as _,
                                TryFutureAnswer as _,
                            };
                            let __answer = ::langgraph::__private::ask(&__router, __state, __cx);
                            (&&&&::langgraph::__private::Of(&__answer))
                                .kind()
                                .run(
                                    __answer,
                                    move |__answer| {
                                        if let Some(n) = __answer {
                                            ::langgraph::__private::Pick::arm(0usize)
                                        } else {
                                            ::langgraph::__private::Pick::arm(1usize)
                                        }
                                    },
                                )
                        }
                    });
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
                let mut __graph = ::langgraph::__private::closed::<_>();
                let _ = [::langgraph::START, ::langgraph::END];
                __graph.add_node("plan", plan);
                let __worker_write = __graph.add_worker("write", write);
                ::langgraph::__private::add_edges(
                    &mut __graph,
                    &[("__start__", "plan"), ("write", "__end__")],
                );
                ::langgraph::__private::add_map(&mut __graph, "plan", "write")
                    .asking({
                        let __router = topics;
                        let __worker_write = ::core::clone::Clone::clone(&__worker_write);
                        move |__state, __cx| {
                            use ::langgraph::__private::{
                                FutureAnswer as _, PlainAnswer as _, ResultAnswer as _,
                                TryFutureAnswer as _,
                            };
                            let __worker_write = ::core::clone::Clone::clone(&__worker_write);
                            let __answer = ::langgraph::__private::ask(&__router, __state, __cx);
                            (&&&&::langgraph::__private::Of(&__answer))
                                .kind()
                                .run(
                                    __answer,
                                    move |__answer| ::langgraph::__private::sends(
                                        __answer,
                                        move |(i, t)| ::langgraph::__private::send(
                                            &__worker_write,
                                            (i, t),
                                        ),
                                    ),
                                )
                        }
                    });
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
                let mut __graph = ::langgraph::__private::closed::<_>();
                let _ = [::langgraph::START, ::langgraph::END, ::langgraph::END];
                __graph.add_node("plan", plan);
                let __worker_write = __graph
                    .add_worker("write", ::langgraph::__private::mentions([&write]).of(write));
                ::langgraph::__private::add_edges(
                    &mut __graph,
                    &[("__start__", "plan"), ("write", "__end__")],
                );
                ::langgraph::__private::add_switch(
                        &mut __graph,
                        "plan",
                        &[
                            ("R::Write(ts)", &["write"], true),
                            ("R::All", &["write"], true),
                            ("R::Stop", &["__end__"], false),
                        ],
                    )
                    .asking({
                        let __router = r;
                        let __worker_write = ::core::clone::Clone::clone(&__worker_write);
                        move |__state, __cx| {
                            use ::langgraph::__private::{
                                FutureAnswer as _, PlainAnswer as _, ResultAnswer as _,
                                TryFutureAnswer as _,
                            };
                            let __worker_write = ::core::clone::Clone::clone(&__worker_write);
                            let __answer = ::langgraph::__private::ask(&__router, __state, __cx);
                            (&&&&::langgraph::__private::Of(&__answer))
                                .kind()
                                .run(
                                    __answer,
                                    move |__answer| match __answer {
                                        R::Write(ts) => {
                                            ::langgraph::__private::Pick::each(
                                                0usize,
                                                ::langgraph::__private::sends(
                                                    ts,
                                                    move |t| ::langgraph::__private::send(&__worker_write, t),
                                                ),
                                            )
                                        }
                                        R::All => {
                                            ::langgraph::__private::Pick::each(
                                                1usize,
                                                ::langgraph::__private::sends(
                                                    topics(__state),
                                                    move |t| ::langgraph::__private::send(&__worker_write, t),
                                                ),
                                            )
                                        }
                                        R::Stop => ::langgraph::__private::Pick::arm(2usize),
                                    },
                                )
                        }
                    });
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
                let mut __graph = ::langgraph::__private::closed::<_>();
                let _ = [::langgraph::START, ::langgraph::END];
                __graph
                    .add_node("planner", ::langgraph::__private::mentions([&planner]).of(planner));
                __graph.add_node("search", ::langgraph::__private::mentions([&search]).of(search));
                ::langgraph::__private::add_edges(
                    &mut __graph,
                    &[("__start__", "planner"), ("search", "planner")],
                );
                ::langgraph::__private::add_destinations(
                    &mut __graph,
                    "planner",
                    &["search", "__end__"],
                );
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
            ::core::compile_error! {
                "expected a node, `[..]`, `match`, `if`, `for`, `goto [..]` or `END` after `=>`"
            }
            let mut __graph = ::langgraph::__private::closed::<_>();
            let _ = [::langgraph::START];
            __graph.add_node("a", ::langgraph::__private::mentions([&a]).of(a));
            __graph.add_node("b", b);
            ::langgraph::__private::add_edges(&mut __graph, &[("__start__", "a"), ("a", "b")]);
            __graph
        }
    "#]],
    );
    expands(
        "START => a => match r { X => b => END, Y => };",
        expect![[r#"
            fn graph() {
                ::core::compile_error! {
                    "expected where this answer leads after `=>`: a node, `[..]`, `for` or `END`"
                }
                let mut __graph = ::langgraph::__private::closed::<_>();
                let _ = [::langgraph::START, ::langgraph::END];
                __graph.add_node("a", a);
                __graph.add_node("b", b);
                ::langgraph::__private::add_edges(
                    &mut __graph,
                    &[("__start__", "a"), ("b", "__end__")],
                );
                ::langgraph::__private::add_switch(&mut __graph, "a", &[("X", &["b"], false)])
                    .asking({
                        let __router = r;
                        move |__state, __cx| {
                            use ::langgraph::__private::{
                                FutureAnswer as _, PlainAnswer as _, ResultAnswer as _,
                                TryFutureAnswer as _,
                            };
                            let __answer = ::langgraph::__private::ask(&__router, __state, __cx);
                            (&&&&::langgraph::__private::Of(&__answer))
                                .kind()
                                .run(
                                    __answer,
                                    move |__answer| match __answer {
                                        X => ::langgraph::__private::Pick::arm(0usize),
                                        #[allow(unreachable_patterns)]
                                        _ => ::langgraph::__private::Pick::arm(0usize),
                                    },
                                )
                        }
                    });
                __graph
            }
        "#]],
    );
}
