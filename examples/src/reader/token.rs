//! The pieces of a question, and how to look for words among them.

/// What a piece of the question is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Digits, without thousands separators.
    Number(String),
    /// `10th`.
    Ordinal(String),
    /// One of `+ - * / % ^`.
    Operator(char),
    Open,
    Close,
    Equals,
    Comma,
    /// The end of a sentence, or of a Chinese clause.
    Stop,
    /// Text in quotes, without them.
    Quoted,
    /// A word in lower case.
    Word(String),
}

/// A piece of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// As the user wrote it; for [`Kind::Quoted`], what is between the quotes.
    pub(super) text: String,
}

impl Token {
    pub(super) fn word(&self) -> Option<&str> {
        match &self.kind {
            Kind::Word(word) => Some(word),
            _ => None,
        }
    }

    pub(super) fn is_word_in(&self, words: &[&str]) -> bool {
        self.word().is_some_and(|word| words.contains(&word))
    }

    /// A name that the user gave: a word or a quotation.
    pub(super) fn name(&self) -> Option<&str> {
        match self.kind {
            Kind::Word(_) | Kind::Quoted => Some(&self.text),
            _ => None,
        }
    }
}

/// Whether the word at `at` is one of `words`.
pub(super) fn word_at(tokens: &[Token], at: usize, words: &[&str]) -> bool {
    tokens.get(at).is_some_and(|token| token.is_word_in(words))
}

/// Whether these words stand at `at`, one after the other.
pub(super) fn phrase_at(tokens: &[Token], at: usize, phrase: &[&str]) -> bool {
    phrase
        .iter()
        .enumerate()
        .all(|(offset, word)| word_at(tokens, at + offset, &[word]))
}

/// Whether these words stand anywhere, one after the other.
pub(super) fn has_phrase(tokens: &[Token], phrase: &[&str]) -> bool {
    (0..tokens.len()).any(|at| phrase_at(tokens, at, phrase))
}

/// Whether one of `words` occurs.
pub(super) fn has_word(tokens: &[Token], words: &[&str]) -> bool {
    tokens.iter().any(|token| token.is_word_in(words))
}
