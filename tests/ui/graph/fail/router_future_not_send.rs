use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

async fn done(n: &i64) -> bool {
    let shared = std::rc::Rc::new(*n);
    std::future::ready(()).await;
    *shared > 3
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => plan => if done { plan } else { END };
    };
}
