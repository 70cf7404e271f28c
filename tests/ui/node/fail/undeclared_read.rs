use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Post {
    topic: String,
    draft: String,
}

#[node(reads(topic))]
async fn write(post: &Post) -> PostUpdate {
    PostUpdate::default().draft(format!("{}{}", post.topic, post.draft))
}

struct Writer;

#[node(reads(topic))]
impl Writer {
    async fn run(&self, _: &Post) {}
}

struct Desk;

#[node]
impl Desk {
    #[node(reads(draft))]
    async fn shorten(post: &Post) -> PostUpdate {
        PostUpdate::default().draft(post.topic.clone())
    }
}

fn main() {}
