//! One call of a model from a node.

use std::sync::Arc;

use async_trait::async_trait;
use serde::de::DeserializeOwned;

use super::stream::next;
use super::{ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind, Surroundings};
use crate::StandIn;
use crate::budget::{Bill, ReservedCall, refused};
use langgraph::message::MessageAccumulator;
use langgraph::node::Context;
use langgraph::stream::StreamMode;
use langgraph_budget::Funds;

/// Returns the answer to `request`, and streams it into the run's events if these have a subscriber and
/// the request allows it.
///
/// A [`StandIn`] among the resources answers instead. The funds of the run reserve the call first.
pub(crate) async fn respond<M: ChatModel + ?Sized>(
    model: &M,
    request: ChatRequest,
    cx: Option<&Context>,
) -> Result<ChatResponse, ModelError> {
    respond_inside(&Surroundings::default(), model, request, cx).await
}

/// As [`respond`]; another model that answers instead has the surroundings that `model` has already.
pub(crate) async fn respond_inside<M: ChatModel + ?Sized>(
    surroundings: &Surroundings,
    model: &M,
    request: ChatRequest,
    cx: Option<&Context>,
) -> Result<ChatResponse, ModelError> {
    let mut request = model.prepare(request);
    if let Some(cx) = cx
        && let Ok(stand_in) = cx.resource::<dyn StandIn>()
        && let Some(answer) = stand_in.model(model.name(), &request, cx).await
    {
        return answer;
    }
    let funds = cx.and_then(|cx| Some((cx, Funds::of(cx)?)));
    let Some((cx, funds)) = funds else {
        return call(model, request, cx).await;
    };
    if let Some(answer) = model.cached_answer(&request).await {
        return call(&Known { model, answer }, request, Some(cx)).await;
    }
    let reserved = ReservedCall::new(&funds, model, &request, cx).await;
    let reserved = reserved.map_err(refused)?;
    let bill = Bill::default();
    request.bill = bill.clone();
    let answer = match &reserved.cheaper {
        Some(cheaper) => {
            let cheaper = surroundings.around(Arc::clone(cheaper));
            call(&*cheaper, request, Some(cx)).await
        }
        None => call(model, request, Some(cx)).await,
    };
    let settled = reserved.settle(&answer, &bill, &funds, cx).await;
    // The answer's own error is more important.
    answer.and_then(|answer| settled.map(|()| answer).map_err(refused))
}

/// A model whose answer is known without a call.
struct Known<'a, M: ?Sized> {
    model: &'a M,
    answer: ChatResponse,
}

#[async_trait]
impl<M: ChatModel + ?Sized> ChatModel for Known<'_, M> {
    fn name(&self) -> Option<&str> {
        self.model.name()
    }

    fn provider(&self) -> Option<&str> {
        self.model.provider()
    }

    async fn generate(&self, _: ChatRequest) -> Result<ChatResponse, ModelError> {
        Ok(self.answer.clone())
    }
}

async fn call<M: ChatModel + ?Sized>(
    model: &M,
    request: ChatRequest,
    cx: Option<&Context>,
) -> Result<ChatResponse, ModelError> {
    let streams = request
        .streamed
        .unwrap_or(request.response_format.is_none());
    #[cfg(feature = "tracing")]
    let seen = request.clone();
    let answer = async {
        match cx.filter(|cx| streams && cx.wants(StreamMode::Messages)) {
            None => model.generate(request).await,
            Some(cx) => streamed(model, request, cx).await,
        }
    };
    #[cfg(feature = "tracing")]
    let answer = crate::spans::chat(model, &seen, cx, answer);
    answer.await
}

async fn streamed<M: ChatModel + ?Sized>(
    model: &M,
    request: ChatRequest,
    cx: &Context,
) -> Result<ChatResponse, ModelError> {
    let mut chunks = model.stream(request);
    let mut reply = MessageAccumulator::new();
    while let Some(chunk) = next(&mut chunks).await {
        let mut chunk = match chunk {
            Ok(chunk) => chunk,
            Err(error) => return Err(error.behind_chunks(reply)),
        };
        reply.push(chunk.clone());
        // Every piece carries the id of the whole message.
        chunk.id = reply.id().map(str::to_owned);
        cx.emit_chunk(chunk).await;
    }
    ChatResponse::from_chunks(reply)
}

/// Parses an answer as a value. Models often wrap JSON in a code block.
///
/// # Errors
///
/// [`ModelErrorKind::InvalidOutput`].
pub fn answer_as<T: DeserializeOwned>(text: &str) -> Result<T, ModelError> {
    let json = unfenced(text);
    let mut reader = serde_json::Deserializer::from_str(json);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        ModelError::new(
            ModelErrorKind::InvalidOutput,
            format!("the model's answer does not fit the schema: {error}; it was `{text}`"),
        )
    })
}

fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inner = text
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"));
    match inner {
        None => text,
        Some(inner) => inner
            .trim_start_matches(|c: char| c.is_alphanumeric())
            .trim(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_block_around_json_is_taken_off() {
        for text in [
            "[1, 2]",
            " [1, 2]\n",
            "```json\n[1, 2]\n```",
            "```\n[1, 2]```",
        ] {
            assert_eq!(answer_as::<Vec<u8>>(text).unwrap(), [1, 2], "{text:?}");
        }
    }

    #[test]
    fn an_answer_that_does_not_fit_says_where() {
        let error = answer_as::<Vec<u8>>("[1, 300]").unwrap_err();
        assert!(matches!(error.kind(), ModelErrorKind::InvalidOutput));
        assert!(error.to_string().contains("[1]: invalid value"), "{error}");
    }
}
