//! A hook that permits requests is shown what their routes read.

use crate::states::{Text, TextUpdate};
use crate::support::Api;
use langgraph::graph::StateGraph;
use langgraph_server::{Action, Authorize, BearerTokens, Filter, Refusal, Resource, Server, User};
use reqwest::Method;
use serde_json::{Value, json};

/// Members leave the namespace `rules` and the assistant `secret` alone, and search in `notes` only.
struct Rules;

#[langgraph::async_trait]
impl Authorize for Rules {
    async fn authorize(&self, action: Action<'_>) -> Result<Filter, Refusal> {
        let value = action.value();
        let permitted = match (action.resource(), action.name()) {
            _ if action.user().has_role("admin") => true,
            (Resource::Store, "search") => value["namespace_prefix"] == json!(["notes"]),
            (Resource::Store, _) => value["namespace"][0] != "rules",
            (Resource::Assistants, "read") => value["assistant_id"] != "secret",
            _ => true,
        };
        if permitted {
            Ok(Filter::all())
        } else {
            Err(Refusal::Forbidden)
        }
    }
}

/// Returns a member, and an admin of the same owner.
async fn team() -> [Api; 2] {
    let mut graph = StateGraph::<Text>::new();
    graph.add_node("noop", |_: &Text| TextUpdate::default());
    graph.add_sequence(&["noop"]);
    let user = |name: &str, role: &str| {
        let details = json!({"roles": [role]});
        User::new(name).owner("team").details(details)
    };
    let tokens = BearerTokens::new()
        .token("ada", user("ada", "member"))
        .token("amy", user("amy", "admin"));
    let server = Server::new().graph("secret", graph.compile().unwrap());
    let api = Api::serve(server.authenticate(tokens).authorize(Rules)).await;
    ["ada", "amy"].map(|token| api.with_token(token))
}

/// Sends a request with a body as it is.
async fn status(api: &Api, method: Method, path: &str, body: &str) -> u16 {
    let request = api.request(method, path).body(body.to_owned());
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn no_other_spelling_of_a_namespace_is_permitted() {
    let [ada, amy] = team().await;
    let item = json!({"namespace": ["rules"], "key": "k", "value": {"n": 1}}).to_string();
    assert_eq!(status(&amy, Method::PUT, "/store/items", &item).await, 204);
    let rules = "/store/items?key=k&namespace";
    for (method, path, body, expected) in [
        (Method::GET, format!("{rules}=rules"), "", 403),
        // Escaped, as a list, twice, and beside a body that the route does not read.
        (Method::GET, format!("{rules}=rul%65s"), "", 403),
        (Method::GET, format!("{rules}=%5B%22rules%22%5D"), "", 403),
        (Method::GET, format!("{rules}=.rules"), "", 403),
        (Method::GET, format!("{rules}=a&namespace=rules"), "", 422),
        (
            Method::GET,
            format!("{rules}=rules"),
            r#"{"namespace": ["notes"]}"#,
            403,
        ),
        (
            Method::PUT,
            "/store/items".to_owned(),
            r#"[["rules"], "k", {"n": 2}, null, null]"#,
            422,
        ),
        (
            Method::DELETE,
            "/store/items?namespace=notes".to_owned(),
            r#"{"namespace": ["rules"], "key": "k"}"#,
            403,
        ),
        // The route would skip what cannot be read.
        (
            Method::DELETE,
            "/store/items".to_owned(),
            r#"{"n": 1e999, "namespace": ["rules"], "key": "k"}"#,
            422,
        ),
        (
            Method::POST,
            "/store/items/search?namespace_prefix=notes".to_owned(),
            "{}",
            403,
        ),
        (
            Method::POST,
            "/store/items/search".to_owned(),
            r#"{"namespace_prefix": ["notes"]}"#,
            200,
        ),
    ] {
        let found = status(&ada, method.clone(), &path, body).await;
        assert_eq!(found, expected, "{method} {path} {body}");
    }
    let left = amy.get("/store/items?namespace=rules&key=k").await;
    assert_eq!(left["value"], json!({"n": 1}));
}

#[tokio::test]
async fn no_other_spelling_of_an_id_is_permitted() {
    let [ada, amy] = team().await;
    for path in ["/assistants/secret/graph", "/assistants/s%65cret/graph"] {
        let (found, _) = ada.call(Method::GET, path, Value::Null).await;
        assert_eq!(found, 403, "{path}");
        let (found, _) = amy.call(Method::GET, path, Value::Null).await;
        assert_eq!(found, 200, "{path}");
    }
    // The query does not say which thread is meant.
    let thread = amy.thread().await;
    let cancel = format!("/runs/cancel?action=rollback&thread_id={thread}");
    let found = status(&ada, Method::POST, &cancel, r#"{"status": "all"}"#).await;
    assert_eq!(found, 404);
}
