//! The programs of the scenario: a relay, a mail agent, and an assistant that asks it.

#![allow(dead_code, reason = "each program uses its part")]

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use langgraph::checkpoint::MemorySaver;
use langgraph::policy::NodeFailure;
use langgraph::prelude::*;
use langgraph_relay::{Relay, RelayClient, RelayOptions};
use langgraph_remote::{
    AgentEnvelope, AgentHandler, InvokeBoundary, RemoteNode, ReplyStream, ServedGraph,
    StreamContent, serve,
};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpListener;

type Failure = Box<dyn Error>;

/// The address of the relay: `AGORA_ADDRESS`, or 127.0.0.1:7077.
pub(crate) fn address() -> String {
    std::env::var("AGORA_ADDRESS").unwrap_or_else(|_| "127.0.0.1:7077".to_owned())
}

pub(crate) fn url(address: &str) -> String {
    format!("ws://{address}/ws")
}

/// The relay. It prints its address first.
pub(crate) async fn agora(address: &str) -> Result<(), Failure> {
    let listener = TcpListener::bind(address).await?;
    println!("{}", listener.local_addr()?);
    let options = RelayOptions::default().grace(Duration::from_millis(500));
    Ok(Relay::new(options).serve(listener).await?)
}

// The contract between assistant and mail agent.

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub(crate) enum MailRequest {
    Send { to: String, text: String },
    List,
    ReadAloud,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum MailResult {
    Sent { to: String },
    Mails(Vec<String>),
    Failed(String),
}

// The mail agent: a graph, and a mailbox in memory.

#[derive(State, Clone, Debug, Default)]
struct Mail {
    request: Option<MailRequest>,
    result: Option<MailResult>,
}

fn mail_graph() -> Result<ServedGraph<Mail>, Failure> {
    let mailbox: Arc<Mutex<Vec<String>>> = Arc::default();
    let mut graph = StateGraph::<Mail>::new();
    graph.add_node("process", move |state: &Mail| {
        let mut mailbox = mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        let result = match &state.request {
            Some(MailRequest::Send { to, text }) => {
                mailbox.push(format!("{to}: {text}"));
                Some(MailResult::Sent { to: to.clone() })
            }
            Some(MailRequest::List) => Some(MailResult::Mails(mailbox.clone())),
            Some(MailRequest::ReadAloud) | None => None,
        };
        MailUpdate::default().result(result)
    });
    graph.add_sequence(&["process"]);
    Ok(serve(
        graph.compile()?,
        |request: MailRequest| MailUpdate::default().request(Some(request)),
        |state| state.result,
    ))
}

/// Serves the graph; asked to read aloud, its process dies in the middle of the reply.
struct MailAgent(ServedGraph<Mail>);

impl AgentHandler for MailAgent {
    fn handle(&self, request: AgentEnvelope) -> ReplyStream {
        if !matches!(request.payload(), Ok(MailRequest::ReadAloud)) {
            return self.0.handle(request);
        }
        ReplyStream::produce(&request, |replies| async move {
            let stream = replies.start(StreamContent::Text.metadata()).await;
            replies.chunk(&stream, &"Dear ").await?;
            tokio::time::sleep(Duration::from_millis(200)).await;
            std::process::exit(1)
        })
    }
}

/// The mail agent serves until the relay refuses it.
pub(crate) async fn mail_agent(address: &str) -> Result<(), Failure> {
    let agent = MailAgent(mail_graph()?);
    Ok(RelayClient::builder(url(address), "mail")
        .serve(agent)
        .await?)
}

// The assistant: it parses, asks the mail agent or the calendar if needed, and answers. A conversation with the
// user is a thread.

#[derive(State, Clone, Debug, Default)]
struct Assistant {
    user_message: String,
    mail_request: Option<MailRequest>,
    calendar_request: Option<String>,
    mail_result: Option<MailResult>,
    reply_to_user: Option<String>,
}

#[node]
async fn parse(state: &Assistant) -> AssistantUpdate {
    let text = state.user_message.as_str();
    // On a thread, the state has the last turn's requests and result: each turn begins without them.
    let update = AssistantUpdate::default()
        .mail_request(None)
        .calendar_request(None)
        .mail_result(None);
    // 给 ada@example.com 发一封邮件: 你好
    if let Some((to, text)) = text
        .strip_prefix("给 ")
        .and_then(|rest| rest.split_once(' '))
    {
        let text = text.split_once(": ").map_or(text, |(_, text)| text);
        let (to, text) = (to.to_owned(), text.to_owned());
        return update.mail_request(Some(MailRequest::Send { to, text }));
    }
    match text {
        "列出邮件" => update.mail_request(Some(MailRequest::List)),
        "朗读邮件" => update.mail_request(Some(MailRequest::ReadAloud)),
        "今天的日程" => update.calendar_request(Some("today".to_owned())),
        _ => update,
    }
}

#[node]
async fn summarise(state: &Assistant) -> AssistantUpdate {
    let reply = match &state.mail_result {
        Some(MailResult::Sent { to }) => format!("已发送给 {to}。"),
        Some(MailResult::Mails(mails)) => format!("{} 封邮件: {}", mails.len(), mails.join("; ")),
        Some(MailResult::Failed(why)) => format!("没有成功: {why}"),
        None => "不客气。".to_owned(),
    };
    AssistantUpdate::default().reply_to_user(Some(reply))
}

fn result(result: MailResult) -> AssistantUpdate {
    AssistantUpdate::default().mail_result(Some(result))
}

fn failed(_: &Assistant, failure: &NodeFailure) -> AssistantUpdate {
    result(MailResult::Failed(failure.error.to_string()))
}

/// The assistant answers `question`, or the lines of its input.
pub(crate) async fn assistant(address: &str, question: Option<String>) -> Result<(), Failure> {
    let relay = RelayClient::builder(url(address), "assistant")
        .connect()
        .await?;
    let graph = graph! {
        type State = Assistant;

        let mail_agent = RemoteNode::new("mail", relay.clone())
            .timeout(Duration::from_secs(10))
            .bind(|state: &Assistant| state.mail_request.clone(), result)
            .on_error(failed);
        let calendar = RemoteNode::new("calendar", relay.clone())
            .timeout(Duration::from_secs(10))
            .bind(|state: &Assistant| state.calendar_request.clone(), result)
            .on_error(failed);

        START => parse => mail_agent => calendar => summarise => END;
    };
    let assistant = InvokeBoundary::new(
        graph.compile()?.checkpointer(Arc::new(MemorySaver::new())),
        |text: String| AssistantUpdate::default().user_message(text),
        |state: &Assistant| state.reply_to_user.clone().unwrap_or_default(),
    );
    let ask = async |text: String| assistant.invoke_with(text, |run| run.thread("user")).await;
    if let Some(question) = question {
        println!("{}", ask(question).await?);
        relay.close().await;
        return Ok(());
    }
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    while let Some(line) = lines.next_line().await? {
        println!("{}", ask(line.trim().to_owned()).await?);
    }
    relay.close().await;
    Ok(())
}
