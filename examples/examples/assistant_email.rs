//! Two graphs that never meet: an assistant whose mail node is an agent elsewhere, and that agent.
//! The assistant sends it a request only when there is something to send; the reply is a field.
//! Run it with `cargo run --example assistant_email -- "send Ann: see you at noon"`.

use langgraph::prelude::*;
use langgraph::remote::{InvokeBoundary, LocalNetwork, RemoteNode, serve};
use serde::{Deserialize, Serialize};

/// What the two agents have agreed to say to each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MailRequest {
    Send { to: String, text: String },
    List,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum MailResult {
    Sent { to: String },
    Inbox(Vec<String>),
}

#[derive(State, Clone, Debug, Default)]
struct Assistant {
    user_message: String,
    mail_request: Option<MailRequest>,
    mail_result: Option<MailResult>,
    reply_to_user: String,
}

/// Reads what the user wants; without mail there is no request, and the mail node is skipped.
#[node]
async fn parse(state: &Assistant) -> AssistantUpdate {
    let message = state.user_message.trim();
    let request = if let Some((to, text)) = message
        .strip_prefix("send ")
        .and_then(|rest| rest.split_once(':'))
    {
        let (to, text) = (to.trim().to_owned(), text.trim().to_owned());
        Some(MailRequest::Send { to, text })
    } else if message.contains("mail") {
        Some(MailRequest::List)
    } else {
        None
    };
    AssistantUpdate::default().mail_request(request)
}

#[node]
async fn summarise(state: &Assistant) -> AssistantUpdate {
    let reply = match &state.mail_result {
        Some(MailResult::Sent { to }) => format!("I wrote to {to}."),
        Some(MailResult::Inbox(subjects)) => format!("You have mail: {}.", subjects.join(", ")),
        None => "I can write mails, and look for them.".to_owned(),
    };
    AssistantUpdate::default().reply_to_user(reply)
}

#[derive(State, Clone, Debug, Default)]
struct Mail {
    request: Option<MailRequest>,
    result: Option<MailResult>,
}

/// The mail agent's only node.
#[node]
async fn process(state: &Mail) -> MailUpdate {
    let result = match &state.request {
        Some(MailRequest::Send { to, .. }) => Some(MailResult::Sent { to: to.clone() }),
        Some(MailRequest::List) => Some(MailResult::Inbox(vec![
            "lunch".to_owned(),
            "minutes".to_owned(),
        ])),
        None => None,
    };
    MailUpdate::default().result(result)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mail = graph! {
        type State = Mail;
        START => process => END;
    };
    let network = LocalNetwork::new();
    network.register(
        "mail",
        serve(
            mail.compile()?,
            |request: MailRequest| MailUpdate::default().request(Some(request)),
            |state: Mail| state.result,
        ),
    );

    let assistant = graph! {
        type State = Assistant;

        let mail_agent = RemoteNode::new("mail", network).calling_as("assistant").bind(
            |state: &Assistant| state.mail_request.clone(),
            |result: Option<MailResult>| AssistantUpdate::default().mail_result(result),
        );

        START => parse => mail_agent => summarise => END;
    };
    let assistant = InvokeBoundary::new(
        assistant.compile()?,
        |message: String| AssistantUpdate::default().user_message(message),
        |state: &Assistant| state.reply_to_user.clone(),
    );

    let given: Vec<String> = std::env::args().skip(1).collect();
    let messages = if given.is_empty() {
        ["send Ann: see you at noon", "is there any mail?", "hello"]
            .map(str::to_owned)
            .to_vec()
    } else {
        given
    };
    for message in messages {
        println!("{message} -> {}", assistant.invoke(message.clone()).await?);
    }
    Ok(())
}
