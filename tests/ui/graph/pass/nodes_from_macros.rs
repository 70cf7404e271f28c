//! Nodes that a macro makes, generic nodes, associated functions; a graph inside a generic function.
#![deny(warnings)]
// The shapes of nodes and routers are the runtime\'s.
#![allow(clippy::trivially_copy_pass_by_ref, clippy::unnecessary_wraps)]

use langgraph::prelude::*;

macro_rules! adders {
    ($($name:ident $by:literal)*) => {$(
        fn $name(n: &i64) -> i64 {
            n + $by
        }
    )*};
}

adders!(one 1 two 2);

macro_rules! through {
    ($first:ident, $second:path) => {
        graph! {
            START => $first => $second => match positive {
                true => END,
                false => $first,
            }
        }
    };
}

fn positive(n: &i64) -> bool {
    *n > 0
}

fn keep<S: State>(state: &S) -> S {
    state.clone()
}

struct Nodes;

impl Nodes {
    fn three(n: &i64) -> i64 {
        n + 3
    }
}

fn generic<S: State + Default>() -> StateGraph<S> {
    graph! {
        type State = S;
        START => keep => again => END;
        let again = keep;
    }
}

pub(crate) fn main() {
    let _ = through!(one, two).compile();
    let _ = through!(two, Nodes::three).compile();
    let _ = generic::<i64>().compile();
    let mentioned_twice = graph! {
        type State = i64;
        START => keep => match positive { true => keep, false => END };
    };
    let _ = mentioned_twice.compile();
}
