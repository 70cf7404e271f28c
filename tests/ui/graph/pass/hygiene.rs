//! The expansion needs no name of the user's, and touches none.
#![no_implicit_prelude]
#![deny(warnings)]
// The shapes of nodes and routers are the runtime\'s.
#![allow(clippy::trivially_copy_pass_by_ref, clippy::unnecessary_wraps)]
#![allow(dead_code)]

mod std {}
mod core {}
struct Option;
struct Result;
struct Vec;
struct String;
struct Clone;
struct Iterator;
struct Send;
struct StateGraph;
const START: u8 = 1;
const END: u8 = 2;

fn a(n: &i64) -> i64 {
    *n
}

fn items(n: &i64) -> [i64; 1] {
    [*n]
}

async fn work(item: i64, _: &i64) -> i64 {
    item
}

fn route(n: &i64) -> bool {
    *n > 0
}

pub(crate) fn main() {
    let __graph = 1;
    let __router = 2;
    let __answer = 3;
    let graph = ::langgraph::graph! {
        START => a => for item in items { work(item) } => b => match route {
            true => a,
            false if __graph + __router + __answer > 0 => for item in items { work(item) },
            false => END,
        };
        let b = a;
    };
    let _ = graph.compile();
}
