use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    let shared = std::rc::Rc::new(*n);
    std::future::ready(()).await;
    *shared
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => plan => END;
    };
}
