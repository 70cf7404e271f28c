use std::time::Duration;

use langgraph::prelude::*;
use langgraph::state::PlainUpdate;

#[node]
async fn plan(n: &i64) -> Result<Command<i64>, NodeError> {
    Ok(Command::update(PlainUpdate(Some(n + 1))).and_goto("search"))
}

async fn search(_: &i64) -> Next {
    Next::End
}

struct Review;

impl Review {
    fn new() -> Self {
        Self
    }
}

#[node]
impl Review {
    async fn run(&self, n: &i64) -> (i64, Next) {
        (*n, Next::Continue)
    }
}

// These name no targets, so they need no line.
#[node]
async fn count(n: &i64) -> Result<i64, NodeError> {
    Ok(*n)
}

/// No node: its option has the name of one.
struct Builder;

impl Builder {
    fn retry(self, _: u8) -> impl Fn(&i64) -> i64 {
        |n| *n
    }
}

#[node]
async fn any<S: State>(_: &S) -> S::Update {
    S::Update::default()
}

fn main() {
    let built = Builder;
    let _ = graph! {
        type State = i64;

        let plan = plan.retry(3);
        let plan = plan.timeout(Duration::from_secs(1));
        let look = search.tag("look");
        let review = Review::new().retry(3);
        let count = count.retry(3);
        let built = built.retry(3);
        let any = any.retry(3);

        START => plan => look => review => count => built => any => END;
    };

    let _ = graph! {
        type State = i64;

        let plan = plan.retry(3);
        let look = search.tag("look");
        let review = Review::new().retry(3);

        START => plan => look => review => count => END;
        plan => goto [count];
        look => goto [END];
        review => goto [END];
    };
}
