use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

#[node]
async fn search(n: &i64) -> i64 {
    *n
}

enum Route {
    More,
    Done,
}

fn route(n: &i64) -> Route {
    if *n < 3 { Route::More } else { Route::Done }
}

fn items(n: &i64) -> Vec<i64> {
    vec![*n]
}

#[node]
async fn work(item: i64, n: &i64) -> i64 {
    item + n
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => plan => match route {
            Route::More => [search, for item in items { work(item) }] => END,
            Route::Done => END,
        };
    };
}
