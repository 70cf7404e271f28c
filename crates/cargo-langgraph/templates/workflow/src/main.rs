use std::error::Error;
use std::sync::Arc;

use langgraph::checkpoint::MemorySaver;

use {{crate}}::{OrderUpdate, order};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let answer = std::env::args().nth(1).unwrap_or_else(|| "yes".to_owned());
    let graph = order()?.checkpointer(Arc::new(MemorySaver::new()));
    let input = OrderUpdate::default().item("lamps".to_owned()).count(80);
    let mut outcome = graph.run(input).thread("order-1").await?;
    for interrupt in outcome.interrupts() {
        println!("{}: {}", interrupt.key, interrupt.payload);
    }
    if !outcome.interrupts().is_empty() {
        println!("the answer is {answer}");
        outcome = graph
            .thread("order-1")
            .resume("approve", answer == "yes")
            .await?;
    }
    println!("{}", outcome.finished()?.log.join(", "));
    Ok(())
}
