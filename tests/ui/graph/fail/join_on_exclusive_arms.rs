use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

#[node]
async fn search(n: &i64) -> i64 {
    *n
}

#[node]
async fn write(n: &i64) -> i64 {
    *n
}

#[node]
async fn publish(n: &i64) -> i64 {
    *n
}

enum Route {
    More,
    Done,
}

fn route(n: &i64) -> Route {
    if *n < 3 { Route::More } else { Route::Done }
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => plan => match route {
            Route::More => search,
            Route::Done => write,
        };
        [search, write] => publish => END;
    };
}
