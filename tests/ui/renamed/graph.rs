//! Every construct of `graph!`.
#![deny(warnings)]

use graphs::prelude::NodeExt;
use graphs::error::NodeError;
use graphs::{Context, State, StateGraph, graph, node};

#[derive(State, Clone, Default)]
#[state(crate = ::graphs)]
struct Work {
    count: i64,
    #[reducer(append)]
    log: Vec<String>,
}

#[node(crate = ::graphs)]
async fn a(_: &Work) -> WorkUpdate {
    WorkUpdate::default().count(1)
}

mod nodes {
    pub(crate) fn plan(_: &crate::Work) -> crate::WorkUpdate {
        crate::WorkUpdate::default()
    }
}

fn items(_: &Work) -> Vec<i64> {
    vec![1]
}

fn work(item: i64, _: &Work) -> std::future::Ready<WorkUpdate> {
    std::future::ready(WorkUpdate::default().log(vec![item.to_string()]))
}

enum Route {
    Again,
    Each(Vec<i64>),
    Done,
}

async fn route(state: &Work, _: &Context) -> Result<Route, NodeError> {
    Ok(match state.count {
        0 => Route::Again,
        1 => Route::Each(vec![1]),
        _ => Route::Done,
    })
}

fn maybe(_: &Work) -> Option<i64> {
    None
}

fn wired() -> StateGraph<Work> {
    graph! {
        crate = ::graphs;
        type State = Work;
        let b = a.retry(2);
        let [c, d] = [a, a];
        let decide = a;
        let join = a;
        let even = |state: &Work| state.count % 2 == 0;

        START => [a, nodes::plan => b];
        [a, b] => join => match route {
            Route::Again => a,
            Route::Each(parts) if true => for part in parts { work(part) } => c,
            Route::Each(_) | Route::Done => decide => goto [c, d, END],
        };
        c => for item in items { work(item) } => if even { END } else if let Some(_) = maybe { d } else { a };
        d => END;
    }
}

fn main() {
    let _ = wired().compile();
}
