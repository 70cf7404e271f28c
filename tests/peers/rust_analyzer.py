#!/usr/bin/env python3
"""Asks rust-analyzer about every name in a graph: what it is, where it is defined, what renaming
it changes, and what it would complete.

    python3 tests/peers/rust_analyzer.py

Needs Python 3.9, a Rust toolchain, and rust-analyzer (`rustup component add rust-analyzer`). It
takes a minute or two, most of it to check the dependencies.
"""

import json
import os
import queue
import re
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
CRATE = TARGET / "peers" / "rust_analyzer"
# How long the server may take for its first answer.
PATIENCE = 600

# Every name has one definition; `GRAPH` is where the graph of a check stands.
PROGRAM = """//! A report, written by nodes.
use langgraph::prelude::*;

/// What has been written so far.
#[derive(State, Clone, Debug, Default)]
struct Report {
    /// What the report is about.
    topics: Vec<String>,
    #[reducer(append)]
    sections: Vec<String>,
}

/// Finds the topics.
#[node]
async fn plan(_: &Report) -> ReportUpdate {
    ReportUpdate::default().topics(vec!["cats".to_owned()])
}

/// Writes about one topic.
#[node]
async fn write(topic: String) -> ReportUpdate {
    ReportUpdate::default().sections(vec![topic])
}

/// Goes on without async.
#[node]
fn look(_: &Report) {}

mod desk {
    /// Reads it all again.
    #[langgraph::node]
    pub async fn proofread(_: &super::Report) {}
}

/// Decides for itself.
#[node]
async fn decide(_: &Report) -> Next {
    Next::End
}

/// Prints it.
#[node]
async fn publish(_: &Report) {}

/// What comes after the plan.
enum Route {
    /// Some topics are worth it.
    Some(Vec<String>),
    /// All are.
    All,
    /// There is nothing to say.
    Nothing,
}

/// Picks the route.
fn route(_: &Report) -> Route {
    Route::All
}

/// All the topics.
fn topics(report: &Report) -> Vec<String> {
    report.topics.clone()
}

/// Is it good?
fn good(report: &Report) -> bool {
    !report.sections.is_empty()
}

fn main() {
    let _ = GRAPH;
}
"""

GRAPH = """graph! {
        type State = Report;

        let check = publish.retry(3);

        START => plan => match route {
            Route::Some(chosen) if chosen.len() > 1 => for one in chosen { write(one) },
            Route::All => [look, desk::proofread],
            _ => END,
        };
        [look => first, desk::proofread] => decide => goto [plan, again, END];
        again => for each in topics { rewrite(each) } => check => if good { END } else { publish };
        write => publish => END;
        let first = look;
        let again = look;
        let rewrite = write;
    }"""

KEYWORDS = {"graph", "type", "State", "let", "match", "if", "else", "for", "in", "goto"}
# Where what is not of this program is defined, and what its documentation holds.
ELSEWHERE = {
    "START": ("pub const START", "every run starts from"),
    "END": ("pub const END", "ends a branch"),
    "retry": ("fn retry", ""),
    "len": ("fn len", ""),
}
# The first line of what a hover on a name of the program shows.
DOCS = {
    "plan": "Finds the topics.",
    "write": "Writes about one topic.",
    "look": "Goes on without async.",
    "proofread": "Reads it all again.",
    "decide": "Decides for itself.",
    "publish": "Prints it.",
    "Some": "Some topics are worth it.",
    "All": "All are.",
    "Route": "What comes after the plan.",
    "route": "Picks the route.",
    "topics": "All the topics.",
    "good": "Is it good?",
    "Report": "What has been written so far.",
}


class Server:
    """rust-analyzer, spoken to over its standard input and output."""

    def __init__(self, command):
        env = dict(os.environ, CARGO_TARGET_DIR=str(TARGET / "peers" / "rust_analyzer_target"))
        self.process = subprocess.Popen(
            command, cwd=CRATE, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.messages, self.last, self.version, self.complaint = queue.Queue(), 0, 0, None
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            length = 0
            while line := self.process.stdout.readline().strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
            if not length:
                return
            self.messages.put(json.loads(self.process.stdout.read(length)))

    def send(self, **message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def ask(self, method, **params):
        self.last += 1
        number = self.last
        self.send(id=number, method=method, params=params)
        answer = self.until(lambda message: message.get("id") == number and "method" not in message)
        if "error" in answer:
            # The file has changed meanwhile, or is not read yet.
            if answer["error"]["code"] in (-32801, -32802):
                return self.ask(method, **params)
            self.complaint = answer["error"]["message"]
            return None
        return answer["result"]

    def until(self, wanted):
        while True:
            message = self.messages.get(timeout=PATIENCE)
            if wanted(message):
                return message
            if "id" in message and "method" in message:
                # Questions of the server's: it is told nothing.
                items = message.get("params", {}).get("items", [])
                self.send(id=message["id"], result=[None] * len(items) if items else None)

    def start(self):
        options = {
            "checkOnSave": False,
            "cachePriming": {"enable": False},
            "cargo": {"targetDir": None},
            "procMacro": {"enable": True},
        }
        self.ask(
            "initialize",
            processId=os.getpid(),
            rootUri=CRATE.as_uri(),
            initializationOptions=options,
            capabilities={
                "experimental": {"serverStatusNotification": True},
                "workspace": {"workspaceEdit": {"documentChanges": False}},
                "textDocument": {"hover": {"contentFormat": ["markdown"]}},
            },
        )
        self.send(method="initialized", params={})

    def ready(self):
        """Waits until everything is read, macros included."""
        status = self.until(
            lambda message: message.get("method") == "experimental/serverStatus"
            and message["params"]["quiescent"]
        )
        return status["params"]

    def show(self, text):
        """Opens the file, or changes it."""
        uri = (CRATE / "src" / "main.rs").as_uri()
        self.version += 1
        if self.version == 1:
            document = {"uri": uri, "languageId": "rust", "version": 1, "text": text}
            self.send(method="textDocument/didOpen", params={"textDocument": document})
        else:
            document = {"uri": uri, "version": self.version}
            changes = [{"text": text}]
            self.send(
                method="textDocument/didChange",
                params={"textDocument": document, "contentChanges": changes},
            )
        self.document = {"uri": uri}

    def at(self, method, position, **params):
        line, character = position
        where = {"line": line, "character": character}
        return self.ask(method, textDocument=self.document, position=where, **params)

    def hover(self, position):
        answer = self.at("textDocument/hover", position)
        return answer["contents"]["value"] if answer else ""

    def definitions(self, position):
        """The files and lines where a name is defined."""
        answer = self.at("textDocument/definition", position) or []
        answer = answer if isinstance(answer, list) else [answer]
        found = set()
        for place in answer:
            uri = place.get("uri") or place["targetUri"]
            start = (place.get("range") or place["targetSelectionRange"])["start"]
            found.add((uri, start["line"]))
        return found


def names(text):
    """Every name of the graph in `text`, with its place."""
    begin = text.index("graph! {")
    # The graph ends where its line's brace does.
    end = text.index("\n    }", begin)
    for found in re.finditer(r"[A-Za-z_]\w*", text[begin:end]):
        if found.group() not in KEYWORDS and found.group() != "_":
            yield found.group(), position(text, begin + found.start())


def position(text, offset):
    before = text[:offset]
    return before.count("\n"), offset - (before.rfind("\n") + 1)


def line_of(text, name):
    """The line on which a name of the program is defined."""
    lines = text.split("\n")
    patterns = [
        rf"(fn|mod|enum|struct|let) {name}\b",  # an item, or a `let`
        rf"^    {name}(\(.*\))?,$",  # a variant
        rf"for {name} in|\({name}\) if",  # a pattern in the graph
    ]
    for pattern in patterns:
        found = [number for number, line in enumerate(lines) if re.search(pattern, line)]
        if found:
            return found[0]
    raise AssertionError(name)


class Tally:
    def __init__(self):
        self.counts, self.failures = {}, 0

    def note(self, kind, good, detail):
        right, all_ = self.counts.get(kind, (0, 0))
        self.counts[kind] = (right + bool(good), all_ + 1)
        if not good:
            self.failures += 1
            print(f"FAILED {kind}: {detail:.400}")

    def report(self):
        for kind, (right, all_) in self.counts.items():
            print(f"{'ok    ' if right == all_ else 'FAILED'} {kind}: {right} of {all_}")


def check_names(server, text, tally):
    uri = server.document["uri"]
    for name, place in names(text):
        where = f"`{name}` in line {place[0] + 1}, column {place[1] + 1}"
        found = server.definitions(place)
        if name in ELSEWHERE:
            wanted, docs = ELSEWHERE[name]
            lines = [Path(file[len("file://") :]).read_text().split("\n")[line] for file, line in found]
            tally.note("go to definition", any(wanted in line for line in lines), f"{where}: {lines}")
        else:
            docs = DOCS.get(name, "")
            tally.note("go to definition", found == {(uri, line_of(text, name))}, f"{where}: {found}")
        hover = server.hover(place)
        tally.note("hover", hover and docs in hover, f"{where}: {hover!r}")


def check_rename(server, text, tally):
    lines = text.split("\n")
    known = {name for name, _ in names(text)} - set(ELSEWHERE) - {"desk", "Report"}
    for name in sorted(known):
        mentions = {place for word, place in names(text) if word == name}
        definition = line_of(text, name)
        defined = {(definition, at.start()) for at in re.finditer(rf"\b{name}\b", lines[definition])}
        for place in sorted(mentions):
            edit = server.at("textDocument/rename", place, newName="renamed") or {}
            edits = edits_of(edit)
            whole = all(lines[line][start:end] == name for line, start, end in edits)
            changed = {(line, start) for line, start, _ in edits}
            detail = f"`{name}` at {place}: changes {sorted(changed)}, {server.complaint}"
            tally.note("rename", mentions | defined <= changed and whole, detail)


def edits_of(edit):
    """The places that a rename changes: line, start and end."""
    changes = [change["edits"] for change in edit.get("documentChanges", []) if "edits" in change]
    ranges = [change["range"] for edits in [*changes, *edit.get("changes", {}).values()] for change in edits]
    return {(at["start"]["line"], at["start"]["character"], at["end"]["character"]) for at in ranges}


def check_completion(server, tally):
    """`^` is where a user has stopped to write."""
    halves = {
        "graph! { START => pl^ }": "plan",
        "graph! { START => ^ }": "plan",
        "graph! { START => plan => ^ }": "publish",
        "graph! { START => plan => [look, pub^] }": "publish",
        "graph! { START => plan => [look => ^": "publish",
        "graph! { START => plan => match rou^ }": "route",
        "graph! { START => plan => match route { Route::^ } }": "Nothing",
        "graph! { START => plan => match route { Route::All => pub^ } }": "publish",
        "graph! { START => plan => match route { Route::All => publish => END, Route::N^ } }": "Nothing",
        "graph! { START => plan => for topic in top^ }": "topics",
        "graph! { START => plan => for topic in topics { wri^ } }": "write",
        "graph! { START => decide => goto [pl^] }": "plan",
        "graph! { START => plan => desk::^ }": "proofread",
        "graph! { let careful = plan.ret^; START => careful => END; }": "retry",
        "graph! { let careful = plan.^ START => careful => END; }": "retry",
        "graph! { type State = Rep^; START => plan => END; }": "Report",
        "graph! { START => plan => if go^ }": "good",
    }
    for half, wanted in halves.items():
        text = PROGRAM.replace("GRAPH", half)
        place = position(text, text.index("^"))
        server.show(text.replace("^", ""))
        answer = server.at("textDocument/completion", place, context={"triggerKind": 1})
        items = answer["items"] if isinstance(answer, dict) else answer or []
        labels = [re.match(r"\w+", item["label"]) for item in items]
        labels = {label.group() for label in labels if label}
        tally.note("completion", wanted in labels, f"`{half}`: {len(labels)} others")


def check_half_written(server, tally):
    """What stands before the place where the graph stops is still known."""
    for half in [
        "graph! {\n    START => plan => match route {\n        Route::All => look =>\n    }",
        "graph! {\n    START => plan => [look, desk::proofread =>\n    }",
        "graph! {\n    START => plan =>\n    }",
    ]:
        text = PROGRAM.replace("GRAPH", half)
        server.show(text)
        for name, place in names(text):
            docs = DOCS.get(name, "") if name not in ELSEWHERE else ELSEWHERE[name][1]
            hover = server.hover(place)
            tally.note("hover in half a graph", hover and docs in hover, f"`{name}` of `{half}`: {hover!r}")


def check_generated(server, text, tally):
    """Generated types and methods are documented by what they are made of."""
    for word, wanted in [("ReportUpdate::default", "An update of"), ("topics(vec!", "What the report is about.")]:
        hover = server.hover(position(text, text.index(word)))
        tally.note("docs of generated items", wanted in hover, f"`{word}`: {hover!r}")


def main():
    (CRATE / "src").mkdir(parents=True, exist_ok=True)
    manifest = f"""[package]
name = "report"
version = "0.0.0"
edition = "2024"

[dependencies]
langgraph = {{ path = "{ROOT / 'langgraph'}" }}

[workspace]
"""
    (CRATE / "Cargo.toml").write_text(manifest)
    (CRATE / "Cargo.lock").write_text((ROOT / "Cargo.lock").read_text())
    text = PROGRAM.replace("GRAPH", GRAPH)
    (CRATE / "src" / "main.rs").write_text(text)

    command = [os.environ.get("RUST_ANALYZER", "rust-analyzer")]
    print(subprocess.run([*command, "--version"], capture_output=True, text=True).stdout.strip())
    server = Server(command)
    try:
        server.start()
        server.show(text)
        status = server.ready()
        if status["health"] == "error":
            sys.exit(f"rust-analyzer: {status.get('message')}")
        tally = Tally()
        check_names(server, text, tally)
        check_rename(server, text, tally)
        check_generated(server, text, tally)
        check_half_written(server, tally)
        check_completion(server, tally)
        tally.report()
        sys.exit(tally.failures > 0)
    finally:
        server.process.kill()


if __name__ == "__main__":
    main()
