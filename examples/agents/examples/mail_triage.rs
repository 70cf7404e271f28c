//! Incoming mail is sorted by a model. Urgent mail waits for a person, level by level, each with a
//! deadline; what no person takes in time goes to the next level, and in the end the sender gets an apology.
//! Run it with `cargo run --example mail_triage`.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use langgraph::checkpoint::MemorySaver;
use langgraph::policy::NodeFailure;
use langgraph::prelude::*;
use langgraph_agent::ScriptedModel;
use langgraph_agent::prelude::*;
use langgraph_examples::show;
use langgraph_wait::{WaitExt, WakeExt, wake_due};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MINUTE: Duration = Duration::from_secs(60);

/// Who is asked for help, in this order, and for how long.
const LEVELS: [(&str, Duration); 3] = [
    ("the desk", Duration::from_secs(30 * 60)),
    ("the shift lead", Duration::from_secs(15 * 60)),
    ("the head of support", Duration::from_secs(10 * 60)),
];

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
enum Kind {
    Spam,
    #[default]
    Routine,
    Urgent,
}

/// What the model says about a mail.
#[derive(Deserialize, JsonSchema)]
struct Sorted {
    kind: Kind,
    reason: String,
}

#[derive(State, Clone, Debug, Default)]
struct Ticket {
    mail: String,
    kind: Kind,
    level: usize,
    owner: Option<String>,
    reply: String,
    #[reducer(append)]
    log: Vec<String>,
}

#[node]
async fn sort(ticket: &Ticket, cx: &Context) -> Result<TicketUpdate, NodeError> {
    let model = cx.model()?;
    let question = ChatRequest::new(vec![
        Message::system("Is this mail spam, routine or urgent?"),
        Message::user(ticket.mail.as_str()),
    ]);
    let sorted = model
        .structured::<Sorted>(question)
        .repairs(1)
        .send(cx)
        .await?
        .value;
    Ok(TicketUpdate::default()
        .kind(sorted.kind)
        .log(vec![format!("{:?}: {}", sorted.kind, sorted.reason)]))
}

/// A mail that the model cannot sort is one for people.
fn unsorted(_: &Ticket, failure: &NodeFailure) -> TicketUpdate {
    TicketUpdate::default()
        .kind(Kind::Urgent)
        .log(vec![format!("not sorted: {}", failure.error)])
}

#[node]
async fn archive(_: &Ticket) -> TicketUpdate {
    TicketUpdate::default().log(vec!["archived".into()])
}

#[node]
async fn draft(ticket: &Ticket, cx: &Context) -> Result<TicketUpdate, NodeError> {
    let model = cx.model()?;
    let messages = [
        Message::system("Answer this mail in one sentence."),
        Message::user(ticket.mail.as_str()),
    ];
    let reply = model.invoke(&messages, cx).await?;
    Ok(TicketUpdate::default().reply(reply.text().into_owned()))
}

/// Asks the level at hand, and waits until a person takes the ticket or the deadline has passed.
#[node]
async fn page(ticket: &Ticket, cx: &Context) -> Result<TicketUpdate, NodeError> {
    let (who, patience) = LEVELS[ticket.level];
    let deadline = SystemTime::now() + patience;
    Ok(match cx.wait_for::<String>("taken", deadline)? {
        Some(owner) => TicketUpdate::default()
            .log(vec![format!("{owner} took it")])
            .owner(Some(owner)),
        None => TicketUpdate::default()
            .level(ticket.level + 1)
            .log(vec![format!("{who} did not answer")]),
    })
}

enum Help {
    Found,
    NextLevel,
    None,
}

fn help(ticket: &Ticket) -> Help {
    match ticket.owner {
        Some(_) => Help::Found,
        None if ticket.level < LEVELS.len() => Help::NextLevel,
        None => Help::None,
    }
}

#[node]
async fn answer(ticket: &Ticket) -> TicketUpdate {
    let owner = ticket.owner.as_deref().unwrap_or("a colleague");
    TicketUpdate::default().reply(format!("{owner} looks after it now."))
}

#[node]
async fn apologize(_: &Ticket) -> TicketUpdate {
    TicketUpdate::default().reply("We are sorry: the phone is faster, 555-0100.".into())
}

fn kind(ticket: &Ticket) -> Kind {
    ticket.kind
}

/// Stands for sending the reply.
#[node]
async fn send(ticket: &Ticket) -> TicketUpdate {
    TicketUpdate::default().log(vec![format!("sent: {}", ticket.reply)])
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let graph = graph! {
        type State = Ticket;

        let sort = sort.retry(2).on_error(unsorted);

        START => sort => match kind {
            Kind::Spam => archive => END,
            Kind::Routine => draft => send,
            Kind::Urgent => page => match help {
                Help::Found => answer => send,
                Help::NextLevel => page,
                Help::None => apologize => send,
            },
        };
        send => END;
    }
    .compile()?;
    if show::graph(graph.topology()) {
        return Ok(());
    }

    let model = ScriptedModel::new([
        r#"{"kind": "Spam", "reason": "no lottery pays by mail"}"#,
        r#"{"kind": "Routine", "reason": "a question about opening hours"}"#,
        "We are open from nine to five.",
        r#"{"kind": "Urgent", "reason": "a shop that cannot sell"}"#,
        r#"{"kind": "Urgent", "reason": "the cold chain"}"#,
    ]);
    let saver = Arc::new(MemorySaver::new());
    let graph = graph.checkpointer(saver).model(model);

    for (id, mail) in [
        ("lottery", "You have won!"),
        ("hours", "When are you open?"),
        ("tills", "No till works since eight o'clock."),
        ("freezer", "The freezer is warm."),
    ] {
        let outcome = graph
            .thread(id)
            .run(TicketUpdate::default().mail(mail.into()))
            .await?;
        let stands = if outcome.is_done() {
            "done"
        } else {
            "waits for a person"
        };
        println!("{id}: {stands}");
    }

    // After 20 minutes a person at the desk takes one of them.
    let outcome = graph.thread("tills").signal("taken", "Ben").await?;
    println!("tills: {}", outcome.finished()?.reply);

    // A clock that goes faster than ours: what is due by then is woken.
    let mut clock = SystemTime::now();
    for _ in 0..3 {
        clock += 31 * MINUTE;
        for woken in wake_due(&graph, clock).await? {
            let done = woken.outcome?.is_done();
            println!(
                "{}: {}",
                woken.thread,
                if done { "done" } else { "the next level" }
            );
        }
    }

    for id in ["lottery", "hours", "tills", "freezer"] {
        let ticket = graph
            .thread(id)
            .state()
            .await?
            .ok_or("a thread is gone")?
            .values;
        println!("{id}: {}", ticket.log.join("; "));
    }
    Ok(())
}
