use langgraph::prelude::*;

fn main() {
    let _ = graph! {
        type State = i64;

        START => |n: &i64| *n => END;
    };
}
