//! An editorial desk: research in a subgraph beside figures, a draft that is typed, a person who
//! judges it, and a shelf of what was published.

use std::error::Error;
use std::time::Duration;

use langgraph::prelude::*;
use langgraph_agent::prelude::*;
use langgraph_agent::{ChatRequest, ChatResponse, ModelError, async_trait};
use langgraph_server::{GraphHandle, ServedGraph};
use langgraph_store::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use langgraph_examples::typing::Typing;

#[derive(State, Clone, Debug, Default)]
struct Essay {
    topic: String,
    words: u64,
    #[reducer(append)]
    facts: Vec<String>,
    draft: String,
    drafts: u64,
    verdict: Option<Verdict>,
    published: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Verdict {
    publish: bool,
    #[serde(default)]
    tone: String,
    #[serde(default)]
    note: String,
}

async fn work() {
    tokio::time::sleep(Duration::from_millis(250)).await;
}

#[node]
async fn plan(essay: &Essay) -> Result<EssayUpdate, NodeError> {
    work().await;
    if essay.topic.trim().is_empty() {
        return Err(NodeError::msg("an essay needs a topic"));
    }
    Ok(EssayUpdate::default().words(essay.words.clamp(20, 200)))
}

#[node]
async fn search(essay: &Essay, cx: &Context) -> Result<EssayUpdate, NodeError> {
    for source in ["the library", "the archive", "the field notes"] {
        cx.emit(json!({"searching": source})).await?;
        work().await;
    }
    let fact = format!("People have written about {} for centuries.", essay.topic);
    Ok(EssayUpdate::default().facts(vec![fact]))
}

#[node]
async fn check(essay: &Essay) -> EssayUpdate {
    work().await;
    let found = essay.facts.len();
    EssayUpdate::default().facts(vec![format!("{found} source says so.")])
}

#[node]
async fn figures(essay: &Essay) -> EssayUpdate {
    work().await;
    let letters = essay.topic.chars().filter(|c| c.is_alphabetic()).count();
    EssayUpdate::default().facts(vec![format!("The subject has {letters} letters.")])
}

#[node]
async fn write(essay: &Essay, cx: &Context) -> Result<EssayUpdate, NodeError> {
    let request = ChatRequest::new(vec![Message::user(serde_json::to_string(&json!({
        "topic": essay.topic, "words": essay.words, "facts": essay.facts,
        "note": essay.verdict.as_ref().map(|verdict| format!("{} {}", verdict.tone, verdict.note)),
    }))?)]);
    let answer = Typing::new(Columnist, Duration::from_millis(15))
        .respond(request, cx)
        .await?;
    Ok(EssayUpdate::default()
        .draft(answer.message.text().into_owned())
        .drafts(essay.drafts + 1))
}

#[node(interrupts)]
async fn review(essay: &Essay, cx: &Context) -> Result<EssayUpdate, NodeError> {
    let question = json!({
        "question": format!("Draft {} is ready. Does it go to print?", essay.drafts),
        "draft": essay.draft,
        "response_schema": {
            "type": "object",
            "required": ["publish"],
            "properties": {
                "publish": {"type": "boolean", "title": "Publish it"},
                "tone": {
                    "type": "string", "enum": ["plain", "warm", "bold"],
                    "title": "Tone of the next draft", "default": "plain",
                },
                "note": {
                    "type": "string", "title": "Note for the writer", "maxLength": 200,
                },
            },
        },
    });
    let verdict: Verdict = cx.interrupt(&format!("draft-{}", essay.drafts), &question)?;
    Ok(EssayUpdate::default().verdict(Some(verdict)))
}

#[node]
async fn publish(essay: &Essay, cx: &Context) -> Result<EssayUpdate, NodeError> {
    work().await;
    let page = json!({"draft": essay.draft, "drafts": essay.drafts});
    cx.store()?.put(["shelf"], &*essay.topic, &page).await?;
    Ok(EssayUpdate::default().published(true))
}

enum Judged {
    Publish,
    Again,
}

fn judged(essay: &Essay) -> Judged {
    match &essay.verdict {
        Some(verdict) if verdict.publish => Judged::Publish,
        _ => Judged::Again,
    }
}

/// Writes in whole sentences, without a language model.
struct Columnist;

#[async_trait]
impl ChatModel for Columnist {
    async fn generate(&self, request: ChatRequest) -> Result<ChatResponse, ModelError> {
        let order = request.messages.first().map(Message::text);
        let order: Value = serde_json::from_str(&order.unwrap_or_default()).unwrap_or_default();
        let topic = order["topic"].as_str().unwrap_or_default();
        let mut text = match order["note"].as_str() {
            Some(note) => format!("About {topic}, once more ({}). ", note.trim()),
            None => format!("About {topic}. "),
        };
        for fact in order["facts"].as_array().into_iter().flatten() {
            text.push_str(fact.as_str().unwrap_or_default());
            text.push(' ');
        }
        let wanted = order["words"].as_u64().unwrap_or(40);
        let more = [
            "It", "rewards", "a", "second", "look,", "and", "then", "a", "third.",
        ];
        let mut word = more.iter().cycle();
        while (text.split_whitespace().count() as u64) < wanted {
            text.push_str(word.next().unwrap_or(&"."));
            text.push(' ');
        }
        Ok(ChatResponse::new(Message::assistant(text.trim_end())))
    }
}

pub(crate) fn graph() -> Result<ServedGraph, Box<dyn Error>> {
    let research = graph! { START => search => check => END }.compile()?;
    let essay = graph! {
        type State = Essay;

        START => plan => [research, figures] => write => review => match judged {
            Judged::Publish => publish => END,
            Judged::Again => write,
        };
    }
    .compile()?;
    let input = json!({
        "type": "object",
        "required": ["topic"],
        "properties": {
            "topic": {"type": "string", "title": "Topic", "description": "What is it about?"},
            "words": {
                "type": "integer", "title": "Words", "minimum": 20, "maximum": 200,
                "default": 40,
            },
        },
    });
    let state = json!({
        "type": "object",
        "properties": {
            "topic": {"type": "string"},
            "words": {"type": "integer"},
            "facts": {"type": "array", "items": {"type": "string"}},
            "draft": {"type": "string"},
            "drafts": {"type": "integer"},
            "verdict": {"type": ["object", "null"]},
            "published": {"type": "boolean"},
        },
    });
    let handle = GraphHandle::new(essay)
        .input_schema(input)
        .output_schema(state.clone())
        .state_schema(state);
    Ok(handle.into())
}
