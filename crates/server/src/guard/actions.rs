//! Which action a request is.

use serde_json::Value;

use super::Resource::{self, Assistants, Crons, Store, Threads};
use crate::wire::truth::is_true;

/// An action, and where its request says the rest.
#[derive(Debug, PartialEq)]
pub(super) struct RequestedAction {
    pub(super) resource: Resource,
    pub(super) name: &'static str,
    pub(super) says: Says,
    /// The thread that is created is a copy of the one that the path names.
    pub(super) copies: bool,
    /// Its body is a call of A2A, whose method says what it does.
    pub(super) calls: bool,
    /// It joins a run.
    pub(super) joins: bool,
}

/// What the route of a request reads of it, apart from the variable parts of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// The query.
    Query,
    /// The body, an object.
    Body,
    /// The body, and how runs are cancelled from the query.
    BodyAndCancel,
    /// The body, a list of objects.
    List,
}

impl Says {
    fn of(method: &str, path: &[&str]) -> Self {
        match (method, path) {
            ("GET" | "HEAD", _) => Self::Query,
            (_, [.., "cancel"]) => Self::BodyAndCancel,
            (_, ["batch"]) => Self::List,
            _ => Self::Body,
        }
    }
}

impl RequestedAction {
    /// Returns true if the request is answered with what exists already.
    pub(super) fn shows_existing(&self, value: &Value) -> bool {
        let creates = matches!(self.resource, Assistants | Threads) && self.name == "create";
        creates && value["if_exists"] == "do_nothing"
    }

    /// Returns true if the request creates a cron, which starts runs.
    pub(super) fn is_cron(&self) -> bool {
        (self.resource, self.name) == (Crons, "create")
    }

    /// Returns true if an assistant is read for the request: it starts a run, now or by the clock, or calls an agent.
    pub(super) fn reads_assistant(&self) -> bool {
        self.name == "create_run" || self.is_cron() || self.calls
    }

    /// Returns the action of a request by what it says: a task of a call is a run, and a join may cancel its run.
    pub(super) fn called(self, value: &Value) -> Self {
        let name = match value["method"].as_str() {
            Some("tasks/get" | "GetTask") if self.calls => "read",
            Some("tasks/cancel" | "CancelTask") if self.calls => "update",
            _ if self.joins && cancels_on_disconnect(value) => "update",
            _ => self.name,
        };
        Self { name, ..self }
    }
}

/// Returns true if the client of a join wants its run cancelled when it leaves. Of several words, the last one counts.
fn cancels_on_disconnect(query: &Value) -> bool {
    let word = match &query["cancel_on_disconnect"] {
        Value::Array(words) => words.last(),
        word => Some(word),
    };
    word.and_then(Value::as_str).is_some_and(is_true)
}

/// Returns the action of a request; `None` if it is about no resource: the server itself, the Studio.
pub(super) fn requested(method: &str, path: &str) -> Option<RequestedAction> {
    let mut parts = path.split('/').filter(|part| !part.is_empty());
    let first = parts.next().unwrap_or_default();
    let rest: Vec<&str> = parts.collect();
    let (resource, name) = match (first, rest.as_slice()) {
        ("assistants", rest) => (Assistants, assistants(method, rest)),
        ("threads", [_, "runs", "crons"]) => (Crons, "create"),
        ("threads", rest) => (Threads, threads(method, rest)),
        ("runs", ["crons", rest @ ..]) => (Crons, crons(method, rest)),
        ("runs", [_, "stream"]) => (Threads, "read"),
        ("runs", ["cancel"]) => (Threads, "update"),
        ("runs" | "ag-ui", _) | ("v1", ["chat", ..]) => (Threads, "create_run"),
        ("store", rest) => (Store, store(method, rest)),
        (".well-known", _) | ("a2a", [_, ".well-known", ..]) => (Assistants, "read"),
        ("v1" | "ui" | "mcp" | "a2a", _) => (Assistants, protocols(first)),
        _ => return None,
    };
    // A call of another protocol runs a graph.
    let resource = if name == "create_run" {
        Threads
    } else {
        resource
    };
    Some(RequestedAction {
        resource,
        name,
        says: Says::of(method, &rest),
        copies: (first, method) == ("threads", "POST") && matches!(*rest, [_, "copy"]),
        calls: first == "a2a" && rest.len() == 1,
        joins: matches!(method, "GET" | "HEAD")
            && matches!(
                (first, &*rest),
                ("runs", [_, "stream"]) | ("threads", [_, "runs", _, "join" | "stream"])
            ),
    })
}

fn protocols(first: &str) -> &'static str {
    match first {
        "mcp" | "a2a" => "create_run",
        _ => "read",
    }
}

fn assistants(method: &str, rest: &[&str]) -> &'static str {
    match (method, rest) {
        ("POST", []) => "create",
        (_, ["search" | "count"]) => "search",
        ("PATCH", _) | ("POST", [_, "latest"]) => "update",
        ("DELETE", _) => "delete",
        _ => "read",
    }
}

fn threads(method: &str, rest: &[&str]) -> &'static str {
    match (method, rest) {
        ("POST", [] | [_, "copy"]) => "create",
        (_, ["search" | "count"]) => "search",
        (_, ["prune"]) | ("DELETE", [_]) => "delete",
        // A WebSocket takes commands, too.
        // An export runs the code of nodes.
        ("POST", [_, "runs" | "commands" | "export"] | [_, "runs", "wait" | "stream"])
        | ("GET", [_, "stream", "events"]) => "create_run",
        ("PATCH" | "DELETE", _) | ("POST", [_, "state"] | [_, "runs", _, "cancel"]) => "update",
        _ => "read",
    }
}

fn crons(method: &str, rest: &[&str]) -> &'static str {
    match (method, rest) {
        ("POST", []) => "create",
        (_, ["search" | "count"]) => "search",
        ("PATCH", _) => "update",
        ("DELETE", _) => "delete",
        _ => "read",
    }
}

fn store(method: &str, rest: &[&str]) -> &'static str {
    match (method, rest) {
        ("PUT", _) => "put",
        ("DELETE", _) => "delete",
        (_, ["items", "search"]) => "search",
        (_, ["namespaces"]) => "list_namespaces",
        _ => "get",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_of_a_resource_is_an_action() {
        let open = [
            "/ok",
            "/ready",
            "/info",
            "/docs",
            "/openapi.json",
            "/metrics",
        ];
        for (method, path) in crate::routes() {
            let found = requested(&method, path);
            assert_eq!(found.is_none(), open.contains(&path), "{method} {path}");
        }
        let name = |method: &str, path: &str| {
            let found = requested(method, path).unwrap();
            (found.resource, found.name)
        };
        for (method, path, expected) in [
            ("POST", "/threads", (Threads, "create")),
            ("POST", "/threads/t/runs/wait", (Threads, "create_run")),
            ("POST", "/threads/t/commands", (Threads, "create_run")),
            ("GET", "/threads/t/stream/events", (Threads, "create_run")),
            ("POST", "/threads/t/stream/events", (Threads, "read")),
            ("POST", "/a2a/x", (Threads, "create_run")),
            (
                "GET",
                "/a2a/x/.well-known/agent-card.json",
                (Assistants, "read"),
            ),
            ("POST", "/threads/t/history", (Threads, "read")),
            ("POST", "/threads/t/state/checkpoint", (Threads, "read")),
            ("POST", "/threads/t/state", (Threads, "update")),
            ("POST", "/threads/t/runs/r/cancel", (Threads, "update")),
            ("GET", "/threads/t/runs/r/join", (Threads, "read")),
            ("DELETE", "/threads/t/runs/r", (Threads, "update")),
            ("DELETE", "/threads/t", (Threads, "delete")),
            ("POST", "/threads/t/runs/crons", (Crons, "create")),
            ("POST", "/runs/crons/search", (Crons, "search")),
            ("POST", "/runs/batch", (Threads, "create_run")),
            ("POST", "/v1/chat/completions", (Threads, "create_run")),
            ("PUT", "/store/items", (Store, "put")),
            ("GET", "/store/items", (Store, "get")),
        ] {
            assert_eq!(name(method, path), expected, "{method} {path}");
        }
        let says = |method, path| requested(method, path).unwrap().says;
        assert_eq!(says("GET", "/store/items"), Says::Query);
        assert_eq!(says("DELETE", "/store/items"), Says::Body);
        assert_eq!(says("POST", "/runs/batch"), Says::List);
        let cancel = "/threads/t/runs/r/cancel";
        assert_eq!(says("POST", cancel), Says::BodyAndCancel);
    }
}
