use std::error::Error;
use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;

use {{crate}}::{order, order_graph};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let answer = std::env::args().nth(1).unwrap_or_else(|| "yes".to_owned());
    let graph = order_graph()?.checkpointer(Arc::new(MemorySaver::new()));
    let thread = graph.thread("order-1");
    let mut outcome = thread.run(order("lamps".to_owned(), 80)).await?;
    for interrupt in outcome.interrupts() {
        println!("{}: {}", interrupt.key, interrupt.payload);
    }
    if !outcome.interrupts().is_empty() {
        println!("the answer is {answer}");
        outcome = thread.resume("approve", answer == "yes").await?;
    }
    println!("{}", outcome.finished()?.output.unwrap_or_default());
    Ok(())
}
