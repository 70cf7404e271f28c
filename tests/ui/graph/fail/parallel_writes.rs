use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Trip {
    plan: String,
    days: u32,
    #[reducer(append)]
    log: Vec<String>,
}

#[node(writes(plan, log))]
async fn by_train(_: &Trip) -> (String, Vec<String>) {
    ("by train".to_owned(), vec![])
}

#[node(writes(log, plan))]
async fn by_boat(_: &Trip, _: &Context) -> Result<(Vec<String>, String), NodeError> {
    Ok((vec![], "by boat".to_owned()))
}

#[node(writes(days), state = Trip)]
async fn count(_: Trip) -> u32 {
    3
}

#[node(writes(days))]
fn count_again(_: &Trip) -> u32 {
    4
}

#[node]
async fn rest(_: &Trip) {}

fn main() {
    let _ = graph! {
        START => [by_train, count => rest, by_boat] => END;
    };
    let long = |_: &Trip| true;
    let _ = graph! {
        START => rest => if long { [count, count_again] => END } else { END };
    };
    let _ = graph! {
        START => rest => by_train => END;
        rest => count => END;
        rest => by_boat => END;
    };
}
