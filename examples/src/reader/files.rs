//! Finds the questions about files: `how many .rs files are in ./src?`.

use super::file_types::{dotted, extensions, is_file_name};
use super::folders::{FOLDER, HERE, clean_folder, folders};
use super::token::{Kind, Token, has_phrase, has_word, phrase_at, word_at};
use super::{FIND_FILES, ToolResult};
use serde_json::{Value, json};
use std::ops::Range;

/// Which files are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Any,
    Extension(String),
    Name(String),
}

/// A search that a question asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileQuestion {
    pub(super) wanted: Wanted,
    pub(super) folder: String,
    /// Whether the names are wanted, and not only their number.
    pub(super) lists: bool,
    /// The token that asked for it.
    pub(super) at: usize,
}

impl FileQuestion {
    /// Whether `result` is that of this search.
    pub(super) fn is_answered_by(&self, result: &ToolResult) -> bool {
        result.tool == FIND_FILES && result.arguments == self.arguments()
    }

    /// The arguments of the search tool.
    pub(super) fn arguments(&self) -> Value {
        match &self.wanted {
            Wanted::Any => json!({ "folder": self.folder }),
            Wanted::Extension(extension) => {
                json!({ "extension": extension, "folder": self.folder })
            }
            Wanted::Name(pattern) => json!({ "pattern": pattern, "folder": self.folder }),
        }
    }
}

pub(super) const FILE: &[&str] = &["file", "files", "documents", "scripts", "sources", "文件"];
const LIST: &[&str] = &["list", "show", "which", "name", "列出", "显示", "哪些"];
const COUNT: &[&str] = &["count", "number", "多少", "几个", "统计", "数"];
const FIND: &[&str] = &[
    "find", "search", "locate", "where", "where's", "look", "any", "have", "exist", "exists",
    "查找", "搜索", "找", "有",
];
/// What the search can not do with files.
const OTHER_VERBS: &[&str] = &[
    "delete",
    "remove",
    "open",
    "read",
    "edit",
    "write",
    "create",
    "rename",
    "move",
    "copy",
    "compile",
    "fix",
    "format",
    "print",
    "run",
    "summarize",
    "summarise",
    "explain",
    "删除",
    "打开",
];
/// Countable things that are not files.
const OTHER_THINGS: &[&str] = &[
    "lines",
    "words",
    "bytes",
    "characters",
    "functions",
    "structs",
    "tests",
    "folders",
    "directories",
    "commits",
    "people",
    "times",
    "types",
    "kinds",
    "行代码",
];

/// Every file search that `tokens` asks for, in order.
pub(super) fn file_questions(tokens: &[Token]) -> Vec<FileQuestion> {
    let mut found: Vec<FileQuestion> = Vec::new();
    let mut carried: Vec<String> = Vec::new();
    for segment in segments(tokens) {
        let part = tokens.get(segment.clone()).unwrap_or_default();
        let mentions = mentions(part);
        let mut folders = folders(part);
        if mentions.is_empty() {
            // `In ./src, how many …`
            carried = folders;
            continue;
        }
        if folders.is_empty() {
            folders = std::mem::take(&mut carried);
        }
        if folders.is_empty() {
            folders.push(".".to_owned());
        }
        let lists =
            has_word(part, LIST) && !has_word(part, COUNT) && !has_phrase(part, &["how", "many"])
                || has_phrase(part, &["what", "files"]);
        for mention in mentions {
            let chosen = match mention.folder {
                Some(folder) => vec![folder],
                None => folders.clone(),
            };
            for folder in chosen {
                let question = FileQuestion {
                    wanted: mention.wanted.clone(),
                    folder,
                    lists,
                    at: segment.start + mention.at,
                };
                let is_new = found
                    .iter()
                    .all(|other| other.arguments() != question.arguments());
                if is_new {
                    found.push(question);
                }
            }
        }
    }
    found
}

/// The parts of a question that each ask one thing.
fn segments(tokens: &[Token]) -> Vec<Range<usize>> {
    const STARTERS: &[&str] = &[
        "how",
        "what",
        "what's",
        "which",
        "where",
        "count",
        "list",
        "show",
        "find",
        "tell",
        "compute",
        "calculate",
        "还有",
        "以及",
        "并且",
        "然后",
        "计算",
    ];
    let mut segments = Vec::new();
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        let stops = token.kind == Kind::Stop;
        if stops || token.is_word_in(STARTERS) {
            segments.push(start..at);
            start = at + usize::from(stops);
        }
    }
    segments.push(start..tokens.len());
    segments.retain(|segment| !segment.is_empty());
    segments
}

/// Files named in a part of a question.
struct Mention {
    wanted: Wanted,
    /// Given in one word with the files: `src/*.rs`.
    folder: Option<String>,
    at: usize,
}

fn mentions(part: &[Token]) -> Vec<Mention> {
    let asks = has_word(part, LIST)
        || has_word(part, COUNT)
        || has_word(part, FIND)
        || has_phrase(part, &["how", "many"])
        || has_phrase(part, &["what", "files"])
        || has_phrase(part, &["is", "there"])
        || has_phrase(part, &["are", "there"]);
    let mut found: Vec<Mention> = Vec::new();
    for at in 0..part.len() {
        found.extend(mentions_at(part, at, asks));
    }
    let other_thing = part.iter().enumerate().any(|(at, token)| {
        token.is_word_in(OTHER_THINGS)
            && (phrase_at(part, at.wrapping_sub(2), &["how", "many"])
                || word_at(part, at.wrapping_sub(1), &["count", "of"])
                || token.text == "行代码")
    });
    let other_verb = found
        .first()
        .is_some_and(|mention| has_word(part.get(..mention.at).unwrap_or_default(), OTHER_VERBS));
    if other_thing || other_verb {
        return Vec::new();
    }
    if let (true, Some(at)) = (
        found.is_empty() && asks,
        part.iter()
            .position(|token| token.is_word_in(&["file", "files", "文件"])),
    ) {
        found.push(Mention {
            wanted: Wanted::Any,
            folder: None,
            at,
        });
    }
    found
}

fn mentions_at(part: &[Token], at: usize, asks: bool) -> Vec<Mention> {
    let mention = |wanted: Wanted, folder: Option<String>| Mention { wanted, folder, at };
    let Some(token) = part.get(at) else {
        return Vec::new();
    };
    let Some(name) = token.name() else {
        return Vec::new();
    };
    if let Some(spec) = named_by_rule(part, at) {
        return spec
            .into_iter()
            .map(|wanted| mention(wanted, None))
            .collect();
    }
    let after_in = at > 0 && word_at(part, at - 1, &["in", "under", "inside", "within", "from"]);
    if let Some(extension) = dotted(name)
        && (!after_in || word_at(part, at + 1, FILE))
    {
        return vec![mention(Wanted::Extension(extension.to_lowercase()), None)];
    }
    if name.contains('*') {
        let (folder, pattern) = split_pattern(name);
        return vec![mention(pattern, folder)];
    }
    if let Some(types) = extensions(&name.to_lowercase())
        && (leads_to_files(part, at) || written_in(part, at))
    {
        return types
            .iter()
            .map(|extension| mention(Wanted::Extension((*extension).to_owned()), None))
            .collect();
    }
    if asks && !after_in && is_file_name(name) && token.kind != Kind::Quoted {
        let (folder, file) = match name.rsplit_once('/') {
            Some((folder, file)) => (Some(clean_folder(folder)), file),
            None => (None, name),
        };
        return vec![mention(Wanted::Name(file.to_owned()), folder)];
    }
    Vec::new()
}

/// `files ending in txt`, `files with the extension txt`, `files called notes`.
fn named_by_rule(part: &[Token], at: usize) -> Option<Vec<Wanted>> {
    const BY_EXTENSION: &[&[&str]] = &[
        &["ending", "in"],
        &["ending", "with"],
        &["ends", "in"],
        &["ends", "with"],
        &["end", "in"],
        &["end", "with"],
        &["the", "extension"],
        &["an", "extension"],
        &["with", "extension"],
        &["extension", "of"],
        &["file", "extension"],
        &["of", "type"],
    ];
    const BY_NAME: &[(&[&str], &str, &str)] = &[
        (&["named"], "", ""),
        (&["called"], "", ""),
        (&["matching"], "", ""),
        (&["starting", "with"], "", "*"),
        (&["beginning", "with"], "", "*"),
        (&["start", "with"], "", "*"),
        (&["starts", "with"], "", "*"),
        (&["begin", "with"], "", "*"),
        (&["name", "contains"], "*", "*"),
        (&["names", "contain"], "*", "*"),
        (&["name", "containing"], "*", "*"),
    ];
    let name = part.get(at)?.name()?;
    let follows = |phrase: &[&str]| {
        at.checked_sub(phrase.len())
            .is_some_and(|start| phrase_at(part, start, phrase))
    };
    let has_files = has_word(part, FILE);
    let by_extension = BY_EXTENSION.iter().any(|phrase| follows(phrase))
        || (word_at(part, at + 1, &["extension", "extensions"])
            && !HERE.contains(&name.to_lowercase().as_str())
            && !word_at(part, at, &["file", "an", "with", "of"]));
    if by_extension && has_files {
        let bare = name.trim_start_matches(['*', '.']).to_lowercase();
        let named = extensions(&bare).unwrap_or_default();
        return Some(if named.is_empty() {
            vec![Wanted::Extension(bare)]
        } else {
            named
                .iter()
                .map(|e| Wanted::Extension((*e).to_owned()))
                .collect()
        });
    }
    let (_, before, after) = BY_NAME.iter().find(|(phrase, ..)| follows(phrase))?;
    (has_files || is_file_name(name)).then_some(())?;
    // A folder can be called something too.
    let is_folder = at >= 2 && word_at(part, at - 2, FOLDER);
    (!is_folder).then(|| vec![Wanted::Name(format!("{before}{name}{after}"))])
}

/// Whether a noun for files follows, with nothing but other types in between: `toml and json
/// files`, `Rust source files`.
fn leads_to_files(part: &[Token], at: usize) -> bool {
    for token in part.iter().skip(at + 1) {
        let is_connector = token.kind == Kind::Comma
            || token.is_word_in(&[
                "and", "or", "source", "code", "config", "data", "和", "与", "或",
            ])
            || token.name().is_some_and(|name| {
                dotted(name).is_some() || extensions(&name.to_lowercase()).is_some()
            });
        if token.is_word_in(FILE) {
            return true;
        }
        if !is_connector {
            return false;
        }
    }
    false
}

/// `files written in Rust`.
pub(super) fn written_in(part: &[Token], at: usize) -> bool {
    at >= 2 && word_at(part, at - 1, &["in"]) && word_at(part, at - 2, &["written", "files"])
}

/// `src/**/*.rs` is all `.rs` files below `src`.
fn split_pattern(text: &str) -> (Option<String>, Wanted) {
    let (path, pattern) = text.rsplit_once('/').unwrap_or(("", text));
    let plain: Vec<&str> = path
        .split('/')
        .take_while(|part| !part.contains('*'))
        .collect();
    let folder = plain.join("/");
    let wanted = match pattern.strip_prefix("*.") {
        Some(extension) if extension.chars().all(|c| c.is_ascii_alphanumeric()) => {
            Wanted::Extension(extension.to_lowercase())
        }
        _ if pattern == "*" => Wanted::Any,
        _ => Wanted::Name(pattern.to_owned()),
    };
    ((!folder.is_empty()).then_some(folder), wanted)
}

#[cfg(test)]
mod tests {
    use super::super::lexer::tokens;
    use super::*;

    /// `rs@src` for an extension, `=Cargo.toml@.` for a name, `*@.` for all; `+` when listed.
    fn read(question: &str) -> String {
        file_questions(&tokens(question))
            .iter()
            .map(|question| {
                let wanted = match &question.wanted {
                    Wanted::Any => "*".to_owned(),
                    Wanted::Extension(extension) => extension.clone(),
                    Wanted::Name(name) => format!("={name}"),
                };
                let lists = if question.lists { "+" } else { "" };
                format!("{wanted}@{}{lists}", question.folder)
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn reads_types_in_many_phrasings() {
        for (question, expected) in [
            ("how many .rs files are in this folder?", "rs@."),
            ("how many .toml files", "toml@."),
            ("How many files have the extension .toml?", "toml@."),
            ("how many files with the extension toml are there", "toml@."),
            ("how many files with a toml extension?", "toml@."),
            ("count the markdown files", "md@."),
            ("Count all Markdown documents", "md@."),
            ("list all rust files", "rs@.+"),
            ("list the Rust source files here", "rs@.+"),
            ("files ending in .txt", "txt@."),
            ("how many files end with txt?", "txt@."),
            ("*.json", "json@."),
            ("how many *.json files do I have", "json@."),
            ("number of python scripts", "py@."),
            ("the number of .py files in here please", "py@."),
            ("how many files are written in Rust", "rs@."),
            ("how many yaml files", "yaml@. yml@."),
            ("how many .rs and .toml files are there?", "rs@. toml@."),
            ("count the toml, json and md files", "toml@. json@. md@."),
            ("how many foo.bar files .xyz", "=foo.bar@. xyz@."),
            ("are there any .lock files?", "lock@."),
            ("which files end in .md?", "md@.+"),
            ("what files are in this directory?", "*@.+"),
            ("how many files are there", "*@."),
            ("find Cargo.toml", "=Cargo.toml@."),
            ("where is main.rs?", "=main.rs@."),
            ("how many files are named Cargo.toml", "=Cargo.toml@."),
            ("count the files called notes", "=notes@."),
            ("how many files start with test_?", "=test_*@."),
            ("list files whose name contains agent", "=*agent*@.+"),
            ("how many files match test_*.rs", "=test_*.rs@."),
            ("how many C++ files", "cpp@."),
            ("当前目录下有多少个 .rs 文件？", "rs@."),
            ("有多少个.toml文件", "toml@."),
            ("列出所有 markdown 文件", "md@.+"),
            ("这个文件夹里有几个文件", "*@."),
        ] {
            assert_eq!(read(question), expected, "{question}");
        }
    }

    #[test]
    fn reads_folders_in_many_phrasings() {
        for (question, expected) in [
            ("how many .rs files are in ./src?", "rs@./src"),
            ("how many .rs files in src/", "rs@src"),
            ("how many .rs files are in src?", "rs@src"),
            ("how many .rs files are in the src folder?", "rs@src"),
            (
                "how many .rs files does the src directory contain?",
                "rs@src",
            ),
            (
                "how many .rs files are in the folder \"my docs\"?",
                "rs@my docs",
            ),
            ("how many .rs files are in `my docs`?", "rs@my docs"),
            (
                "how many .rs files are under langgraph/src",
                "rs@langgraph/src",
            ),
            ("how many .rs files are in /tmp/x.y/z?", "rs@/tmp/x.y/z"),
            ("In ./src, how many .rs files are there?", "rs@./src"),
            ("how many .rs files are in ..?", "rs@.."),
            ("how many .rs files are in the current directory?", "rs@."),
            ("how many .rs files are in total", "rs@."),
            ("how many files in this folder end with .rs?", "rs@."),
            (
                "how many files in this folder have a .rs extension?",
                "rs@.",
            ),
            ("how many .rs files are in the folder src?", "rs@src"),
            ("how many .rs files does the folder src contain?", "rs@src"),
            (
                "how many .rs files are in src and tests?",
                "rs@src rs@tests",
            ),
            (
                "how many .rs files are in src and how many .md files are in docs?",
                "rs@src md@docs",
            ),
            ("how many .yml files are in .github?", "yml@.github"),
            ("list src/**/*.rs", "rs@src+"),
            ("find src/main.rs", "=main.rs@src"),
            ("How many .rs files are in Docs?", "rs@Docs"),
            ("src 目录下有多少个 .rs 文件", "rs@src"),
            ("在 ./src 里有几个 rs 文件？", "rs@./src"),
            ("在src文件夹里，有多少个.rs文件", "rs@src"),
        ] {
            assert_eq!(read(question), expected, "{question}");
        }
    }

    #[test]
    fn other_questions_are_not_about_files() {
        for question in [
            "how many lines are in main.rs?",
            "delete all .rs files",
            "can you open Cargo.toml",
            "how many people live in Paris?",
            "What is rust?",
            "Go is a language",
            "what is 3 + 4",
            "你好",
            "删除所有 .rs 文件",
        ] {
            assert_eq!(read(question), "", "{question}");
        }
    }
}
