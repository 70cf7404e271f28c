use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

fn done(n: &i64) -> bool {
    *n > 3
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => plan => if done { END } else if done { plan } else { END };
    };
}
