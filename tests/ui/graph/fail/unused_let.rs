use langgraph::prelude::*;

#[node]
async fn plan(n: &i64) -> i64 {
    *n
}

#[node]
async fn search(n: &i64) -> i64 {
    *n
}

fn main() {
    let _ = graph! {
        type State = i64;

        let search = search.retry(3);
        let planner = plan.retry(3);
        let _limit = 5;

        START => plan => END;
    };
}
