//! What several calls of a task, or several tasks of a superstep, share: an object of Restate.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use restate_sdk::context::{
    ContextClient as _, ContextReadState as _, ContextWriteState as _, ObjectContext, RequestTarget,
};
use restate_sdk::endpoint::{ContextInternal, InputMetadata};
use restate_sdk::errors::HandlerResult;

use crate::service::{Handler, Handlers, no_handler};

/// Notes that were not cleared expire after this time.
const KEPT: Duration = Duration::from_secs(24 * 3_600);

/// The only entry of an object.
const TEXT: &str = "text";

pub(crate) const NOTES: [Handler; 3] = [
    Handler {
        name: "put",
        shared: false,
        documentation: "Keeps the body, for a day",
    },
    Handler {
        name: "get",
        shared: true,
        documentation: "Returns what is kept, or nothing",
    },
    Handler {
        name: "clear",
        shared: false,
        documentation: "Forgets it",
    },
];

/// Keeps a text for each key.
pub(crate) struct Notes;

#[async_trait]
impl Handlers for Notes {
    async fn handle(
        &self,
        context: &ContextInternal,
        input: InputMetadata,
        body: Bytes,
    ) -> HandlerResult<Bytes> {
        let cx = ObjectContext::from((context, input));
        match context.handler_name() {
            "put" => {
                let known: Option<Bytes> = cx.get(TEXT).await?;
                if known.is_none() {
                    let clear = RequestTarget::object(context.service_name(), cx.key(), "clear");
                    cx.request::<_, ()>(clear, ()).send_after(KEPT);
                }
                cx.set(TEXT, body);
                Ok(Bytes::from_static(b"null"))
            }
            "get" => {
                let known: Option<Bytes> = cx.get(TEXT).await?;
                Ok(known.unwrap_or_else(|| Bytes::from_static(b"null")))
            }
            "clear" => {
                cx.clear(TEXT);
                Ok(Bytes::from_static(b"null"))
            }
            other => no_handler(other),
        }
    }
}
