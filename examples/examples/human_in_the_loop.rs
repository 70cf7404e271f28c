//! A person decides: the graph pauses at an interrupt and continues, later, with the answer.
//! Earlier nodes do not run again; a "no" takes the other branch.
//! Run it with `cargo run --example human_in_the_loop -- yes`.

use langgraph::checkpoint::MemorySaver;
use langgraph::prelude::*;
use langgraph_examples::show;
use std::sync::Arc;

#[derive(State, Clone, Debug, Default)]
pub(crate) struct Post {
    topic: String,
    text: String,
    approved: bool,
    #[reducer(append)]
    log: Vec<String>,
}

#[node]
async fn write(state: &Post) -> PostUpdate {
    PostUpdate::default()
        .text(format!("All about {}.", state.topic))
        .log(vec!["written".to_owned()])
}

/// Interrupts, and receives the answer here when the run resumes.
#[node]
async fn ask(state: &Post, cx: &Context) -> Result<PostUpdate, NodeError> {
    let approved: bool = cx.interrupt("approve", &format!("Publish \"{}\"?", state.text))?;
    Ok(PostUpdate::default().approved(approved))
}

#[node]
async fn publish(_: &Post) -> PostUpdate {
    PostUpdate::default().log(vec!["published".to_owned()])
}

#[node]
async fn discard(_: &Post) -> PostUpdate {
    PostUpdate::default().log(vec!["discarded".to_owned()])
}

/// The graph.
pub(crate) fn posts() -> Result<CompiledStateGraph<Post>, CompilationErrors> {
    let mut graph = graph! {
        type State = Post;
        START => write => ask => if |post: &Post| post.approved {
            publish => END
        } else {
            discard => END
        };
    };
    graph.set_name("posts").compile()
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let answer = std::env::args().nth(1).unwrap_or_else(|| "yes".to_owned());
    let graph = posts()?.checkpointer(Arc::new(MemorySaver::new()));
    if show::graph(graph.topology()) {
        return Ok(());
    }

    let outcome = graph
        .run(PostUpdate::default().topic("graphs".to_owned()))
        .thread("post-1")
        .await?;
    for interrupt in outcome.interrupts() {
        println!("the graph asks `{}`: {}", interrupt.key, interrupt.payload);
    }
    println!("the answer is {answer}");
    let outcome = graph
        .thread("post-1")
        .resume("approve", answer == "yes")
        .await?;
    println!("{}", outcome.finished()?.log.join(", "));
    Ok(())
}
