use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

enum Route {
    Again,
    Retry,
    Done,
}

fn route(_: &i64) -> Route {
    Route::Done
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => plan => match route {
            Route::Again => plan at_most 5,
            Route::Retry => plan at_most 2 else END,
            Route::Done => END,
        };
    };
    let _ = (Route::Again, Route::Retry);
}
