//! Long-term memory.

use axum::Json;
use axum::http::StatusCode;
use langgraph_store::{
    Answer, Bound, Delete, FieldPath, Filter, Get, Indexing, Item, Label, ListNamespaces, Op, Put,
    Scalar, Search, StoreError, Test, Ttl,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::address::Query;
use super::query::Body;
use crate::error::{ApiError, ApiResult};
use crate::guard::Access;
use crate::wire::namespace::labels;
use crate::wire::time::iso;

/// Returns the namespace in which a user's items are: a part of the store belongs to each owner.
fn inside(app: &Access, labels: Vec<String>) -> ApiResult<Vec<String>> {
    let Some(owner) = app.filter() else {
        return Ok(labels);
    };
    // The part alone is no namespace of an item.
    if labels.iter().any(String::is_empty) {
        return Err(ApiError::invalid("a label of a namespace is empty"));
    }
    Ok([owner.to_owned()].into_iter().chain(labels).collect())
}

/// Returns a namespace as its user names it.
fn outside<'n>(app: &Access, labels: &'n [String]) -> &'n [String] {
    let owned = usize::from(app.filter().is_some());
    labels.get(owned..).unwrap_or_default()
}

async fn ask(app: &Access, op: impl Into<Op>) -> ApiResult<Option<Answer>> {
    let answers = app.store.batch(vec![op.into()]).await;
    let mut answers = answers.map_err(|error| named_outside(app, error))?;
    Ok(answers.pop())
}

/// Returns an error that names the namespace as its user does.
fn named_outside(app: &Access, mut error: StoreError) -> StoreError {
    if let StoreError::InvalidNamespace { namespace, .. }
    | StoreError::InvalidKey { namespace, .. }
    | StoreError::InvalidValue { namespace, .. }
    | StoreError::WrongDimensions { namespace, .. }
    | StoreError::Decode { namespace, .. } = &mut error
    {
        *namespace = outside(app, namespace.labels()).into();
    }
    error
}

fn item_json(app: &Access, item: &Item) -> Value {
    json!({
        "namespace": outside(app, item.namespace.labels()), "key": item.key, "value": item.value,
        "created_at": iso(item.created_at), "updated_at": iso(item.updated_at),
    })
}

#[derive(Deserialize)]
pub(super) struct Write {
    namespace: Vec<String>,
    key: String,
    value: Map<String, Value>,
    /// In minutes.
    ttl: Option<f64>,
    index: Option<Index>,
}

pub(super) async fn write(app: Access, Body(given): Body<Write>) -> ApiResult<StatusCode> {
    let indexing = indexing(&app, given.index)?;
    some(&given.namespace)?;
    let namespace = inside(&app, given.namespace)?;
    let mut put = Put::new(namespace, given.key, Value::Object(given.value));
    put.indexing = indexing;
    if let Some(minutes) = given.ttl {
        let ttl = std::time::Duration::try_from_secs_f64(minutes * 60.0);
        put.ttl = Ttl::After(ttl.map_err(|error| ApiError::invalid(error.to_string()))?);
    }
    ask(&app, put).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// What of an item is embedded.
#[derive(Deserialize)]
#[serde(untagged, expecting = "`index` is false, or a list of paths")]
enum Index {
    Whether(bool),
    Paths(Vec<String>),
}

fn indexing(app: &Access, index: Option<Index>) -> ApiResult<Indexing> {
    match index {
        None | Some(Index::Whether(true)) => Ok(Indexing::Default),
        Some(Index::Whether(false)) => Ok(Indexing::Off),
        Some(Index::Paths(_)) if !app.embeds => Err(ApiError::invalid(
            "the store of this server has no embedder: its program sets one with `Server::store`",
        )),
        Some(Index::Paths(paths)) => {
            let whole = |path: &str| matches!(path, "" | "$");
            let fields = paths.iter().map(|path| match path.as_str() {
                path if whole(path) => FieldPath::whole(),
                path => FieldPath::from(path),
            });
            Ok(Indexing::Fields(fields.collect()))
        }
    }
}

/// A namespace of an item has a label.
fn some(namespace: &[String]) -> ApiResult<()> {
    if namespace.is_empty() {
        return Err(ApiError::invalid("the namespace is empty"));
    }
    Ok(())
}

#[derive(Deserialize)]
pub(super) struct Named {
    #[serde(default)]
    namespace: String,
    key: String,
    refresh_ttl: Option<bool>,
}

pub(super) async fn read(app: Access, Query(query): Query<Named>) -> ApiResult<Json<Value>> {
    let mut get = Get::new(inside(&app, labels(&query.namespace))?, query.key);
    get.refresh = query.refresh_ttl;
    match ask(&app, get).await? {
        Some(Answer::Item(Some(item))) => Ok(Json(item_json(&app, &item))),
        // Clients return it as nothing.
        _ => Ok(Json(Value::Null)),
    }
}

#[derive(Deserialize)]
pub(super) struct Remove {
    #[serde(default)]
    namespace: Vec<String>,
    key: String,
}

pub(super) async fn remove(app: Access, Body(given): Body<Remove>) -> ApiResult<StatusCode> {
    let namespace = inside(&app, given.namespace)?;
    ask(&app, Delete::new(namespace, given.key)).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Deserialize)]
pub(super) struct ItemSearch {
    #[serde(default)]
    namespace_prefix: Vec<String>,
    filter: Option<Map<String, Value>>,
    query: Option<String>,
    limit: Option<usize>,
    offset: Option<usize>,
    refresh_ttl: Option<bool>,
}

pub(super) async fn search(app: Access, Body(asked): Body<ItemSearch>) -> ApiResult<Json<Value>> {
    let mut search = Search::new(inside(&app, asked.namespace_prefix)?);
    search.filter = asked.filter.map(|fields| filter(&fields)).transpose()?;
    search.query = asked.query;
    search.limit = asked.limit.unwrap_or(10);
    search.offset = asked.offset.unwrap_or(0);
    search.refresh = asked.refresh_ttl;
    let items = match ask(&app, search).await? {
        Some(Answer::Items(items)) => items,
        _ => Vec::new(),
    };
    let items: Vec<Value> = items
        .iter()
        .map(|item| {
            let mut json = item_json(&app, item);
            json["score"] = item.score.into();
            json
        })
        .collect();
    Ok(Json(json!({"items": items})))
}

fn scalar(value: &Value) -> ApiResult<Scalar> {
    match value {
        Value::Null => Ok(Scalar::Null),
        Value::Bool(value) => Ok(Scalar::Bool(*value)),
        Value::String(text) => Ok(Scalar::Text(text.clone())),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(int), _) => Ok(Scalar::Int(int)),
            (None, Some(float)) => Ok(Scalar::Float(float)),
            (None, None) => Err(ApiError::invalid("a filter has a number that is too large")),
        },
        _ => Err(ApiError::invalid(
            "a filter compares with a text, a number, a boolean or null",
        )),
    }
}

fn bound(value: &Value) -> ApiResult<Bound> {
    match scalar(value)? {
        Scalar::Int(int) => Ok(Bound::Int(int)),
        Scalar::Float(float) => Ok(Bound::Float(float)),
        Scalar::Text(text) => Ok(Bound::Text(text)),
        _ => Err(ApiError::invalid("a filter orders numbers and texts")),
    }
}

/// Reads `{"field": value}`, `{"field": {"$gt": value}}` and `{"field": {"inner": value}}`.
fn filter(fields: &Map<String, Value>) -> ApiResult<Filter> {
    let mut all = Vec::new();
    add_tests(&mut Vec::new(), fields, &mut all)?;
    Ok(Filter::All(all))
}

/// Adds the tests of the fields below `path`.
fn add_tests<'f>(
    path: &mut Vec<&'f str>,
    fields: &'f Map<String, Value>,
    all: &mut Vec<Filter>,
) -> ApiResult<()> {
    for (name, wanted) in fields {
        path.push(name);
        let at = || FieldPath::keys(path.iter().copied());
        match wanted {
            Value::Object(tests) if tests.keys().any(|name| name.starts_with('$')) => {
                for (operator, value) in tests {
                    all.push(Filter::Field(at(), test(operator, value)?));
                }
            }
            Value::Object(inner) => add_tests(path, inner, all)?,
            value => all.push(Filter::Field(at(), Test::Eq(scalar(value)?))),
        }
        path.pop();
    }
    Ok(())
}

fn test(operator: &str, value: &Value) -> ApiResult<Test> {
    Ok(match operator {
        "$eq" => Test::Eq(scalar(value)?),
        "$ne" => Test::Ne(scalar(value)?),
        "$gt" => Test::Gt(bound(value)?),
        "$gte" => Test::Ge(bound(value)?),
        "$lt" => Test::Lt(bound(value)?),
        "$lte" => Test::Le(bound(value)?),
        other => {
            return Err(ApiError::invalid(format!(
                "a filter has no operator '{other}'"
            )));
        }
    })
}

#[derive(Deserialize)]
pub(super) struct NamespaceListing {
    prefix: Option<Vec<String>>,
    suffix: Option<Vec<String>>,
    max_depth: Option<usize>,
    limit: Option<usize>,
    offset: Option<usize>,
}

pub(super) async fn namespaces(
    app: Access,
    Body(given): Body<NamespaceListing>,
) -> ApiResult<Json<Value>> {
    let labels =
        |given: Vec<String>| -> Vec<Label> { given.into_iter().map(Label::from).collect() };
    let mut list = ListNamespaces::default();
    list.suffix = labels(given.suffix.unwrap_or_default());
    list.prefix = labels(given.prefix.unwrap_or_default());
    if let Some(owner) = app.filter() {
        // `*` stands for any label, but no owner is one.
        list.prefix.insert(0, Label::Is(owner.to_owned()));
        // The owner is no part of the suffix either: there is a label before it.
        let least = list.suffix.len() + 1;
        let missing = least.saturating_sub(list.prefix.len());
        list.prefix.extend(vec![Label::Any; missing]);
    }
    let owned = usize::from(app.filter().is_some());
    list.max_depth = given.max_depth.map(|depth| depth.saturating_add(owned));
    list.limit = given.limit.unwrap_or(100);
    list.offset = given.offset.unwrap_or(0);
    let found = match ask(&app, list).await? {
        Some(Answer::Namespaces(found)) => found,
        _ => Vec::new(),
    };
    let found = found.iter();
    let found: Vec<&[String]> = found.map(|name| outside(&app, name.labels())).collect();
    Ok(Json(json!({"namespaces": found})))
}
