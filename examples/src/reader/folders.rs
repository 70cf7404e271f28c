//! Finds the folders in a part of a question: `in ./src`, `the folder "my docs"`, `src 目录下`.

use super::file_types::{dotted, extensions, is_file_name};
use super::files::{FILE, written_in};
use super::lexer::is_chinese;
use super::token::{Kind, Token, word_at};

pub(super) const FOLDER: &[&str] = &[
    "folder",
    "folders",
    "directory",
    "directories",
    "dir",
    "文件夹",
    "目录",
];
/// Words before `folder` that mean the one we are in.
pub(super) const HERE: &[&str] = &[
    "this", "the", "that", "my", "our", "your", "a", "current", "present", "working", "same",
    "whole", "entire", "top", "root", "project", "当前", "这个", "本", "此",
];
/// Words after `in` that name no folder.
const NO_FOLDER: &[&str] = &[
    "here",
    "there",
    "this",
    "that",
    "it",
    "them",
    "total",
    "all",
    "detail",
    "order",
    "short",
    "english",
    "chinese",
    "project",
    "repo",
    "repository",
    "workspace",
    "crate",
    "codebase",
    "tree",
    "general",
    "their",
    "name",
    "names",
    "which",
    "what",
    "each",
    "every",
    "any",
    "the",
    "my",
    "our",
    "your",
    "a",
    "an",
    "its",
    "root",
    "current",
    "now",
    "please",
    "and",
    "is",
    "are",
    "extension",
    "extensions",
    "form",
    "case",
    "way",
    "alphabetical",
    "also",
    "then",
    "too",
];

/// The folders that a part of a question names.
pub(super) fn folders(part: &[Token]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut at = 0;
    while at < part.len() {
        at = match folders_at(part, at) {
            Some((folders, next)) => {
                found.extend(folders.iter().map(|folder| clean_folder(folder)));
                next.max(at + 1)
            }
            None => at + 1,
        };
    }
    found.dedup();
    found
}

/// The folders spoken of at an index, none for the current one, and the index after them.
fn folders_at(part: &[Token], at: usize) -> Option<(Vec<String>, usize)> {
    let token = part.get(at)?;
    let name = token.name()?;
    if token.is_word_in(FOLDER) {
        // `the folder src`, `a directory called "my docs"`
        let called = word_at(part, at + 1, &["called", "named"]);
        let start = at + 1 + usize::from(called);
        let token = part.get(start)?;
        let folder = plain_folder(token)?;
        let says_so = called || token.kind == Kind::Quoted || is_path(&folder);
        // In `this folder have a .rs extension` the word after it is no name.
        let after_this = at > 0 && word_at(part, at - 1, &["this", "that"]);
        let ends = part.get(start + 1).is_none_or(|next| {
            next.kind == Kind::Comma
                || next.is_word_in(&[
                    "and", "or", "are", "is", "contain", "contains", "have", "has",
                ])
        });
        if !says_so && (after_this || !ends) {
            return None;
        }
        return Some((vec![folder], start + 1));
    }
    if word_at(part, at + 1, FOLDER) || word_at(part, at + 1, &["里", "下", "中", "里面", "下面"])
    {
        let is_here = HERE.contains(&name.to_lowercase().as_str()) || !is_latin(token);
        if is_here {
            // `the folder src`: the name may still come.
            return Some((Vec::new(), at + 1));
        }
        return Some((vec![name.to_owned()], at + 2));
    }
    if token.is_word_in(&[
        "in", "inside", "under", "within", "below", "from", "at", "of",
    ]) {
        return after_preposition(part, at);
    }
    let is_folder = is_path(name) && !name.contains('*') && !is_file_name(name);
    is_folder.then(|| (vec![name.to_owned()], at + 1))
}

/// `in src`, `in the docs`, `in src and tests`.
fn after_preposition(part: &[Token], at: usize) -> Option<(Vec<String>, usize)> {
    let determiner = usize::from(word_at(part, at + 1, &["the", "my", "our", "this"]));
    let start = at + 1 + determiner;
    let token = part.get(start)?;
    // `files ending in txt`
    let after_type = at > 0 && word_at(part, at - 1, &["ending", "end", "ends"]);
    // `in the docs folder` is read at `docs`.
    let read_later = token.is_word_in(FOLDER) || word_at(part, start + 1, FOLDER);
    let folder = plain_folder(token)?;
    // `the number of tests` is no path.
    let is_named = !word_at(part, at, &["of"]) || is_path(&folder);
    let is_type = extensions(&folder.to_lowercase()).is_some() && written_in(part, start);
    if after_type || read_later || !is_named || is_type || word_at(part, start + 1, FILE) {
        return None;
    }
    let mut folders = vec![folder];
    let mut next = start + 1;
    if word_at(part, next, &["and", "or"])
        && let Some(second) = part.get(next + 1)
        && part.len() == next + 2
        && let Some(folder) = plain_folder(second)
    {
        folders.push(folder);
        next += 2;
    }
    Some((folders, next))
}

fn is_latin(token: &Token) -> bool {
    token.kind == Kind::Quoted || !token.text.chars().any(is_chinese)
}

/// A name that can be that of a folder.
fn plain_folder(token: &Token) -> Option<String> {
    let name = token.name()?;
    let is_other_word = NO_FOLDER.contains(&name.to_lowercase().as_str())
        || token.is_word_in(FILE)
        || token.is_word_in(FOLDER)
        || !is_latin(token);
    let is_files = name.contains('*') || (is_file_name(name) && !is_path(name));
    let refused = token.kind != Kind::Quoted && (is_other_word || is_files);
    // `in .github` is a folder; `and .md` is not.
    let is_type = dotted(name).is_some_and(|extension| extensions(extension).is_some());
    (!refused && !is_type).then(|| name.to_owned())
}

fn is_path(text: &str) -> bool {
    text.contains(['/', '\\']) || matches!(text, "." | ".." | "~")
}

/// Without the slash at the end.
pub(super) fn clean_folder(folder: &str) -> String {
    let trimmed = folder.trim_end_matches('/');
    if trimmed.is_empty() { folder } else { trimmed }.to_owned()
}
