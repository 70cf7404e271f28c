use langgraph::prelude::*;

#[derive(State, Clone, Default)]
struct Post {
    topic: String,
    draft: String,
    review: String,
    #[reducer(append)]
    log: Vec<String>,
}

#[node]
async fn plan(post: &Post) -> PostUpdate {
    PostUpdate::default().log(vec![post.topic.clone()])
}

#[node]
async fn write(post: &Post) -> PostUpdate {
    let draft = format!("{}: {} after {:?}", post.topic, post.review, post.log);
    PostUpdate::default().draft(draft)
}

#[node(writes(review))]
async fn review(post: &Post, _: &Context) -> Result<String, NodeError> {
    Ok(post.draft.clone())
}

fn good(post: &Post) -> bool {
    post.review.is_empty()
}

fn main() {
    // The draft is never reviewed before it is written.
    let _ = graph! {
        #![input(topic)]
        START => plan => write => review => END;
    };
    // In a loop, the review is there the second time.
    let _ = graph! {
        #![input(topic)]
        START => plan => write => review => if good { END } else { write };
    };
    // Only what leads to a node runs before it, also after a loop.
    let _ = graph! {
        #![input()]
        START => review => if good { write } else { review };
        write => plan => END;
    };
}
