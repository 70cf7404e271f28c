//! Numbers in words: `twenty-one`, `two hundred and five`, `a dozen`.

use super::token::{Kind, Token, word_at};

/// What a number in words means, and the index after it.
///
/// `with_and` says whether `one hundred and five` is one number; in `the sum of one hundred and
/// five` it is two.
pub(super) fn in_words(tokens: &[Token], at: usize, with_and: bool) -> Option<(u64, usize)> {
    let mut next = at;
    let (mut total, mut section) = (0_u64, None::<u64>);
    // `a hundred` is a number, `a folder` is not.
    if word_at(tokens, next, &["a", "an"])
        && tokens
            .get(next + 1)
            .and_then(Token::word)
            .is_some_and(|word| scale(word).is_some())
    {
        section = Some(1);
        next += 1;
    }
    let mut after_scale = false;
    while let Some(word) = tokens.get(next).and_then(Token::word) {
        if let Some(value) = small(word) {
            // `twenty one` adds up, `two three` are two numbers.
            let fits = match section {
                None => true,
                Some(section) => {
                    section % 100 == 0 || (section % 10 == 0 && value < 10 && section % 100 >= 20)
                }
            };
            if !fits {
                break;
            }
            section = Some(section.unwrap_or(0) + value);
            after_scale = false;
        } else if let Some(scale) = scale(word) {
            let Some(value) = section else { break };
            if scale == 100 || scale == 12 {
                section = Some(value.checked_mul(scale)?);
            } else {
                total = total.checked_add(value.checked_mul(scale)?)?;
                section = Some(0);
            }
            after_scale = true;
        } else if with_and
            && word == "and"
            && after_scale
            && tokens
                .get(next + 1)
                .and_then(Token::word)
                .is_some_and(|word| small(word).is_some())
        {
            after_scale = false;
        } else {
            break;
        }
        next += 1;
    }
    (next > at).then_some(())?;
    Some((total.checked_add(section?)?, next))
}

/// `third`, or `3rd`.
pub(super) fn ordinal(token: &Token) -> Option<String> {
    const ORDINALS: &[&str] = &[
        "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    ];
    match &token.kind {
        Kind::Ordinal(digits) => Some(digits.clone()),
        Kind::Word(word) => ORDINALS
            .iter()
            .position(|ordinal| ordinal == word)
            .map(|index| (index + 2).to_string()),
        _ => None,
    }
}

fn small(word: &str) -> Option<u64> {
    const UNITS: &[&str] = &[
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: &[&str] = &[
        "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    ];
    let position = |words: &[&str], word: &str| words.iter().position(|known| *known == word);
    if let Some((tens, units)) = word.split_once('-') {
        let units = small(units).filter(|value| (1..10).contains(value))?;
        return small(tens)
            .filter(|value| *value >= 20)
            .map(|tens| tens + units);
    }
    position(UNITS, word)
        .or_else(|| position(TENS, word).map(|index| 10 * index + 20))
        .and_then(|value| u64::try_from(value).ok())
}

fn scale(word: &str) -> Option<u64> {
    Some(match word {
        "dozen" => 12,
        "hundred" => 100,
        "thousand" => 1_000,
        "million" => 1_000_000,
        "billion" => 1_000_000_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::lexer::tokens;
    use super::*;

    #[test]
    fn reads_numbers_in_words() {
        for (text, expected) in [
            ("zero", Some((0, 1))),
            ("seven plus", Some((7, 1))),
            ("twenty-one", Some((21, 1))),
            ("twenty one", Some((21, 2))),
            ("two three", Some((2, 1))),
            ("a hundred", Some((100, 2))),
            ("two hundred and five", Some((205, 4))),
            ("three thousand four hundred twelve", Some((3412, 5))),
            ("a dozen", Some((12, 2))),
            ("one hundred and how many", Some((100, 2))),
            ("a folder", None),
            ("hundred", None),
        ] {
            assert_eq!(in_words(&tokens(text), 0, true), expected, "{text}");
        }
        assert_eq!(
            in_words(&tokens("one hundred and five"), 0, false),
            Some((100, 2))
        );
    }
}
