//! Two agents that are two graphs: an assistant for the user, and a mail agent that it calls.
//! The mail agent sends and lists mail; small talk calls no agent; and the archive never answers.
//! Run it with `cargo run --example assistant_email`.

use std::future::pending;
use std::time::Duration;

use langgraph::policy::NodeFailure;
use langgraph::prelude::*;
use langgraph_remote::{InvokeBoundary, LocalNetwork, RemoteNode, ServedGraph, serve};
use serde::{Deserialize, Serialize};

// The contract between the two: the request and the result.

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
enum MailRequest {
    Send { to: String, subject: String },
    List { folder: String },
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MailResult {
    Sent { to: String },
    Mails(Vec<String>),
    Unreachable(String),
}

// The mail agent: it receives a request, and its result is the reply.

#[derive(State, Clone, Debug, Default)]
struct MailState {
    request: Option<MailRequest>,
    result: Option<MailResult>,
}

#[node]
async fn process(state: &MailState) -> Result<MailStateUpdate, NodeError> {
    let result = match &state.request {
        Some(MailRequest::Send { to, .. }) => MailResult::Sent { to: to.clone() },
        Some(MailRequest::List { folder }) if folder == "archive" => pending().await,
        Some(MailRequest::List { .. }) => {
            MailResult::Mails(vec!["Lunch?".to_owned(), "Your invoice".to_owned()])
        }
        None => return Err(NodeError::msg("there is no request")),
    };
    Ok(MailStateUpdate::default().result(Some(result)))
}

fn mail_agent() -> Result<ServedGraph<MailState>, Box<dyn std::error::Error>> {
    let graph = graph! {
        type State = MailState;
        START => process => END;
    };
    Ok(serve(
        graph.compile()?,
        |request: MailRequest| MailStateUpdate::default().request(Some(request)),
        |state| state.result,
    ))
}

// The assistant: it parses the message, calls the mail agent if needed, and answers.

#[derive(State, Clone, Debug, Default)]
struct AssistantState {
    user_message: Option<Message>,
    mail_request: Option<MailRequest>,
    mail_result: Option<MailResult>,
    reply_to_user: Option<Message>,
}

#[node]
async fn parse(state: &AssistantState) -> AssistantStateUpdate {
    let text = state.user_message.as_ref().map(|message| message.text());
    let text = text.unwrap_or_default();
    let request = match text.split_once(' ') {
        Some(("mail", rest)) => rest.split_once(": ").map(|(to, subject)| {
            let (to, subject) = (to.to_owned(), subject.to_owned());
            MailRequest::Send { to, subject }
        }),
        Some(("list", folder)) => {
            let folder = folder.to_owned();
            Some(MailRequest::List { folder })
        }
        _ => None,
    };
    // On a thread, each turn begins without the result of the last one.
    AssistantStateUpdate::default()
        .mail_request(request)
        .mail_result(None)
}

#[node]
async fn summarise(state: &AssistantState) -> AssistantStateUpdate {
    let reply = match &state.mail_result {
        Some(MailResult::Sent { to }) => format!("I have written to {to}."),
        Some(MailResult::Mails(subjects)) => {
            format!("There are {}: {}", subjects.len(), subjects.join(", "))
        }
        Some(MailResult::Unreachable(why)) => format!("The mail agent is not there: {why}."),
        None => "You are welcome.".to_owned(),
    };
    AssistantStateUpdate::default().reply_to_user(Some(Message::assistant(reply)))
}

fn without_mail(_: &AssistantState, failure: &NodeFailure) -> AssistantStateUpdate {
    let result = MailResult::Unreachable(failure.error.to_string());
    AssistantStateUpdate::default().mail_result(Some(result))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let network = LocalNetwork::new();
    network.register("mail", mail_agent()?);

    let graph = graph! {
        type State = AssistantState;

        let mail_agent = RemoteNode::new("mail", network)
            .calling_as("assistant")
            .timeout(Duration::from_millis(100))
            .bind(
                |state: &AssistantState| state.mail_request.clone(),
                |result: MailResult| AssistantStateUpdate::default().mail_result(Some(result)),
            )
            .on_error(without_mail);

        START => parse => mail_agent => summarise => END;
    };

    // The user meets neither the states nor the mail agent.
    let assistant = InvokeBoundary::new(
        graph.compile()?,
        |text: &str| AssistantStateUpdate::default().user_message(Some(Message::user(text))),
        |state: &AssistantState| state.reply_to_user.clone(),
    );
    for text in [
        "mail ann@example.org: Lunch at noon",
        "list inbox",
        "thank you",
        "list archive",
    ] {
        println!("user: {text}");
        if let Some(reply) = assistant.invoke(text).await? {
            println!("assistant: {}", reply.text());
        }
    }
    Ok(())
}
