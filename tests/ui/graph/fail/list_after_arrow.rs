use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

#[node]
async fn search(n: &i64) -> i64 {
    *n
}

fn enough(n: &i64) -> bool {
    *n > 3
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => plan | search;
        plan | search => if enough { END } else { plan };
    };
}
