//! A question reader: the "language model" of the examples.
//!
//! It reads a question in English or Chinese by rules, decides which of the offered tools answer
//! it ([`plan`]), and puts the tools' results into a sentence ([`answer`]). It knows nothing by
//! itself: every number in an answer comes from a result.

mod arithmetic;
mod compose;
mod counted;
mod expression;
mod file_types;
mod files;
mod folders;
mod grammar;
mod lexer;
mod numbers;
mod small_talk;
mod time;
mod token;

use arithmetic::{Calculation, calculations};
use counted::{filled, has_blanks, with_blanks};
use files::{FileQuestion, file_questions};
use serde_json::{Value, json};
use small_talk::{Language, greets};
use time::{TimeQuestion, time_question};
use token::Token;

/// The tool that works out an `expression`.
pub const CALCULATE: &str = "calculate";
/// The tool that returns the time, in the `zone` `local` or `utc`.
pub const GET_CURRENT_TIME: &str = "get_current_time";
/// The tool that finds the files with an `extension`, or whose name matches a `pattern`, below a
/// `folder`; it answers with JSON: `{"count": 2, "files": ["a.rs", "b.rs"]}`.
pub const FIND_FILES: &str = "find_files";

/// A question longer than this is cut.
const MAX_CHARS: usize = 20_000;

/// What to do about a question: either calls, or a reply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The tools to call, side by side.
    pub calls: Vec<PlannedCall>,
    /// What to say at once, when there is nothing to call.
    pub reply: Option<String>,
}

/// A tool to call.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCall {
    /// Its name.
    pub tool: String,
    /// Its arguments, a JSON object.
    pub arguments: Value,
}

/// What a tool said.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The tool that was called.
    pub tool: String,
    /// The arguments that it was called with.
    pub arguments: Value,
    /// Its answer, or its error.
    pub content: String,
    /// Whether the call failed.
    pub is_error: bool,
}

/// One thing that a question asks for.
#[derive(Clone, Debug)]
enum Task {
    Arithmetic(Calculation),
    Time(TimeQuestion),
    Files(FileQuestion),
}

impl Task {
    fn tool(&self) -> &'static str {
        match self {
            Task::Arithmetic(_) => CALCULATE,
            Task::Time(_) => GET_CURRENT_TIME,
            Task::Files(_) => FIND_FILES,
        }
    }

    fn arguments(&self) -> Value {
        match self {
            Task::Arithmetic(calculation) => json!({ "expression": calculation.expression }),
            Task::Time(question) => question.arguments(),
            Task::Files(question) => question.arguments(),
        }
    }

    fn at(&self) -> usize {
        match self {
            Task::Arithmetic(calculation) => calculation.tokens.start,
            Task::Time(question) => question.at,
            Task::Files(question) => question.at,
        }
    }

    fn is_answered_by(&self, result: &ToolResult) -> bool {
        self.tool() == result.tool && self.arguments() == result.arguments
    }

    /// Whether it can be done now, or needs the result of another task first.
    fn is_ready(&self) -> bool {
        !matches!(self, Task::Arithmetic(calculation) if has_blanks(&calculation.expression))
    }
}

/// Decides which of `tools` to call for a question, or what to reply without any.
///
/// ```
/// use langgraph_examples::reader::{CALCULATE, FIND_FILES, plan};
///
/// let question = "What is 37 * 21, and how many .rs files are in this folder?";
/// let plan = plan(question, &[CALCULATE, FIND_FILES]);
/// assert_eq!(plan.calls[0].arguments["expression"], "37 * 21");
/// assert_eq!(plan.calls[1].arguments["extension"], "rs");
/// ```
pub fn plan(question: &str, tools: &[&str]) -> Plan {
    next(question, tools, &[])
}

/// Decides what to do when the tools have said `results`: usually to reply with the [`answer`];
/// a calculation with a number that had to be found first is called now.
///
/// ```
/// use langgraph_examples::reader::{CALCULATE, FIND_FILES, ToolResult, next, plan};
///
/// let question = "What is twice the number of .rs files?";
/// let tools = [CALCULATE, FIND_FILES];
/// let call = plan(question, &tools).calls.remove(0);
/// let found = ToolResult {
///     tool: call.tool,
///     arguments: call.arguments,
///     content: r#"{"count": 21}"#.into(),
///     is_error: false,
/// };
/// assert_eq!(next(question, &tools, &[found]).calls[0].arguments["expression"], "21 * 2");
/// ```
pub fn next(question: &str, tools: &[&str], results: &[ToolResult]) -> Plan {
    let (tokens, language) = read(question);
    let tasks = tasks(&tokens, results);
    let calls: Vec<PlannedCall> = tasks
        .iter()
        .filter(|task| task.is_ready() && tools.contains(&task.tool()))
        .filter(|task| !results.iter().any(|result| task.is_answered_by(result)))
        .map(|task| PlannedCall {
            tool: task.tool().to_owned(),
            arguments: task.arguments(),
        })
        .collect();
    let reply = calls.is_empty().then(|| {
        if tasks.is_empty() && results.is_empty() {
            small_talk::reply(&tokens, language, tools)
        } else {
            compose::compose(greets(&tokens), language, &tasks, results)
        }
    });
    Plan { calls, reply }
}

/// The answer to a question, from what the tools said.
pub fn answer(question: &str, results: &[ToolResult]) -> String {
    let (tokens, language) = read(question);
    let tasks = tasks(&tokens, results);
    compose::compose(greets(&tokens), language, &tasks, results)
}

fn read(question: &str) -> (Vec<Token>, Language) {
    let question: String = question.chars().take(MAX_CHARS).collect();
    (lexer::tokens(&question), Language::of(&question))
}

/// What the question asks for, in its order.
fn tasks(tokens: &[Token], results: &[ToolResult]) -> Vec<Task> {
    let questions = file_questions(tokens);
    let tokens_with_blanks = with_blanks(tokens, &questions);
    let mut tasks: Vec<Task> = Vec::new();
    for mut calculation in calculations(&tokens_with_blanks) {
        if has_blanks(&calculation.expression) {
            // It comes after the searches that it needs.
            calculation.tokens = tokens.len()..tokens.len();
            calculation.expression = filled(&calculation.expression, &questions, results);
        }
        tasks.push(Task::Arithmetic(calculation));
    }
    tasks.extend(time_question(tokens).map(Task::Time));
    tasks.extend(questions.into_iter().map(Task::Files));
    tasks.sort_by_key(Task::at);
    let mut seen = Vec::new();
    tasks.retain(|task| {
        let call = (task.tool(), task.arguments());
        let is_new = !seen.contains(&call);
        seen.push(call);
        is_new
    });
    tasks
}
