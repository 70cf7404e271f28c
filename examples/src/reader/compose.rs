//! Puts the results of tools into an answer.

use super::counted::count;
use super::files::{FileQuestion, Wanted};
use super::small_talk::{Language, listed};
use super::{Task, ToolResult};
use serde_json::Value;
use std::fmt::Write;

/// So many files are named in an answer; the rest is counted.
const MAX_LISTED: usize = 20;

/// The answer to what was asked, from what the tools said.
pub(super) fn compose(
    greets: bool,
    language: Language,
    tasks: &[Task],
    results: &[ToolResult],
) -> String {
    let mut clauses: Vec<String> = results
        .iter()
        .map(|result| {
            let task = tasks.iter().find(|task| task.is_answered_by(result));
            clause(language, task, result)
        })
        .collect();
    // A calculation that lacks a number is not worth a word: why it is missing has been said.
    for task in tasks.iter().filter(|task| task.is_ready()) {
        if !results.iter().any(|result| task.is_answered_by(result)) {
            clauses.push(unanswered(language, task));
        }
    }
    let mut answer = String::new();
    if greets {
        answer.push_str(language.pick("Hello! ", "你好！"));
    }
    // Short facts make one sentence; lists and troubles stand alone.
    let is_short = clauses
        .iter()
        .all(|clause| !clause.contains([':', '：']) && clause.len() < 200);
    answer.push_str(&match language {
        Language::Chinese => clauses.join("；") + "。",
        Language::English if is_short => capitalised(&joined(&clauses)) + ".",
        Language::English => {
            let sentences: Vec<String> = clauses
                .iter()
                .map(|clause| capitalised(clause) + ".")
                .collect();
            sentences.join(" ")
        }
    });
    answer
}

/// What to say about a task that no tool here can do.
pub(super) fn unanswered(language: Language, task: &Task) -> String {
    match task {
        Task::Arithmetic(_) => language.pick("I have no calculator here", "我这里没有计算器"),
        Task::Time(_) => language.pick("I have no clock here", "我这里没有时钟"),
        Task::Files(_) => language.pick("I can not look for files here", "我这里不能查找文件"),
    }
    .to_owned()
}

fn clause(language: Language, task: Option<&Task>, result: &ToolResult) -> String {
    let content = result.content.trim();
    if result.is_error {
        let what = match task {
            Some(Task::Arithmetic(calculation)) => calculation.expression.clone(),
            Some(Task::Time(_)) => language.pick("the time", "时间").to_owned(),
            Some(Task::Files(question)) => described(language, question),
            None => result.tool.clone(),
        };
        return match language {
            Language::English => format!("I could not find out {what}: {content}"),
            Language::Chinese => format!("{what} 没有结果：{content}"),
        };
    }
    match task {
        Some(Task::Arithmetic(calculation)) => format!("{} = {content}", calculation.expression),
        Some(Task::Time(question)) => {
            let time = match language {
                Language::English => format!("it is {content}"),
                Language::Chinese => format!("现在是 {content}"),
            };
            // An answer that names its zone is about that place.
            if question.elsewhere && !content.contains(" in ") {
                let note = language.pick(
                    " (I only know the local time and UTC)",
                    "（我只知道本地时间和 UTC）",
                );
                time + note
            } else {
                time
            }
        }
        Some(Task::Files(question)) => files(language, question, content),
        None => format!("{}: {content}", result.tool),
    }
}

fn files(language: Language, question: &FileQuestion, content: &str) -> String {
    let what = described(language, question);
    let Some(count) = count(content) else {
        return match language {
            Language::English => format!("about {what}, the search says: {content}"),
            Language::Chinese => format!("{what}：{content}"),
        };
    };
    let mut clause = match language {
        Language::English if count == 1 => {
            format!("there is 1 {}", what.replacen("files", "file", 1))
        }
        Language::English => format!("there are {count} {what}"),
        Language::Chinese => {
            let (place, kind) = what.split_once("里的").unwrap_or(("这个目录", &what));
            format!("{place}里有 {count} 个{kind}")
        }
    };
    let found: Value = serde_json::from_str(content).unwrap_or(Value::Null);
    let names: Vec<&str> = found
        .get("files")
        .and_then(Value::as_array)
        .map(|files| files.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    // A search for a name wants to know where; a count does not want the names.
    let wants_names = question.lists || matches!(question.wanted, Wanted::Name(_));
    if wants_names && !names.is_empty() {
        clause.push_str(language.pick(": ", "："));
        let shown: Vec<&str> = names.iter().copied().take(MAX_LISTED).collect();
        clause.push_str(&shown.join(language.pick(", ", "、")));
        let shown = u64::try_from(shown.len()).unwrap_or(u64::MAX);
        let more = count.saturating_sub(shown);
        if more > 0 {
            // Writing to a string can not fail.
            let _ = match language {
                Language::English => write!(clause, ", and {more} more"),
                Language::Chinese => write!(clause, " 等，还有 {more} 个"),
            };
        }
    }
    clause
}

/// `.rs files in src`.
fn described(language: Language, question: &FileQuestion) -> String {
    let folder = match question.folder.as_str() {
        "." => language.pick("this folder", "这个目录").to_owned(),
        folder if folder.contains(' ') => format!("\"{folder}\""),
        folder => folder.to_owned(),
    };
    match language {
        Language::English => {
            let kind = match &question.wanted {
                Wanted::Any => "files".to_owned(),
                Wanted::Extension(extension) => format!(".{extension} files"),
                Wanted::Name(name) if name.contains(['*', '?']) => format!("files matching {name}"),
                Wanted::Name(name) => format!("files named {name}"),
            };
            format!("{kind} in {folder}")
        }
        Language::Chinese => {
            let kind = match &question.wanted {
                Wanted::Any => "文件".to_owned(),
                Wanted::Extension(extension) => format!(" .{extension} 文件"),
                Wanted::Name(name) => format!("名为 {name} 的文件"),
            };
            format!("{folder}里的{kind}")
        }
    }
}

fn joined(clauses: &[String]) -> String {
    match clauses {
        // `a, and b`: two facts are two clauses, and take the comma.
        [first, second] => format!("{first}, and {second}"),
        clauses => listed(clauses),
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().collect::<String>() + chars.as_str(),
        None => String::new(),
    }
}
