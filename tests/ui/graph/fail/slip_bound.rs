use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

fn main() {
    let _ = graph! { type State = i64; START => plan => plan at_most else END; };
    let _ = graph! { type State = i64; START => plan => plan at_most 0 else END; };
    let _ = graph! { type State = i64; START => plan => plan at_most 5 else; };
    let _ = graph! { type State = i64; START => plan => END at_most 5; };
    let _ = graph! { #![bound] type State = i64; START => plan => END; };
}
