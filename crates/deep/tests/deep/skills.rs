//! Which folders are skills.

use langgraph_agent::MessagesStateUpdate;
use langgraph_deep::{
    CompositeFiles, DiskFiles, SKILLS, Skill, StateFiles, StoreFiles, deep_agent,
};
use tempfile::TempDir;

use super::support::{call, compiled, model, says};

/// Returns what an agent finds in `/skills`, and then in `/own`.
async fn found(files: impl IntoIterator<Item = (String, String)>) -> Vec<Skill> {
    let agent = compiled(deep_agent(model([says("done")])).skills(["/skills", "/own"]));
    let input = MessagesStateUpdate::user("Go!").middleware(StateFiles::update(files));
    let state = agent.thread("t").run(input).await.unwrap().finished();
    SKILLS.read(&state.unwrap().middleware).unwrap()
}

fn file(folder: &str, front_matter: &str) -> (String, String) {
    let path = format!("/skills/{folder}/SKILL.md");
    (path, format!("---\n{front_matter}\n---\nThe body.\n"))
}

#[tokio::test]
async fn names_are_lowercase_letters_digits_and_single_hyphens() {
    let good = ["a", "web-research", "pdf2", "a-b-c", "straße", "été", "2d"];
    let longest = "a".repeat(64);
    let good: Vec<&str> = good.into_iter().chain([&*longest]).collect();
    let too_long = "a".repeat(65);
    let bad = [
        "A",
        "Web-research",
        "a--b",
        "-a",
        "a-",
        "a_b",
        "a b",
        "名前",
        "a🦀",
        "É",
    ];
    let bad: Vec<&str> = bad.into_iter().chain([&*too_long]).collect();
    let file = |name: &&str| file(name, &format!("name: {name}\ndescription: Does."));
    let skills = found(good.iter().chain(&bad).map(file)).await;
    assert_eq!(skills.len(), good.len() + bad.len());
    for skill in skills {
        let is_good = good.contains(&&*skill.name);
        assert_eq!(skill.problem.is_none(), is_good, "{skill:?}");
    }
}

#[tokio::test]
async fn a_description_may_be_quoted_folded_or_a_block_and_other_fields_are_left_out() {
    let cases = [
        ("plain", "description: Brews tea.", Some("Brews tea.")),
        ("single", "description: 'Brews: tea.'", Some("Brews: tea.")),
        (
            "folded",
            "description: >\n  Brews\n  tea.",
            Some("Brews tea."),
        ),
        (
            "block",
            "description: |\n  Brews\n  tea.",
            Some("Brews\ntea."),
        ),
        (
            "nested",
            "metadata:\n  description: No.\ndescription: Yes.",
            Some("Yes."),
        ),
        (
            "all-fields",
            "description: Yes.\nlicense: MIT\ncompatibility: Rust\nallowed-tools: ls grep\nmetadata:\n  a: b",
            Some("Yes."),
        ),
        (
            "list",
            "allowed-tools:\n  - ls\n  - grep\ndescription: Yes.",
            Some("Yes."),
        ),
        ("comment", "# a comment\ndescription: Yes.", Some("Yes.")),
        ("after", "description: Yes. # Why not?", Some("Yes.")),
        (
            "sharp",
            "description: About C# and F#.",
            Some("About C# and F#."),
        ),
        (
            "items",
            "allowed-tools:\n- ls\n- grep: no\ndescription: Yes.",
            Some("Yes."),
        ),
        (
            "escaped",
            "description: \"Says \\\"yes\\\". # All of it.\"",
            Some("Says \"yes\". # All of it."),
        ),
        ("doubled", "description: 'It''s tea.'", Some("It's tea.")),
        (
            "stripped",
            "description: >-\n  Brews\n  tea.\nname2: x",
            Some("Brews tea."),
        ),
        (
            "any-form",
            "license: true\nmetadata: text\nallowed-tools: 42\ncompatibility:\ndescription: Yes.",
            Some("Yes."),
        ),
        (
            "empty-lists",
            "allowed-tools: []\nmetadata: {}\nlicense: \"\"\ndescription: Yes.",
            Some("Yes."),
        ),
        ("blank", "description: \"\"", None),
        ("white", "description:    ", None),
        ("none", "license: MIT", None),
        ("no-yaml", "what is this", None),
    ];
    let files = cases.map(|(name, more, _)| file(name, &format!("name: {name}\n{more}")));
    for skill in found(files).await {
        let case = cases.iter().find(|(name, ..)| *name == skill.name);
        match case.unwrap().2 {
            Some(wanted) => {
                assert_eq!((&*skill.description, &skill.problem), (wanted, &None));
            }
            None => assert!(skill.problem.is_some(), "{skill:?}"),
        }
    }
}

#[tokio::test]
async fn only_folders_with_a_skill_file_are_skills_and_the_later_place_counts() {
    let text = |name: &str, about: &str| format!("---\nname: {name}\ndescription: {about}\n---\n");
    let skills = found([
        ("/skills/a/SKILL.md".to_owned(), text("a", "The first.")),
        ("/skills/a/helper.py".to_owned(), "print()".to_owned()),
        ("/skills/b/README.md".to_owned(), text("b", "No skill.")),
        ("/skills/SKILL.md".to_owned(), text("skills", "No folder.")),
        ("/skills/c/d/SKILL.md".to_owned(), text("d", "Too deep.")),
        ("/own/a/SKILL.md".to_owned(), text("a", "The second.")),
        ("/own/e/SKILL.md".to_owned(), text("e", "Its own.")),
        (
            "/elsewhere/f/SKILL.md".to_owned(),
            text("f", "Not asked for."),
        ),
    ]);
    let shown: Vec<_> = skills
        .await
        .into_iter()
        .map(|skill| (skill.path, skill.description, skill.problem))
        .collect();
    let skill = |path: &str, about: &str| (path.to_owned(), about.to_owned(), None);
    assert_eq!(
        shown,
        [
            skill("/own/a/SKILL.md", "The second."),
            skill("/own/e/SKILL.md", "Its own."),
        ]
    );
    assert!(found([]).await.is_empty());
}

#[tokio::test]
async fn a_skill_that_cannot_be_read_is_left_out_and_the_others_are_found() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &[u8]| {
        let folder = folder.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("SKILL.md"), text).unwrap();
    };
    write("bytes", &[0xff, 0xfe]);
    write("good", b"---\nname: good\ndescription: Does.\n---\n");
    write("large", &[b' '; 200]);
    std::fs::create_dir_all(folder.path().join("folder/SKILL.md")).unwrap();
    let files = DiskFiles::new(folder.path()).largest(100);
    let agent = deep_agent(model([says("done")])).files(files).skills(["/"]);
    let run = compiled(agent);
    let run = run.thread("t").run(MessagesStateUpdate::user("Go!")).await;
    let state = run.unwrap().finished().unwrap();
    let skills = SKILLS.read(&state.middleware).unwrap();
    let found: Vec<_> = skills
        .iter()
        .map(|skill| (&*skill.name, skill.problem.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            ("bytes", Some("the file `/bytes/SKILL.md` is not text")),
            ("good", None),
            (
                "large",
                Some("the file `/large/SKILL.md` has 200 bytes, and the limit is 100")
            ),
        ]
    );
}

#[tokio::test]
async fn skills_of_the_disk_and_of_a_store_are_found() {
    let folder = TempDir::new().unwrap();
    let skill = folder.path().join("brew/SKILL.md");
    std::fs::create_dir_all(skill.parent().unwrap()).unwrap();
    let text = "---\r\nname: brew\r\ndescription: Brews.\r\n---\r\n";
    std::fs::write(skill, text).unwrap();
    let files = CompositeFiles::new(StateFiles)
        .at("/skills", DiskFiles::new(folder.path()))
        .unwrap()
        .at("/own", StoreFiles::new(["skills"]))
        .unwrap();
    let text = "---\nname: pour\ndescription: Pours.\n---\n";
    let write = serde_json::json!({"path": "/own/pour/SKILL.md", "content": text});
    let turns = [
        call("c1", "write_file", write),
        says("written"),
        says("done"),
    ];
    let agent = deep_agent(model(turns)).files(files);
    let agent = compiled(agent.skills(["/skills", "/own"]));
    // The second run reads what the first one has written.
    agent
        .thread("t")
        .run(MessagesStateUpdate::user("Go!"))
        .await
        .unwrap();
    let state = agent
        .thread("u")
        .run(MessagesStateUpdate::user("Go!"))
        .await;
    let skills = SKILLS
        .read(&state.unwrap().finished().unwrap().middleware)
        .unwrap();
    let names: Vec<_> = skills
        .iter()
        .map(|skill| (&*skill.name, &skill.problem))
        .collect();
    assert_eq!(names, [("brew", &None), ("pour", &None)]);
}
