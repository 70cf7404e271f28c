//! What is different about files on the disk.

use std::fs;

use langgraph_deep::DiskFiles;
use serde_json::json;
use tempfile::TempDir;

use super::support::answers_with;

#[cfg(unix)]
#[tokio::test]
async fn links_on_the_disk_are_not_followed() {
    let (folder, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    fs::write(outside.path().join("secret.md"), "secret").unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();
    let secret = outside.path().join("secret.md");
    std::os::unix::fs::symlink(&secret, folder.path().join("secret.md")).unwrap();
    std::os::unix::fs::symlink("loop", folder.path().join("loop")).unwrap();
    let of = [
        ("read_file", json!({"path": "/secret.md"})),
        ("read_file", json!({"path": "/link/secret.md"})),
        (
            "write_file",
            json!({"path": "/link/new.md", "content": "x"}),
        ),
        ("write_file", json!({"path": "/secret.md", "content": "x"})),
        ("ls", json!({"path": "/link"})),
        ("read_file", json!({"path": "/loop"})),
        ("write_file", json!({"path": "/loop/x", "content": "x"})),
        ("ls", json!({"path": "/loop"})),
        ("ls", json!({})),
        ("grep", json!({"pattern": "secret"})),
    ];
    let answers = answers_with(DiskFiles::new(folder.path()), &of).await;
    for answer in &answers[..8] {
        assert!(answer.contains("through a link"), "{answer}");
    }
    assert_eq!(answers[8..], ["nothing found", "nothing found"]);
    assert_eq!(fs::read_to_string(secret).unwrap(), "secret");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

#[tokio::test]
async fn files_of_the_disk_that_are_no_text_or_too_large_are_not_read() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("photo"), [0xff, 0xfe]).unwrap();
    fs::write(folder.path().join("large"), "0123456789 and more").unwrap();
    fs::write(folder.path().join("small"), "0123").unwrap();
    let of = [
        ("read_file", json!({"path": "/photo"})),
        ("read_file", json!({"path": "/large"})),
        ("grep", json!({"pattern": "0123"})),
    ];
    let answers = answers_with(DiskFiles::new(folder.path()).largest(10), &of).await;
    assert_eq!(
        answers,
        [
            "the file `/photo` is not text",
            "the file `/large` has 19 bytes, and the limit is 10",
            "/small:1: 0123",
        ]
    );
}

#[tokio::test]
async fn what_the_disk_refuses_is_for_the_model() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("d")).unwrap();
    fs::write(folder.path().join("a"), "one").unwrap();
    let write = |path: &str| ("write_file", json!({"path": path, "content": "x"}));
    let of = [
        write("/a/b"),
        write("/d"),
        write(&format!("/{}", "x".repeat(300))),
        ("ls", json!({"path": "/a"})),
        ("read_file", json!({"path": "/a/b"})),
        ("read_file", json!({"path": "/a"})),
    ];
    let answers = answers_with(DiskFiles::new(folder.path()), &of).await;
    assert!(answers[0].starts_with("cannot write `/a/b`"), "{answers:?}");
    assert_eq!(answers[1], "`/d` is a folder");
    assert!(answers[2].starts_with("cannot "), "{answers:?}");
    assert_eq!(
        answers[3..],
        ["nothing found", "there is no file `/a/b`", "     1\tone\n"]
    );
}

#[tokio::test]
async fn an_edit_keeps_the_line_ends_of_a_file() {
    let folder = TempDir::new().unwrap();
    // The line ends of the file, and those that the model sends.
    for (own, sent) in [("\r\n", "\n"), ("\r\n", "\r\n"), ("\n", "\r\n")] {
        let text = |lines: [&str; 3], end: &str| lines.map(|line| format!("{line}{end}")).concat();
        let file = folder.path().join("a");
        fs::write(&file, text(["one", "two", "two"], own)).unwrap();
        let edit = |old: String, new: String| {
            let all =
                json!({"path": "/a", "old_string": old, "new_string": new, "replace_all": true});
            ("edit_file", all)
        };
        let of = [
            edit(format!("one{sent}two"), format!("1{sent}2")),
            edit(format!("2{sent}"), format!("3{sent}4{sent}")),
            ("read_file", json!({"path": "/a"})),
        ];
        let answers = answers_with(DiskFiles::new(folder.path()), &of).await;
        assert_eq!(
            answers,
            [
                "`/a` is edited",
                "`/a` is edited",
                "     1\t1\n     2\t3\n     3\t4\n     4\ttwo\n"
            ]
        );
        let text = ["1", "3", "4", "two"].map(|line| format!("{line}{own}"));
        assert_eq!(fs::read_to_string(file).unwrap(), text.concat());
    }
}
