//! Each place for files, by one list of cases.

use std::fs;
use std::sync::Arc;

use langgraph_deep::{CompositeFiles, DiskFiles, Files, StateFiles, StoreFiles};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::answers_with;

/// What a model calls, and what it reads.
type Case = (&'static str, Value, String);

fn case(tool: &'static str, arguments: Value, answer: &str) -> Case {
    (tool, arguments, answer.to_owned())
}

/// Files are written, listed and read.
fn first_cases() -> Vec<Case> {
    vec![
        case("ls", json!({}), "nothing found"),
        case(
            "read_file",
            json!({"path": "/a.md"}),
            "there is no file `/a.md`",
        ),
        case(
            "write_file",
            json!({"path": "a.md", "content": "one\ntwo\nthree\n"}),
            "`/a.md` is written",
        ),
        case(
            "write_file",
            json!({"path": "/a.md", "content": "one\ntwo\nthree\n"}),
            "`/a.md` is written",
        ),
        case(
            "write_file",
            json!({"path": "/a.md", "content": "four"}),
            "the file `/a.md` exists; read it and edit it, or write another one",
        ),
        case(
            "write_file",
            json!({"path": "/d/e/b.rs", "content": "fn two() {}\n"}),
            "`/d/e/b.rs` is written",
        ),
        case(
            "write_file",
            json!({"path": "/d/empty", "content": ""}),
            "`/d/empty` is written",
        ),
        case(
            "write_file",
            json!({"path": "/dx.md", "content": "ünï 🦀"}),
            "`/dx.md` is written",
        ),
        case("ls", json!({}), "/a.md\n/d/\n/dx.md"),
        case("ls", json!({"path": "/d"}), "/d/e/\n/d/empty"),
        case("ls", json!({"path": "/d/e/"}), "/d/e/b.rs"),
        case("ls", json!({"path": "/x"}), "nothing found"),
        case(
            "read_file",
            json!({"path": "/a.md"}),
            "     1\tone\n     2\ttwo\n     3\tthree\n",
        ),
        case(
            "read_file",
            json!({"path": "/a.md", "offset": 1, "limit": 1}),
            "     2\ttwo\n(lines 3 to 3 follow)\n",
        ),
        case(
            "read_file",
            json!({"path": "/a.md", "offset": 3}),
            "the file `/a.md` has 3 lines; read from a smaller offset than 3",
        ),
        case(
            "read_file",
            json!({"path": "/a.md", "limit": 0}),
            "(lines 1 to 3 follow)\n",
        ),
        case(
            "read_file",
            json!({"path": "/d/empty"}),
            "(the file is empty)",
        ),
        case(
            "read_file",
            json!({"path": "/d/empty", "limit": 0}),
            "(the file is empty)",
        ),
        case("read_file", json!({"path": "/d"}), "there is no file `/d`"),
        case("read_file", json!({"path": "/dx.md"}), "     1\tünï 🦀\n"),
    ]
}

/// Files are edited and searched.
fn later_cases() -> Vec<Case> {
    vec![
        case(
            "edit_file",
            json!({"path": "/a.md", "old_string": "two", "new_string": "2"}),
            "`/a.md` is edited",
        ),
        case(
            "edit_file",
            json!({"path": "/a.md", "old_string": "two", "new_string": "2"}),
            "`old_string` does not stand in `/a.md`; read the file",
        ),
        case(
            "edit_file",
            json!({"path": "/a.md", "old_string": "e", "new_string": "E"}),
            "`old_string` stands in `/a.md` 3 times; give more of the text around it, or set `replace_all`",
        ),
        case(
            "edit_file",
            json!({"path": "/a.md", "old_string": "e", "new_string": "E", "replace_all": true}),
            "`/a.md` is edited in 3 places",
        ),
        case(
            "read_file",
            json!({"path": "/a.md"}),
            "     1\tonE\n     2\t2\n     3\tthrEE\n",
        ),
        case(
            "edit_file",
            json!({"path": "/x.md", "old_string": "a", "new_string": "b"}),
            "there is no file `/x.md`",
        ),
        case(
            "edit_file",
            json!({"path": "/dx.md", "old_string": "ünï 🦀\n", "new_string": "b\n"}),
            "`old_string` ends with a line end, and `/dx.md` does not; leave it out",
        ),
        // Not at the end of the file, and a line end alone.
        case(
            "edit_file",
            json!({"path": "/dx.md", "old_string": "ünï\n", "new_string": "b\n"}),
            "`old_string` does not stand in `/dx.md`; read the file",
        ),
        case(
            "edit_file",
            json!({"path": "/dx.md", "old_string": "\n", "new_string": "b"}),
            "`old_string` does not stand in `/dx.md`; read the file",
        ),
        case("glob", json!({"pattern": "**/*.md"}), "/a.md\n/dx.md"),
        case("glob", json!({"pattern": "*.md", "path": "/a.md"}), "/a.md"),
        case(
            "glob",
            json!({"pattern": "*.rs", "path": "/d/e"}),
            "/d/e/b.rs",
        ),
        case("glob", json!({"pattern": "*.rs"}), "/d/e/b.rs"),
        case("glob", json!({"pattern": "/*.rs"}), "nothing found"),
        case(
            "grep",
            json!({"pattern": "^(2|fn)"}),
            "/a.md:2: 2\n/d/e/b.rs:1: fn two() {}",
        ),
        case(
            "grep",
            json!({"pattern": "o", "glob": "**/*.rs"}),
            "/d/e/b.rs:1: fn two() {}",
        ),
        case(
            "grep",
            json!({"pattern": "o", "path": "/a.md"}),
            "/a.md:1: onE",
        ),
        case(
            "grep",
            json!({"pattern": "o", "path": "/a.md", "glob": "*.rs"}),
            "nothing found",
        ),
        // The pattern of paths is relative to the folder.
        case(
            "grep",
            json!({"pattern": "o", "path": "/d", "glob": "e/*.rs"}),
            "/d/e/b.rs:1: fn two() {}",
        ),
        case(
            "grep",
            json!({"pattern": "o", "path": "/d", "glob": "d/e/*.rs"}),
            "nothing found",
        ),
        case(
            "grep",
            json!({"pattern": "two\\(\\) \\{"}),
            "/d/e/b.rs:1: fn two() {}",
        ),
        case("grep", json!({"pattern": "tea"}), "nothing found"),
        // Dots are no `..`.
        case(
            "write_file",
            json!({"path": "/d/v1..v2/...", "content": "x x x"}),
            "`/d/v1..v2/...` is written",
        ),
        case(
            "edit_file",
            json!({"path": "/d/v1..v2/...", "old_string": "x\n", "new_string": "y\n"}),
            "`old_string` ends with a line end, and `/d/v1..v2/...` does not; leave it out. It stands there 3 times \
             then: give more of the text around it, or set `replace_all`",
        ),
        case("ls", json!({"path": "/d/v1..v2"}), "/d/v1..v2/..."),
    ]
}

/// The paths that no place takes.
const REFUSED: [&str; 10] = [
    "../x",
    "/d/../../x",
    "/d/..",
    "~/x",
    "/a\\b",
    "/d\\../x",
    "/a\nb",
    "C:/x",
    "/C:/x",
    "c:",
];

async fn conforms(name: &str, files: impl Files) {
    let cases: Vec<Case> = first_cases().into_iter().chain(later_cases()).collect();
    let of: Vec<_> = cases
        .iter()
        .map(|(tool, arguments, _)| (*tool, arguments.clone()))
        .collect();
    let answers = answers_with(files, &of).await;
    assert_eq!(answers.len(), cases.len());
    for ((tool, arguments, wanted), answer) in cases.iter().zip(answers) {
        assert_eq!(&answer, wanted, "{name}: {tool} {arguments}");
    }
}

#[tokio::test]
async fn files_in_the_state_conform() {
    conforms("state", StateFiles).await;
}

#[tokio::test]
async fn files_in_the_store_conform() {
    conforms("store", StoreFiles::new(["files"])).await;
    conforms("store", StoreFiles::by(|_| ["files", "ada"].into())).await;
}

#[tokio::test]
async fn files_on_the_disk_conform() {
    let folder = TempDir::new().unwrap();
    conforms("disk", DiskFiles::new(folder.path())).await;
    let text = fs::read_to_string(folder.path().join("d/e/b.rs")).unwrap();
    assert_eq!(text, "fn two() {}\n");
    let left = fs::read_dir(folder.path()).unwrap();
    assert_eq!(left.count(), 3, "no drafts stay");
}

#[tokio::test]
async fn files_in_several_places_conform() {
    let folder = TempDir::new().unwrap();
    let files = CompositeFiles::new(StateFiles)
        .at("/d/e", DiskFiles::new(folder.path()))
        .unwrap()
        .at("/d", Arc::new(StoreFiles::new(["files"])))
        .unwrap();
    conforms("composite", files).await;
    assert!(folder.path().join("b.rs").exists());
}

#[tokio::test]
async fn names_with_a_leading_dot_are_listed_in_every_place() {
    let (folder, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let mounted = CompositeFiles::new(StateFiles).at("/.github", DiskFiles::new(other.path()));
    fs::create_dir(folder.path().join(".git")).unwrap();
    fs::write(folder.path().join(".git/config"), "dark").unwrap();
    fs::write(folder.path().join(".half.md.draft"), "dark").unwrap();
    let places: [Arc<dyn Files>; 4] = [
        Arc::new(StateFiles),
        Arc::new(StoreFiles::new(["files"])),
        Arc::new(DiskFiles::new(folder.path())),
        Arc::new(mounted.unwrap()),
    ];
    let of = [
        (
            "write_file",
            json!({"path": "/.github/ci.yml", "content": "dark tea"}),
        ),
        ("write_file", json!({"path": "/.env", "content": "dark"})),
        ("ls", json!({"path": "/"})),
        ("ls", json!({"path": "/.github"})),
        ("glob", json!({"pattern": "**/*.yml"})),
        ("grep", json!({"pattern": "dark"})),
    ];
    for files in places {
        let answers = answers_with(files, &of).await;
        assert_eq!(
            answers[2..],
            [
                "/.env\n/.github/",
                "/.github/ci.yml",
                "/.github/ci.yml",
                "/.env:1: dark\n/.github/ci.yml:1: dark tea",
            ]
        );
    }
}

#[tokio::test]
async fn no_path_leads_out() {
    let folder = TempDir::new().unwrap();
    let tools = |path: &str| {
        [
            ("ls", json!({"path": path})),
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "x"})),
            ("glob", json!({"pattern": "*", "path": path})),
            ("grep", json!({"pattern": "x", "path": path})),
            (
                "edit_file",
                json!({"path": path, "old_string": "a", "new_string": "b"}),
            ),
        ]
    };
    for path in REFUSED {
        for answer in answers_with(DiskFiles::new(folder.path()), &tools(path)).await {
            assert!(
                answer.contains("name a path such as `/notes/tea.md`"),
                "{answer}"
            );
        }
    }
    // The root is no file.
    let answers = answers_with(StateFiles, &tools("/")).await;
    assert!(answers[2].contains("`/` may not be written"), "{answers:?}");
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_for_the_model() {
    let of = [
        ("write_file", json!({"path": "/a", "content": "one"})),
        ("read_file", json!({"path": "/a", "offset": -1})),
        ("read_file", json!({"path": "/a", "limit": -1})),
        ("grep", json!({"pattern": "[one"})),
        (
            "edit_file",
            json!({"path": "/a", "old_string": "one", "new_string": "one"}),
        ),
        (
            "edit_file",
            json!({"path": "/a", "old_string": "", "new_string": "one"}),
        ),
        ("read_file", json!({"path": "/a"})),
    ];
    let answers = answers_with(StateFiles, &of).await;
    let wanted = [
        "is written",
        "invalid value: integer `-1`",
        "invalid value: integer `-1`",
        "not a regular expression",
        "a text to replace by another one",
        "a text to replace by another one",
        "one",
    ];
    for (answer, wanted) in answers.iter().zip(wanted) {
        assert!(answer.contains(wanted), "{answer}");
    }
}

#[tokio::test]
async fn an_answer_shows_the_first_200_results() {
    for (lines, cut) in [(200, false), (201, true)] {
        let of = [
            (
                "write_file",
                json!({"path": "/a", "content": "tea\n".repeat(lines)}),
            ),
            ("grep", json!({"pattern": "tea"})),
        ];
        let answers = answers_with(StateFiles, &of).await;
        let is_cut = answers[1].ends_with("\n(only the first 200; search for less)");
        assert_eq!(is_cut, cut, "{}", answers[1]);
        assert_eq!(answers[1].matches(": tea").count(), 200);
    }
}
