use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

#[node]
async fn check(n: &i64) -> i64 {
    *n
}

#[node]
async fn search(item: i64, n: &i64) -> i64 {
    *n + item
}

fn items(n: &i64) -> Vec<i64> {
    vec![*n]
}

fn done(n: &i64) -> bool {
    *n > 3
}

fn main() {
    let _ = graph! {
        #![bounded]
        type State = i64;

        START => plan => for item in items { search(item) } => check;
        check => if done { END } else { plan };
    };
    let _ = graph! {
        #![bounded]
        type State = i64;

        START => plan => for item in items { search(item) at_most 10 } => check;
        check => if done { END } else { plan at_most 5 else END };
    };
}
