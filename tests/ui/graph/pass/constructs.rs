//! Every construct, in crates that deny warnings.
#![deny(warnings, rust_2018_idioms, unused, clippy::all, clippy::pedantic)]
// The shapes of nodes and routers are the runtime\'s.
#![allow(clippy::trivially_copy_pass_by_ref, clippy::unnecessary_wraps)]

use langgraph::prelude::*;

fn plan(n: &i64) -> i64 {
    n + 1
}

fn search(n: &i64) -> i64 {
    n + 10
}

mod nodes {
    pub(crate) fn write(n: &i64) -> i64 {
        n + 100
    }
}

fn work(item: i64, n: &i64) -> std::future::Ready<i64> {
    std::future::ready(item + n)
}

fn items(n: &i64) -> Vec<i64> {
    vec![*n]
}

enum Route {
    More,
    Each(Vec<i64>),
    Done,
}

fn route(n: &i64) -> Route {
    match n {
        0..10 => Route::More,
        10..100 => Route::Each(vec![*n]),
        _ => Route::Done,
    }
}

fn done(n: &i64) -> bool {
    *n > 1_000
}

fn last(n: &i64) -> Option<i64> {
    Some(*n)
}

pub(crate) fn main() {
    let limit = 5;
    let graph = graph! {
        type State = i64;

        let search = search.retry(3);

        START => plan => match route {
            Route::More => search => plan,
            Route::Each(numbers) if numbers.len() > limit => END,
            Route::Each(numbers) => for number in numbers { work(number) },
            Route::Done => [nodes::write, judge],
        };
        let judge = nodes::write;
        work => if done { END } else { publish };
        nodes::write => [a => b, c] => publish;
        judge => for item in items { other(item) } => END;
        publish => if let Some(1) = last {
            END
        } else if done {
            for number in items { work(number) }
        } else if let Some(2) = last {
            [a, c]
        } else {
            END
        };
        let a = plan;
        let b = plan;
        let c = plan;
        let publish = plan;
        let other = work;
    };
    let _ = graph.compile();

    let inferred = graph! { START => plan => END };
    let _ = inferred.compile();
}
