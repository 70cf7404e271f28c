//! What a model may do with which files.

use langgraph::message::ToolCall;
use langgraph_agent::{ApprovalRequest, MessagesStateUpdate, ScriptedModel, ToolDecision, Turn};
use langgraph_deep::{FileAccess, FilePermissions, StateFiles, deep_agent};
use serde_json::json;

use super::support::{answers, call, calls, compiled, model, results, says};

fn permissions() -> FilePermissions {
    FilePermissions::new()
        .on("/secrets/**", FileAccess::Deny)
        .unwrap()
        .on("**/*.lock", FileAccess::Read)
        .unwrap()
        .on("/src/**", FileAccess::Ask)
        .unwrap()
}

fn seed() -> MessagesStateUpdate {
    let files = StateFiles::update([
        ("/secrets/key", "a secret key"),
        ("/a.lock", "locked"),
        ("/src/main.rs", "fn main() {}"),
    ]);
    MessagesStateUpdate::user("Go!").middleware(files)
}

/// Rules, a path, and what holds for it.
type Rule = (
    &'static [(&'static str, FileAccess)],
    &'static str,
    FileAccess,
);

#[test]
fn the_first_pattern_that_matches_counts() {
    use FileAccess::{Ask, Deny, Read, Write};
    let cases: [Rule; 21] = [
        (&[("secrets/**", Deny)], "/secrets/key", Deny),
        (&[("/a..b/**", Deny)], "/a..b/c", Deny),
        (&[("/{a,b}/**", Deny)], "/b/c", Deny),
        (&[("/{a,b}/**", Deny)], "/c/c", Write),
        (&[("/a/**", Deny)], "/a/.hidden/.key", Deny),
        (&[], "/a/b", Write),
        (&[("/secrets/**", Deny)], "/secrets/key", Deny),
        (&[("/secrets/**", Deny)], "/secrets/a/b/c/key", Deny),
        (&[("/secrets/**", Deny)], "/secrets2/key", Write),
        (&[("/secrets/*", Deny)], "/secrets/a/key", Write),
        (&[("/a/**", Read), ("/a/b", Write)], "/a/b", Read),
        (&[("/a/b", Write), ("/a/**", Read)], "/a/b", Write),
        (&[("/a/**", Ask), ("/a/**", Deny)], "/a/b", Ask),
        (&[("/a/**", Deny), ("/a/**", Ask)], "/a/b", Deny),
        (&[("/v?/x", Deny)], "/v1/x", Deny),
        (&[("/v?/x", Deny)], "/v10/x", Write),
        (&[("/**/*.{key,pem}", Deny)], "/a/b/c.pem", Deny),
        (&[("/**/*.{key,pem}", Deny)], "/a/b/c.pub", Write),
        (&[("/[a-c]/**", Deny)], "/b/x", Deny),
        (&[("/[^a-c]/**", Deny)], "/b/x", Write),
        (&[("/x", Deny), ("/y", Deny), ("/**", Read)], "/z", Read),
    ];
    for (rules, path, wanted) in cases {
        let rules = rules.iter();
        let permissions = rules.fold(FilePermissions::new(), |permissions, (pattern, access)| {
            permissions.on(pattern, *access).unwrap()
        });
        assert_eq!(permissions.of(path), wanted, "{permissions:?} {path}");
    }
    let rest = FilePermissions::new().otherwise(FileAccess::Read);
    assert_eq!(rest.of("/a"), FileAccess::Read);
    // No path could match some of them: such a rule would seem to forbid something.
    for pattern in [
        "/a/***",
        "/[a",
        "/a/../secrets/**",
        "/a/./b",
        "..",
        "~/.ssh/**",
        "/a\\b",
        "/a\\..\\b",
        "/secrets/",
        "/a//b",
        "/",
        "",
    ] {
        assert!(
            FilePermissions::new().on(pattern, Deny).is_err(),
            "{pattern}"
        );
    }
}

#[tokio::test]
async fn a_search_below_a_denied_folder_finds_nothing_and_above_it_the_rest() {
    let turns = [
        call("c0", "ls", json!({"path": "/secrets"})),
        call("c1", "glob", json!({"pattern": "*", "path": "/secrets"})),
        call("c2", "grep", json!({"pattern": ".", "path": "/secrets"})),
        call("c3", "grep", json!({"pattern": "key|locked", "glob": "*"})),
        call(
            "c4",
            "grep",
            json!({"pattern": "key", "path": "/a.lock/../secrets"}),
        ),
        call(
            "c5",
            "edit_file",
            json!({"path": "/secrets/key", "old_string": "a", "new_string": "b"}),
        ),
        says("done"),
    ];
    let agent = compiled(deep_agent(model(turns)).permissions(permissions()));
    let outcome = agent.thread("t").run(seed()).await.unwrap();
    let results = results(&outcome.finished().unwrap());
    assert_eq!(
        results[..4],
        [
            "nothing found",
            "nothing found",
            "nothing found",
            "/a.lock:1: locked"
        ]
    );
    assert!(results[4].contains("has a `..`"), "{results:?}");
    assert!(results[5].contains("/secrets/key"), "{results:?}");
    assert!(
        !results.iter().any(|result| result.contains("a secret key")),
        "{results:?}"
    );
}

#[tokio::test]
async fn what_is_denied_is_not_seen_and_what_is_read_is_not_written() {
    let turns = [
        call("c0", "read_file", json!({"path": "/secrets/key"})),
        call("c1", "ls", json!({})),
        call("c2", "grep", json!({"pattern": "secret|locked"})),
        call("c3", "glob", json!({"pattern": "**/*"})),
        call(
            "c4",
            "write_file",
            json!({"path": "/secrets/new", "content": ""}),
        ),
        call(
            "c5",
            "edit_file",
            json!({"path": "/a.lock", "old_string": "l", "new_string": "b"}),
        ),
        call("c6", "read_file", json!({"path": "/./secrets//key"})),
        says("done"),
    ];
    let agent = compiled(deep_agent(model(turns)).permissions(permissions()));
    let outcome = agent.thread("t").run(seed()).await.unwrap();
    assert_eq!(
        results(&outcome.finished().unwrap()),
        [
            "there is no file `/secrets/key`",
            "/a.lock\n/src/",
            "/a.lock:1: locked",
            "/a.lock\n/src/main.rs",
            "the file `/secrets/new` may not be written; choose another path, or answer without it",
            "the file `/a.lock` may not be written; choose another path, or answer without it",
            "there is no file `/secrets/key`",
        ]
    );
}

#[tokio::test]
async fn a_person_decides_about_writes_and_may_not_edit_a_call_past_a_denial() {
    let edit = json!({"path": "src//main.rs", "old_string": "{}", "new_string": "{ work() }"});
    let turns = [
        call("c0", "read_file", json!({"path": "/src/main.rs"})),
        calls([
            ("c1", "edit_file", edit),
            (
                "c2",
                "write_file",
                json!({"path": "/src/a.rs", "content": "a"}),
            ),
            (
                "c3",
                "write_file",
                json!({"path": "/src/b.rs", "content": "b"}),
            ),
        ]),
        says("done"),
    ];
    let agent = compiled(deep_agent(model(turns)).permissions(permissions()));
    let thread = agent.thread("t");
    let outcome = thread.run(seed()).await.unwrap();
    assert_eq!(outcome.interrupts().len(), 3);
    let request = ApprovalRequest::of(&outcome.interrupts()[0]).unwrap();
    assert_eq!(request.call.name, "edit_file");
    thread.resume("c1", ToolDecision::Approve).await.unwrap();
    let no = ToolDecision::reject("Not there!");
    thread.resume("c2", no).await.unwrap();
    let elsewhere = [("path", "/secrets/b"), ("content", "b")];
    let outcome = thread.resume("c3", ToolDecision::edit(elsewhere)).await;
    let state = outcome.unwrap().finished().unwrap();
    let results = results(&state);
    assert_eq!(
        results[1],
        "`src//main.rs` is edited".replace("src//", "/src/")
    );
    assert_eq!(results[2], "Not there!");
    assert!(
        results[3].contains("`/secrets/b` may not be written"),
        "{results:?}"
    );
    let files = langgraph_deep::FILES.read(&state.middleware).unwrap();
    assert_eq!(files["/src/main.rs"], "fn main() { work() }");
    assert_eq!(files.len(), 3);
}

#[tokio::test]
async fn a_sub_agent_has_the_permissions_of_the_agent_unless_it_has_its_own() {
    let call = |name: &str, arguments| Turn::tool_calls([ToolCall::new("c", name, arguments)]);
    let read = || call("read_file", json!({"path": "/secrets/key"}));
    let own = FilePermissions::new().otherwise(FileAccess::Read);
    for (agent, sees) in [("general-purpose", false), ("plain", false), ("own", true)] {
        let task = call("task", json!({"agent": agent, "description": "Read it!"}));
        // The agent for general purposes has the model of the agent itself.
        let (boss, reader) = if agent == "general-purpose" {
            let turns = [task, read(), Turn::text("read"), Turn::text("done")];
            (
                ScriptedModel::new(turns),
                ScriptedModel::new(Vec::<Turn>::new()),
            )
        } else {
            (
                ScriptedModel::new([task, Turn::text("done")]),
                ScriptedModel::new([read(), Turn::text("read")]),
            )
        };
        let inner = || deep_agent(reader.clone());
        let agent = deep_agent(boss.clone())
            .permissions(permissions())
            .subagent("plain", "reads", inner())
            .subagent("own", "reads", inner().permissions(own.clone()));
        compiled(agent).thread("t").run(seed()).await.unwrap();
        let requests = [boss.requests(), reader.requests()].concat();
        let messages = requests.iter().flat_map(|request| &request.messages);
        let mut answers = messages.filter(|message| message.is_tool());
        // The other answer is that of the sub-agent.
        let answer = answers.find(|message| message.text() != "read");
        let answer = answer.unwrap().text().into_owned();
        assert_eq!(answer.contains("a secret key"), sees, "{answer}");
        assert_eq!(answer.contains("there is no file"), !sees, "{answer}");
    }
}

#[tokio::test]
async fn an_agent_that_may_ask_needs_a_checkpointer() {
    let agent = |permissions| deep_agent(model([says("hi")])).permissions(permissions);
    let asks = agent(permissions()).compile().unwrap();
    let error = asks.invoke(seed()).await.unwrap_err().to_string();
    assert!(error.contains("checkpointer"), "{error}");
    let outer = deep_agent(model([says("hi")])).subagent("inner", "asks", agent(permissions()));
    let error = outer.compile().unwrap().invoke(seed()).await.unwrap_err();
    assert!(error.to_string().contains("checkpointer"), "{error}");
    let free = agent(FilePermissions::new()).compile().unwrap();
    assert!(free.invoke(seed()).await.is_ok());
}

#[tokio::test]
async fn two_writes_of_one_file_in_a_message_are_refused() {
    let write = |path: &str, text: &str| json!({"path": path, "content": text});
    let turns = [
        calls([
            ("c1", "write_file", write("/a", "1")),
            ("c2", "write_file", write("a", "2")),
            ("c3", "write_file", write("/b", "3")),
        ]),
        says("done"),
    ];
    let agent = compiled(deep_agent(model(turns)));
    let outcome = agent.thread("t").run(seed()).await.unwrap();
    let results = results(&outcome.finished().unwrap());
    assert_eq!(results[0], "`/a` is written");
    assert!(results[1].contains("at the same time"), "{results:?}");
    assert_eq!(results[2], "`/b` is written");
    let refused = answers(deep_agent, &[("edit_file", json!({"path": "/a"}))]).await;
    assert!(refused[0].contains("old_string"), "{refused:?}");
}
