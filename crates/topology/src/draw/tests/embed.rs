//! Pictures in pages and doc comments.

use std::fs;
use std::path::Path;

use super::super::embed::{EmbedError, check, check_file};
use super::graph;
use super::mermaid::agent_loop;
use crate::{START, Topology};

/// A file that is deleted when the test is over.
struct File(std::path::PathBuf);

impl File {
    fn new(name: &str, text: &str) -> Self {
        let name = format!("langgraph-embed-{}-{name}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, text).expect("a writable directory");
        Self(path)
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.0).expect("a readable file")
    }

    fn check(&self, topology: &Topology) -> Result<(), EmbedError> {
        check_file(&self.0, "agent", &topology.draw(), false)
    }

    fn bless(&self, topology: &Topology) -> Result<(), EmbedError> {
        check_file(&self.0, "agent", &topology.draw(), true)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn small() -> Topology {
    graph(["a"]).edges([(START, "a")]).0
}

#[test]
fn j13_a_stale_picture_is_an_error_that_says_what_to_run() {
    let file = File::new(
        "stale.md",
        "# Hi\n\n<!-- graph:agent -->\n<!-- /graph:agent -->\n\nend\n",
    );
    file.bless(&small()).expect("a written picture");
    let expected = format!(
        "# Hi\n\n<!-- graph:agent -->\n```mermaid\n{}```\n<!-- /graph:agent -->\n\nend\n",
        small().draw().mermaid()
    );
    assert_eq!(file.text(), expected);
    file.check(&small()).expect("a true picture");
    check(&file.0, "agent", &small().draw()).expect("a true picture");

    let changed = graph(["a", "b"]).chain(&[START, "a", "b"]).0;
    let error = file.check(&changed).expect_err("a stale picture");
    let message = error.to_string();
    assert_eq!(
        message.replace(&file.0.display().to_string(), "FILE"),
        "`FILE`, line 13: the picture `agent` is out of date (`-` is the file, `+` the graph):\n\
         -\t__end__([<p>__end__</p>]):::last\n\
         -\t__start__ --> a;\n\
         -\ta --> __end__;\n\
         +\tb(b)\n\
         +\t__end__([<p>__end__</p>]):::last\n\
         +\t__start__ --> a;\n\
         +\ta --> b;\n\
         +\tb --> __end__;\n\
         run the test again with `LANGGRAPH_BLESS=1` in the environment to write it anew"
    );
    assert_eq!(format!("{error:?}"), message);
    assert_eq!(file.text(), expected, "a check does not write");

    file.bless(&changed).expect("a written picture");
    file.check(&changed).expect("a true picture");
}

#[test]
fn j13_doc_comments_hold_pictures_for_rustdoc() {
    let file = File::new(
        "lib.rs",
        "//! An agent.\n//!\n//! <!-- graph:agent -->\n//! ```text\n//! ```\n\
         //! <!-- /graph:agent -->\n\nmod agent {\n    /// <!-- graph:agent -->\n    \
         /// <!-- /graph:agent -->\n    fn run() {}\n}\n",
    );
    file.bless(&agent_loop().0).expect("a written picture");
    file.check(&agent_loop().0).expect("a true picture");
    let text = file.text();
    let top = "//! <!-- graph:agent -->\n//! ```text\n//!        ╭───────────╮\n";
    assert!(text.contains(top), "{text}");
    let tabs = "    /// graph TD;\n    ///     __start__([<p>__start__</p>]):::first\n";
    assert!(text.contains(tabs), "{text}");
    assert!(
        text.ends_with("    /// ```\n    /// <!-- /graph:agent -->\n    fn run() {}\n}\n"),
        "{text}"
    );
    assert!(file.check(&small()).is_err());
}

#[test]
fn j13_the_block_says_in_which_form_a_picture_is_drawn() {
    let file = File::new(
        "forms.md",
        "<!-- graph:agent -->\r\n\r\n```dot\r\nold\r\n```\r\n<!-- /graph:agent -->\r\n",
    );
    file.bless(&small()).expect("a written picture");
    let text = file.text();
    assert!(text.contains("```dot\r\ndigraph \"\" {\r\n"), "{text:?}");
    assert!(!text.replace("\r\n", "").contains('\n'), "{text:?}");

    let rust = File::new(
        "rust.md",
        "<!-- graph:agent -->\n```rust\n```\n<!-- /graph:agent -->\n",
    );
    let message = rust.check(&small()).expect_err("no such form").to_string();
    assert!(
        message.contains("line 2: cannot draw the graph `agent` as `rust`"),
        "{message}"
    );
}

#[test]
fn j13_a_name_with_backticks_does_not_end_the_block() {
    let file = File::new(
        "ticks.md",
        "<!-- graph:agent -->\n<!-- /graph:agent -->\nafter\n",
    );
    let ticks = graph(["```"]).edges([(START, "```")]).0;
    file.bless(&ticks).expect("a written picture");
    assert!(file.text().contains("````mermaid\n"), "{}", file.text());
    file.check(&ticks).expect("a true picture");
}

#[test]
fn j13_a_file_without_a_place_for_the_picture_is_an_error() {
    let none = File::new("none.md", "<!-- graph:other -->\n<!-- /graph:other -->\n");
    let message = none.bless(&small()).expect_err("no place").to_string();
    assert!(
        message.contains("expected a line `<!-- graph:agent -->`"),
        "{message}"
    );

    let open = File::new("open.md", "\n<!-- graph:agent -->\ntext\n");
    let message = open.bless(&small()).expect_err("no end").to_string();
    assert!(
        message.contains("line 2: the place of the picture `agent` has no end"),
        "{message}"
    );
    assert_eq!(open.text(), "\n<!-- graph:agent -->\ntext\n");

    let missing = check_file(Path::new("no/such/file"), "agent", &small().draw(), true);
    assert!(
        missing
            .expect_err("no file")
            .to_string()
            .starts_with("cannot read `no/such/file`: ")
    );
}
