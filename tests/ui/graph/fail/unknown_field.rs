use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Post {
    topic: String,
    draft: String,
}

#[node]
async fn write(post: &Post) -> PostUpdate {
    PostUpdate::default().draft(post.topic.clone())
}

fn main() {
    let _ = graph! {
        #![input(topics)]
        #![output(draft, length)]
        START => write => END;
    };
}
