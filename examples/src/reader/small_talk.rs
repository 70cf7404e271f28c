//! What to say to a question that needs no tool, or that no tool answers.

use super::lexer::is_chinese;
use super::token::{Token, has_phrase, has_word};
use super::{CALCULATE, FIND_FILES, GET_CURRENT_TIME};

/// The language to answer in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Chinese,
}

impl Language {
    pub(super) fn of(question: &str) -> Self {
        if question.contains(is_chinese) {
            Language::Chinese
        } else {
            Language::English
        }
    }

    /// The text in this language.
    pub(super) fn pick<'a>(self, english: &'a str, chinese: &'a str) -> &'a str {
        match self {
            Language::English => english,
            Language::Chinese => chinese,
        }
    }
}

/// What the user is saying.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Topic {
    Abilities,
    Identity,
    HowAreYou,
    Thanks,
    Farewell,
    Greeting,
    Nothing,
    Unknown,
}

fn topic(tokens: &[Token]) -> Topic {
    let phrase = |phrases: &[&[&str]]| phrases.iter().any(|phrase| has_phrase(tokens, phrase));
    let word = |words: &[&str]| has_word(tokens, words);
    if tokens.is_empty() {
        Topic::Nothing
    } else if word(&["help", "帮助", "做什么", "干什么"])
        || phrase(&[
            &["can", "you", "do"],
            &["do", "you", "do"],
            &["are", "you", "able"],
        ])
        || phrase(&[
            &["your", "tools"],
            &["your", "abilities"],
            &["you", "capable"],
        ])
    {
        Topic::Abilities
    } else if word(&["你是谁", "名字"])
        || phrase(&[
            &["who", "are", "you"],
            &["what", "are", "you"],
            &["your", "name"],
        ])
        || phrase(&[&["are", "you", "a"], &["are", "you", "an"]])
    {
        Topic::Identity
    } else if word(&["你好吗"]) || phrase(&[&["how", "are", "you"], &["how's", "it", "going"]]) {
        Topic::HowAreYou
    } else if word(&["thanks", "thank", "thx", "谢谢", "多谢", "感谢"]) {
        Topic::Thanks
    } else if word(&["bye", "goodbye", "再见", "拜拜"]) || phrase(&[&["see", "you"]]) {
        Topic::Farewell
    } else if greets(tokens) {
        Topic::Greeting
    } else {
        Topic::Unknown
    }
}

/// Whether a greeting occurs, also beside a question.
pub(super) fn greets(tokens: &[Token]) -> bool {
    const GREETINGS: &[&str] = &[
        "hello",
        "hi",
        "hey",
        "greetings",
        "你好",
        "您好",
        "大家好",
        "早上好",
        "下午好",
        "晚上好",
    ];
    has_word(tokens, GREETINGS)
        || ["morning", "afternoon", "evening"]
            .iter()
            .any(|time| has_phrase(tokens, &["good", time]))
}

/// A reply that needs no tool.
pub(super) fn reply(tokens: &[Token], language: Language, tools: &[&str]) -> String {
    let opening = match topic(tokens) {
        Topic::Abilities => "",
        Topic::Identity => language.pick(
            "I am a small rule-based model, made for trying out graphs.",
            "我是一个基于规则的小模型，用来演示图的运行。",
        ),
        Topic::HowAreYou => language.pick("I am fine, thank you.", "我很好，谢谢！"),
        Topic::Thanks => return language.pick("You are welcome!", "不客气！").to_owned(),
        Topic::Farewell => return language.pick("Goodbye!", "再见！").to_owned(),
        Topic::Greeting => language.pick("Hello!", "你好！"),
        Topic::Nothing => language.pick("Ask me something.", "请问我一个问题。"),
        Topic::Unknown => {
            language.pick("I do not know anything about that.", "这个问题我回答不了。")
        }
    };
    let abilities = abilities(language, tools);
    match language {
        Language::English if !opening.is_empty() => format!("{opening} {abilities}"),
        _ => format!("{opening}{abilities}"),
    }
}

/// What the offered tools make possible.
fn abilities(language: Language, tools: &[&str]) -> String {
    let known = [
        (
            CALCULATE,
            "do arithmetic (\"what is 37 * 21?\")",
            "做算术（“计算 37 * 21”）",
        ),
        (
            GET_CURRENT_TIME,
            "tell the time (\"what time is it?\")",
            "报时（“现在几点了？”）",
        ),
        (
            FIND_FILES,
            "count and list files (\"how many .rs files are in ./src?\")",
            "查找文件（“当前目录下有多少个 .rs 文件？”）",
        ),
    ];
    let offered: Vec<&str> = known
        .iter()
        .filter(|(tool, ..)| tools.contains(tool))
        .map(|(_, english, chinese)| language.pick(english, chinese))
        .collect();
    match (language, offered.as_slice()) {
        (Language::English, []) => "I have no tools here, so I can only chat a little.".to_owned(),
        (Language::Chinese, []) => "我这里没有工具，只能简单聊聊。".to_owned(),
        (Language::English, offered) => format!("I can {}.", listed(offered)),
        (Language::Chinese, offered) => format!("我可以{}。", offered.join("、")),
    }
}

/// `a, b, and c`.
pub(super) fn listed(parts: &[impl AsRef<str>]) -> String {
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    match parts.as_slice() {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first, second] => format!("{first} and {second}"),
        [start @ .., last] => format!("{}, and {last}", start.join(", ")),
    }
}
