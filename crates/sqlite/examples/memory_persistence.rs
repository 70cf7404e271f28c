//! A thread that outlives the program: run it again and again with the same file, and it remembers.
//! Shows: a graph on a SQLite file, its state in a new saver object and in a new process, and what
//! the file holds.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use langgraph::prelude::*;
use langgraph_sqlite::SqliteSaver;

#[derive(State, Clone, Debug, Default)]
struct Visits {
    #[reducer(append)]
    visitors: Vec<String>,
    greeting: String,
}

#[node]
async fn greet(visits: &Visits) -> VisitsUpdate {
    let (name, before) = match visits.visitors.split_last() {
        Some((name, before)) => (name.as_str(), before),
        None => ("no user", &[][..]),
    };
    let times = before.iter().filter(|visitor| *visitor == name).count();
    let greeting = match times {
        0 => format!(
            "Welcome, {name}! You are visitor {}.",
            visits.visitors.len()
        ),
        1 => format!("Nice to see you again, {name}!"),
        _ => format!("{name}, this is your visit {}.", times + 1),
    };
    VisitsUpdate::default().greeting(greeting)
}

/// The graph, with its threads in the file.
fn guest_book(file: &Path) -> Result<CompiledStateGraph<Visits>, Box<dyn Error>> {
    let graph = graph! {
        type State = Visits;
        START => greet => END;
    };
    Ok(graph
        .compile()?
        .checkpointer(Arc::new(SqliteSaver::open(file)?)))
}

async fn visit(file: &Path, name: &str) -> Result<(), Box<dyn Error>> {
    // Nothing is shared with the visit before but the file.
    let book = guest_book(file)?;
    let visitor = VisitsUpdate::default().visitors(vec![name.to_owned()]);
    let outcome = book.run(visitor).thread("guest book").await?;
    println!("{}", outcome.state().greeting);
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    // `memory_persistence FILE NAME`: one visit.
    if let (Some(file), Some(name)) = (arguments.next(), arguments.next()) {
        return visit(Path::new(&file), &name).await;
    }
    // Without arguments: three visits to a file that is thrown away.
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("guests.db");
    for name in ["Ada", "Grace", "Ada"] {
        visit(&file, name).await?;
    }
    let book = guest_book(&file)?;
    for snapshot in book.thread("guest book").history().await?.iter().rev() {
        let visitors = snapshot.values.visitors.join(", ");
        println!("step {}: {visitors}", snapshot.step);
    }
    Ok(())
}
