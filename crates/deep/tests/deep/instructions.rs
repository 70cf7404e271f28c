//! Skills and memory files in the instructions of the model.

use langgraph::message::ToolCall;
use langgraph_agent::{MessagesStateUpdate, ScriptedModel, Turn};
use langgraph_deep::{SKILLS, StateFiles, deep_agent};
use serde_json::json;

use super::support::compiled;

fn skill(name: &str, more: &str) -> String {
    format!("---\nname: {name}\n{more}\n---\n\n# How\n\nThe body of {name}.\n")
}

#[tokio::test]
async fn skills_are_named_and_their_bodies_are_read_by_need() {
    let model = ScriptedModel::new([
        Turn::tool_calls([ToolCall::new(
            "c1",
            "read_file",
            json!({"path": "/skills/brew-tea/SKILL.md"}),
        )]),
        Turn::text("done"),
    ]);
    let agent = compiled(deep_agent(model.clone()).skills(["/skills", "/own"]));
    let long = "x".repeat(1025);
    let files = [
        (
            "/skills/brew-tea/SKILL.md",
            skill(
                "brew-tea",
                "description: >\n  How to\n  brew tea.\nlicense: MIT",
            ),
        ),
        (
            "/skills/brew-tea/notes/SKILL.md",
            skill("notes", "description: Not a skill."),
        ),
        (
            "/skills/quoted/SKILL.md",
            skill("quoted", "description: \"With: a colon.\""),
        ),
        (
            "/skills/other/SKILL.md",
            skill("wrong-name", "description: Hm."),
        ),
        ("/skills/Upper/SKILL.md", skill("Upper", "description: Hm.")),
        ("/skills/dumb/SKILL.md", skill("dumb", "license: MIT")),
        (
            "/skills/long/SKILL.md",
            skill("long", &format!("description: {long}")),
        ),
        ("/skills/bare/SKILL.md", "# No fields".to_owned()),
        (
            "/own/quoted/SKILL.md",
            skill("quoted", "description: The later one counts."),
        ),
    ];
    let input = MessagesStateUpdate::user("Tea?").middleware(StateFiles::update(files));
    let outcome = agent.thread("t").run(input).await.unwrap();
    let state = outcome.finished().unwrap();
    let skills = SKILLS.read(&state.middleware).unwrap();
    let shown: Vec<_> = skills
        .iter()
        .map(|skill| (&*skill.name, &*skill.description, skill.problem.as_deref()))
        .collect();
    assert_eq!(
        shown,
        [
            (
                "Upper",
                "",
                Some(
                    "its name `Upper` is not one of up to 64 lowercase letters, digits and single hyphens"
                )
            ),
            (
                "bare",
                "",
                Some("it does not begin with fields between two lines `---`")
            ),
            ("brew-tea", "How to brew tea.", None),
            ("dumb", "", Some("it has no field `description`")),
            (
                "long",
                "",
                Some("its description has more than 1024 characters")
            ),
            (
                "other",
                "",
                Some("its name is `wrong-name`, and its folder is `other`")
            ),
            ("quoted", "The later one counts.", None),
        ]
    );
    let instructions = model.requests()[0].messages[0].text().into_owned();
    let line = "- `brew-tea`: How to brew tea. Its file: `/skills/brew-tea/SKILL.md`";
    assert!(instructions.contains(line), "{instructions}");
    for hidden in ["The body", "Not a skill", "Upper", "dumb"] {
        assert!(!instructions.contains(hidden), "{instructions}");
    }
    assert!(state.messages[2].text().contains("The body of brew-tea."));
}

#[tokio::test]
async fn memory_files_are_instructions_and_the_next_run_reads_what_was_learned() {
    let edit = json!({"path": "/AGENTS.md", "old_string": "short", "new_string": "very short"});
    let model = ScriptedModel::new([
        Turn::tool_calls([ToolCall::new("c1", "edit_file", edit)]),
        Turn::text("noted"),
        Turn::text("Hi."),
    ]);
    let agent = compiled(
        deep_agent(model.clone())
            .prompt("You help.")
            .memory(["/AGENTS.md", "/none.md"]),
    );
    let thread = agent.thread("t");
    let files = StateFiles::update([("/AGENTS.md", "Answers are short.")]);
    let input = MessagesStateUpdate::user("Be very short.").middleware(files);
    thread.run(input).await.unwrap();
    thread
        .run(MessagesStateUpdate::user("Hello!"))
        .await
        .unwrap();
    let of = |request: usize| model.requests()[request].messages[0].text().into_owned();
    for (request, known) in [(0, "Answers are short."), (2, "Answers are very short.")] {
        let instructions = of(request);
        assert!(instructions.starts_with("You help.\n\n"), "{instructions}");
        let file = format!("## /AGENTS.md\n\n{known}");
        assert!(instructions.contains(&file), "{instructions}");
        let missing = "## /none.md\n\n(there is no such file yet)";
        assert!(instructions.contains(missing), "{instructions}");
    }
}

#[tokio::test]
async fn comments_of_memory_files_are_not_for_the_model() {
    let model = ScriptedModel::new(["Hi."]);
    let agent = compiled(deep_agent(model.clone()).memory(["/AGENTS.md"]));
    let text = "<!-- owner: ada -->Short.\n<!-- on\nlines <!-- -->Polite.<!-- without an end";
    let files = StateFiles::update([("/AGENTS.md", text)]);
    let input = MessagesStateUpdate::user("Hello!").middleware(files);
    agent.thread("t").run(input).await.unwrap();
    let instructions = model.requests()[0].messages[0].text().into_owned();
    let file = "## /AGENTS.md\n\nShort.\nPolite.<!-- without an end";
    assert!(instructions.contains(file), "{instructions}");
}
