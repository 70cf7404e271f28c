//! What a request says, for the hook that permits it: what its route reads, and nothing else.
//!
//! A hook that saw more, or something else, would permit one thing, and the route would do another.

use axum::extract::{FromRequestParts, Query, RawPathParams};
use axum::http::request::Parts;
use serde_json::{Map, Value};

use super::Resource;
use super::actions::{RequestedAction, Says};
use crate::error::{ApiError, ApiResult};
use crate::wire::namespace::labels;
use crate::wire::truth::is_true;

/// Returns the body or the query, as the route reads it, and the ids of the path, which count most.
pub(super) async fn value(
    asked: &RequestedAction,
    parts: &mut Parts,
    body: &[u8],
) -> ApiResult<Value> {
    let mut fields = match asked.says {
        Says::Query => query(parts)?,
        Says::List => return self::body(body),
        Says::Body | Says::BodyAndCancel => match self::body(body)? {
            Value::Object(fields) => fields,
            Value::Null => Map::new(),
            // A list would be read as the fields of an object, in their order.
            _ => return Err(ApiError::invalid("the body is no JSON object")),
        },
    };
    if asked.says == Says::BodyAndCancel {
        let said = query(parts)?.into_iter();
        fields.extend(said.filter(|(name, _)| matches!(&**name, "action" | "wait")));
    }
    if (asked.resource, asked.name) == (Resource::Store, "get")
        && let Some(Value::String(namespace)) = fields.get("namespace")
    {
        let labels = labels(namespace);
        fields.insert("namespace".to_owned(), labels.into());
    }
    fields.extend(ids(parts).await);
    Ok(Value::Object(fields))
}

/// Reads a whole body. A route skips what it does not know, also what is no JSON value: with that, it is refused here.
fn body(bytes: &[u8]) -> ApiResult<Value> {
    if bytes.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    serde_json::from_slice(bytes).map_err(|error| ApiError::invalid(error.to_string()))
}

/// Returns true if an assistant is deleted with the threads that have run it.
pub(super) fn deletes_threads(asked: &RequestedAction, parts: &Parts) -> ApiResult<bool> {
    if (asked.resource, asked.name) != (Resource::Assistants, "delete") {
        return Ok(false);
    }
    Ok(match query(parts)?.get("delete_threads") {
        Some(Value::Array(words)) => words.first().and_then(Value::as_str).is_some_and(is_true),
        word => word.and_then(Value::as_str).is_some_and(is_true),
    })
}

fn query(parts: &Parts) -> ApiResult<Map<String, Value>> {
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri);
    let Query(pairs) = pairs.map_err(|error| ApiError::invalid(error.body_text()))?;
    let mut fields = Map::new();
    for (name, value) in pairs {
        // A route that reads several takes all of them.
        match fields.get_mut(&name) {
            None => drop(fields.insert(name, value.into())),
            Some(Value::Array(values)) => values.push(value.into()),
            Some(first) => *first = Value::Array(vec![first.take(), value.into()]),
        }
    }
    Ok(fields)
}

/// Returns the ids in the path, decoded as the route decodes them.
async fn ids(parts: &mut Parts) -> Map<String, Value> {
    let Ok(path) = RawPathParams::from_request_parts(parts, &()).await else {
        return Map::new();
    };
    let ids = path.iter().filter_map(|(part, id)| {
        let name = match part {
            "thread" => "thread_id",
            "run" => "run_id",
            "assistant" => "assistant_id",
            "cron" => "cron_id",
            _ => return None,
        };
        Some((name.to_owned(), Value::from(id)))
    });
    ids.collect()
}
