//! Services of Restate with names that are known at run time.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use restate_sdk::discovery;
use restate_sdk::endpoint::{ContextInternal, Error, InputMetadata, ServiceOptions};
use restate_sdk::errors::{HandlerResult, TerminalError};
use restate_sdk::service::macro_support::{ServiceBoxFuture, service_definition};
use restate_sdk::service::{Service, ServiceDefinition};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::RestateError;

/// Restate takes a handler that is silent for that long for a hanging one. A node may compute for
/// longer than any limit that is a good one for others; it has limits of its own.
const SILENT: Duration = Duration::from_secs(365 * 24 * 3_600);

/// How often Restate tries: as long as it takes. Unless a service says so, Restate pauses a call after 70
/// attempts, some five minutes here, until it is resumed by hand.
const ATTEMPTS: u64 = 1_000_000_000;

/// What a service is to Restate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Calls run side by side.
    Plain,
    /// Calls of a key run one after the other, except shared ones.
    Object,
}

/// A handler of a service.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handler {
    pub(crate) name: &'static str,
    /// Runs beside others on the same key.
    pub(crate) shared: bool,
    pub(crate) documentation: &'static str,
}

/// What handles the calls of a service.
#[async_trait]
pub(crate) trait Handlers: Send + Sync + 'static {
    async fn handle(
        &self,
        context: &ContextInternal,
        input: InputMetadata,
        body: Bytes,
    ) -> HandlerResult<Bytes>;
}

/// Returns the name of a graph's service: the graph's own.
pub(crate) fn name_of(graph: &str) -> String {
    graph.to_owned()
}

/// Defines a service.
pub(crate) fn define(
    name: &str,
    kind: Kind,
    handlers: &[Handler],
    options: ServiceOptions,
    service: impl Handlers,
) -> Result<ServiceDefinition, RestateError> {
    let discovery = describe(name, kind, handlers)?;
    let options = options
        .inactivity_timeout(SILENT)
        .retry_policy_initial_interval(Duration::from_millis(50))
        .retry_policy_exponentiation_factor(2.0)
        .retry_policy_max_interval(Duration::from_secs(5))
        .retry_policy_max_attempts(ATTEMPTS);
    let dispatch = Dispatch(Arc::new(service));
    Ok(service_definition(dispatch, discovery).options(options))
}

fn describe(
    name: &str,
    kind: Kind,
    handlers: &[Handler],
) -> Result<discovery::Service, RestateError> {
    let handlers: Vec<_> = handlers
        .iter()
        .map(|handler| {
            let mut described = json!({
                "name": handler.name,
                "documentation": handler.documentation,
                "input": {"contentType": "*/*", "required": false},
                "output": {"contentType": "application/json", "setContentTypeIfEmpty": false},
            });
            if handler.shared {
                described["ty"] = json!("SHARED");
            }
            described
        })
        .collect();
    let described = json!({
        "name": name,
        "ty": match kind {
            Kind::Plain => "SERVICE",
            Kind::Object => "VIRTUAL_OBJECT",
        },
        "handlers": handlers,
    });
    // The only thing that may be wrong is the name of the graph.
    serde_json::from_value(described).map_err(|_| RestateError::Name {
        name: name.to_owned(),
    })
}

/// Reads the body of a call; an empty one is `null`.
pub(crate) fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, TerminalError> {
    let body: &[u8] = if body.is_empty() { b"null" } else { body };
    serde_json::from_slice(body)
        .map_err(|error| TerminalError::new_with_code(400, format!("the body is no JSON: {error}")))
}

/// Writes the answer of a call.
pub(crate) fn write(value: &impl Serialize) -> HandlerResult<Bytes> {
    let bytes = serde_json::to_vec(value);
    Ok(bytes
        .map_err(|error| TerminalError::new(error.to_string()))?
        .into())
}

/// Answers a call of a handler that a service does not have.
pub(crate) fn no_handler(name: &str) -> HandlerResult<Bytes> {
    Err(TerminalError::new_with_code(404, format!("no handler `{name}`")).into())
}

struct Dispatch<H>(Arc<H>);

impl<H: Handlers> Service for Dispatch<H> {
    type Future = ServiceBoxFuture;

    fn handle(&self, context: ContextInternal) -> Self::Future {
        let handlers = Arc::clone(&self.0);
        Box::pin(async move {
            let (body, input) = context.input::<Bytes>().await;
            let result = handlers.handle(&context, input, body).await;
            context.handle_handler_result(result);
            context.end();
            Ok::<(), Error>(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_with_a_name_that_restate_does_not_take_is_refused() {
        let handlers = [Handler {
            name: "start",
            shared: true,
            documentation: "",
        }];
        let fine = describe("orders.v2", Kind::Object, &handlers).unwrap();
        assert_eq!(fine.name.as_str(), "orders.v2");
        let refused = describe("my orders", Kind::Object, &handlers).unwrap_err();
        assert!(refused.to_string().contains("`my orders`"), "{refused}");
    }
}
