//! Finds the questions about the time: `what time is it?`, `现在几点了？`.

use super::token::{Kind, Token, has_word, word_at};
use serde_json::{Value, json};

/// A question about the time or the date.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TimeQuestion {
    pub(super) utc: bool,
    /// The time of another place is wanted, which the clock does not know.
    pub(super) elsewhere: bool,
    /// The token that asked for it.
    pub(super) at: usize,
}

impl TimeQuestion {
    /// The arguments of the clock tool.
    pub(super) fn arguments(&self) -> Value {
        if self.utc {
            json!({ "zone": "utc" })
        } else {
            json!({})
        }
    }
}

/// The question about the time in `tokens`; one is enough.
pub(super) fn time_question(tokens: &[Token]) -> Option<TimeQuestion> {
    const ZONES: &[&str] = &["utc", "gmt"];
    let at = (0..tokens.len()).find(|at| asks_at(tokens, *at))?;
    let utc = has_word(tokens, ZONES);
    let elsewhere = !utc && is_elsewhere(tokens, at);
    Some(TimeQuestion { utc, elsewhere, at })
}

fn asks_at(tokens: &[Token], at: usize) -> bool {
    const CHINESE: &[&str] = &[
        "几点",
        "时间",
        "日期",
        "几号",
        "几月",
        "星期几",
        "礼拜几",
        "周几",
    ];
    const TIME: &[&str] = &["time", "date", "day", "hour", "weekday"];
    /// What may follow `the time`, where `the time complexity` is something else.
    const AFTER: &[&str] = &[
        "now",
        "is",
        "it",
        "in",
        "please",
        "right",
        "and",
        "utc",
        "here",
        "today",
        "at",
        "by",
        "currently",
        "of",
    ];
    if word_at(tokens, at, CHINESE) || word_at(tokens, at, &["today's"]) {
        return true;
    }
    if !word_at(tokens, at, TIME) {
        return false;
    }
    let before = |words: &[&str]| at > 0 && word_at(tokens, at - 1, words);
    let ends = match tokens.get(at + 1) {
        None => true,
        Some(token) => {
            token.kind == Kind::Stop || token.kind == Kind::Comma || token.is_word_in(AFTER)
        }
    };
    if word_at(tokens, at + 1, &["of"]) {
        // `the time of day`
        return before(&["the"]) && word_at(tokens, at + 2, &["day"]);
    }
    let asked = has_word(
        tokens.get(..at).unwrap_or_default(),
        &[
            "what", "what's", "whats", "tell", "give", "show", "know", "have", "got", "check",
        ],
    );
    (before(&["what", "which", "current", "local", "utc"]) && ends)
        || (before(&["the"]) && ends && asked)
        || (word_at(tokens, at + 1, &["now", "please"]) && at == 0)
        || (tokens.len() <= 2 && word_at(tokens, at, &["time", "date"]))
}

fn is_elsewhere(tokens: &[Token], at: usize) -> bool {
    let Some(place) = (at..tokens.len().min(at + 6))
        .find(|at| word_at(tokens, *at, &["in"]))
        .and_then(|at| tokens.get(at + 1))
    else {
        return false;
    };
    let is_name = place.text.starts_with(|c: char| c.is_uppercase());
    is_name && place.name().is_some()
}

#[cfg(test)]
mod tests {
    use super::super::lexer::tokens;
    use super::*;

    #[test]
    fn reads_questions_about_the_time() {
        for question in [
            "What time is it?",
            "what's the time",
            "tell me the time please",
            "Do you know what time it is?",
            "current time",
            "the current date, please",
            "what is today's date?",
            "what day is it today?",
            "what day of the week is it? And what time is it?",
            "time?",
            "What is 2 + 2 and what time is it now?",
            "现在几点了？",
            "现在是什么时间",
            "今天几号",
            "今天星期几？",
        ] {
            assert!(time_question(&tokens(question)).is_some(), "{question}");
        }
    }

    #[test]
    fn other_times_are_not_the_time() {
        for question in [
            "what is the time complexity of quicksort?",
            "3 times 4",
            "how many times did it rain",
            "it was a long day",
            "what is the time limit",
            "have a nice day",
        ] {
            assert_eq!(time_question(&tokens(question)), None, "{question}");
        }
    }

    #[test]
    fn knows_the_zones_it_was_asked_for() {
        let read = |question: &str| time_question(&tokens(question)).unwrap();
        assert!(read("What time is it in UTC?").utc);
        assert!(!read("What time is it?").utc);
        assert!(read("What time is it in Tokyo?").elsewhere);
        assert!(!read("What time is it in UTC?").elsewhere);
    }
}
