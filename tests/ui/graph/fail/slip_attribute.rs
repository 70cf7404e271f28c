use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Post {
    topic: String,
}

#[node]
async fn write(_: &Post) {}

fn main() {
    let _ = graph! {
        #![inputs(topic)]
        START => write => END;
    };
    let _ = graph! {
        #![input]
        START => write => END;
    };
    let _ = graph! {
        #![input(topic)]
        #![input(topic)]
        START => write => END;
    };
    let _ = graph! {
        #![output("topic")]
        START => write => END;
    };
}
