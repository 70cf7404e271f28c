use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

fn route(n: i64) -> Option<i64> {
    Some(n)
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => plan => match route {
            Some(_) => END,
            None => plan,
        };
    };
}
