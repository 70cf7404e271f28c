use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

fn route(text: &String) -> bool {
    text.is_empty()
}

fn main() {
    let _ = graph! {
        type State = i64;

        START => plan => match route {
            true => plan,
            false => END,
        };
    };
}
