//! The runtime crate under another name.
#![deny(warnings)]

extern crate langgraph as graphs;

fn a(n: &i64) -> i64 {
    n + 1
}

fn items(n: &i64) -> Vec<i64> {
    vec![*n]
}

fn work(item: i64, _: &i64) -> std::future::Ready<i64> {
    std::future::ready(item)
}

fn main() {
    let graph = graphs::graph! {
        crate = ::graphs;
        START => a => for item in items { work(item) } => b => if even { END } else { a };
        let b = a;
        let even = |n: &i64| n % 2 == 0;
    };
    let _ = graph.compile();
}
