//! Clerks: programs that use the library without a server, two on one thread of the database. They enter what they do
//! into books, an entry in each run.

use std::sync::Arc;

use langgraph::checkpoint::ListOptions;
use langgraph::prelude::*;
use langgraph::thread::{OnConflict, Thread};
use langgraph_sqlite::SqliteSaver;
use serde::{Deserialize, Serialize};

use crate::books::{Books, line};
use crate::graph::LEASE;
use crate::host::{Drains, Program, Role, Running};
use crate::outside::Outside;
use crate::site::Site;

/// The thread of the books.
const BOOKS: &str = "books";

/// What the books hold. An input is an entry.
#[derive(State, Clone, Debug, Default, Serialize, Deserialize)]
struct Pages {
    entry: String,
    #[reducer(append)]
    lines: Vec<String>,
}

pub(crate) struct ClerkProgram {
    pub(crate) site: Site,
    pub(crate) name: String,
}

impl Program for ClerkProgram {
    fn role(&self) -> Role {
        Role::Clerk
    }

    fn run(&self, _: Drains) -> Running {
        let (site, name) = (self.site.clone(), self.name.clone());
        Box::pin(async move {
            if let Err(error) = keep_books(&site, &name).await {
                site.world.violate(format!("{name} has ended: {error}"));
            }
        })
    }
}

fn entered(pages: &Pages, what: &str) -> PagesUpdate {
    PagesUpdate::default().lines(vec![line(&pages.entry, what)])
}

#[node]
async fn open(pages: &Pages, cx: &Context) -> Result<PagesUpdate, NodeError> {
    let outside = cx.resource::<Outside>()?;
    let _at_work = outside.begins(cx);
    outside.work().await;
    Ok(entered(pages, "opened"))
}

#[node]
async fn pay(pages: &Pages, cx: &Context) -> Result<PagesUpdate, NodeError> {
    let outside = cx.resource::<Outside>()?;
    let at_work = outside.begins(cx);
    outside.work().await;
    let paid = line(&pages.entry, "paid");
    outside.acts(cx, &at_work, &paid, false).await?;
    Ok(entered(pages, "paid"))
}

#[node]
async fn close(pages: &Pages, cx: &Context) -> Result<PagesUpdate, NodeError> {
    let outside = cx.resource::<Outside>()?;
    let _at_work = outside.begins(cx);
    outside.work().await;
    Ok(entered(pages, "closed"))
}

fn books(site: &Site) -> Result<CompiledStateGraph<Pages>, Box<dyn std::error::Error>> {
    let graph = graph! {
        type State = Pages;
        START => open => pay => close => END;
    };
    let saver = SqliteSaver::open(&site.file)?;
    let graph = graph.compile()?.checkpointer(Arc::new(saver));
    Ok(graph
        .resource(Arc::new(Outside::new(site)))
        .lease_term(LEASE))
}

/// Makes entries, for as long as the process lives.
async fn keep_books(site: &Site, name: &str) -> Result<(), Box<dyn std::error::Error>> {
    let (world, known) = (&site.world, &site.books);
    let thread = books(site)?.thread(BOOKS);
    loop {
        tokio::time::sleep(world.up_to(600)).await;
        // What another one has left; there may be nothing.
        if world.below(2) == 0 {
            let _ = thread.recover().await;
        }
        let entry = known.entry();
        world.record(format!("{entry} is made by {name}"));
        let input = PagesUpdate::default().entry(entry.clone());
        let waits = OnConflict::Wait(world.up_to(6_000));
        match thread.run(input).on_conflict(waits).await {
            Ok(_) => known.closed(entry),
            Err(error) => world.record(format!("{entry} fails: {error}")),
        }
        // An error of the database; the next entry looks again.
        if let Ok(Some(wrong)) = wrong_with(&thread, known).await {
            world.violate(wrong);
        }
    }
}

/// Returns what is wrong with the books.
async fn wrong_with(thread: &Thread<Pages>, known: &Books) -> Result<Option<String>, AgentError> {
    let before = known.before();
    let read = thread.state().await?;
    let lines = read.map_or_else(Vec::new, |read| read.values.lines);
    let wrong = known.read(lines, &before);
    let newest = ListOptions::new().limit(8);
    let newest = thread.history_with(newest).await?;
    // Each record is behind the one before it, whoever has written it.
    let mut pairs = newest.iter().zip(newest.iter().skip(1));
    let fork = pairs.find(|(one, before)| one.parent != Some(before.id));
    let fork = fork.map(|(one, before)| format!("{} is not behind {:?}", before.id, one.parent));
    Ok(wrong.or(fork))
}
