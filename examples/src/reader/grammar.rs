//! The grammar of spoken arithmetic: `3 plus 4 times 2`, `the sum of 3 and 5`, `divide 10 by 4`,
//! `3加4乘以2`.
//!
//! Each rule reads at an index and answers with what it read and the index after it.

use super::expression::Piece;
use super::numbers;
use super::token::{Kind, Token, has_word, phrase_at, word_at};
use std::cell::Cell;

/// Nesting beyond this is left to the calculator, which refuses it.
const MAX_DEPTH: u8 = 60;
/// Readings that are tried for one question; a question made to blow up just is not understood.
const MAX_ATTEMPTS: usize = 20_000;

type Read = Option<(Piece, usize)>;

#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    depth: u8,
    /// Inside `the sum of … and …`, where `and` separates.
    in_list: bool,
}

impl Place {
    fn deeper(self, in_list: bool) -> Option<Self> {
        (self.depth < MAX_DEPTH).then_some(Place {
            depth: self.depth + 1,
            in_list,
        })
    }
}

pub(super) struct Grammar<'a> {
    tokens: &'a [Token],
    attempts: Cell<usize>,
}

/// How the operands of a phrase are put together.
#[derive(Clone, Copy)]
enum Combine {
    With(char),
    /// `subtract 3 from 10`.
    Reversed,
    Average,
}

impl<'a> Grammar<'a> {
    pub(super) fn new(tokens: &'a [Token]) -> Self {
        Grammar {
            tokens,
            attempts: Cell::new(0),
        }
    }

    fn kind(&self, at: usize) -> Option<&'a Kind> {
        self.tokens.get(at).map(|token| &token.kind)
    }

    fn words(&self, at: usize, words: &[&str]) -> bool {
        word_at(self.tokens, at, words)
    }

    pub(super) fn sum(&self, at: usize, place: Place) -> Read {
        let (mut left, mut next) = self.product(at, place)?;
        while let Some((operator @ ('+' | '-'), reversed, after)) = self.operator(next)
            && let Some((right, end)) = self.product(after, place)
        {
            left = if reversed {
                right.with(operator, left)
            } else {
                left.with(operator, right)
            };
            next = end;
        }
        Some((left, next))
    }

    /// What a spoken operator makes of all that was said before: `…, squared`, `…, times 2`.
    pub(super) fn applied(&self, whole: Piece, at: usize) -> Read {
        if let Some((exponent, next)) = self.exponent(at) {
            return Some((whole.with('^', Piece::number(exponent)), next));
        }
        self.tokens.get(at)?.word()?;
        let (operator, reversed, after) = self.operator(at)?;
        let (operand, next) = self.product(after, Place::default())?;
        let value = if reversed {
            operand.with(operator, whole)
        } else {
            whole.with(operator, operand)
        };
        Some((value, next))
    }

    fn product(&self, at: usize, place: Place) -> Read {
        let (mut left, mut next) = self.signed(at, place)?;
        loop {
            if let Some((after, is_discount)) = self.percent_of(next)
                && let Some((right, end)) = self.signed(after, place)
            {
                let hundred = || Piece::number("100");
                left = if is_discount {
                    right
                        .with('*', hundred().with('-', left))
                        .with('/', hundred())
                } else {
                    left.with('*', right).with('/', hundred())
                };
                next = end;
            } else if let Some((operator @ ('*' | '/' | '%'), _, after)) = self.operator(next)
                && let Some((right, end)) = self.signed(after, place)
            {
                left = left.with(operator, right);
                next = end;
            } else {
                return Some((left, next));
            }
        }
    }

    fn signed(&self, at: usize, place: Place) -> Read {
        let is_sign = matches!(self.kind(at), Some(Kind::Operator('-')))
            || self.words(at, &["minus", "negative", "负"]);
        if is_sign {
            let (value, next) = self.signed(at + 1, place.deeper(place.in_list)?)?;
            return Some((value.negative(), next));
        }
        self.power(at, place)
    }

    fn power(&self, at: usize, place: Place) -> Read {
        let (base, next) = self.postfix(at, place)?;
        if let Some(('^', _, after)) = self.operator(next)
            && let Some((exponent, end)) = self.signed(after, place.deeper(place.in_list)?)
        {
            return Some((base.with('^', exponent), end));
        }
        Some((base, next))
    }

    fn postfix(&self, at: usize, place: Place) -> Read {
        let (mut value, mut next) = self.primary(at, place)?;
        while let Some((exponent, after)) = self.exponent(next) {
            value = value.with('^', Piece::number(exponent));
            next = after;
        }
        let is_percent = match self.kind(next) {
            Some(Kind::Operator('%')) => self.signed(next + 1, place.deeper(false)?).is_none(),
            _ => self.words(next, &["percent"]),
        };
        if is_percent && self.percent_of(next).is_none() {
            value = value.percent();
            next += 1;
        }
        Some((value, next))
    }

    /// `squared`, `to the third power`, `的3次方`.
    fn exponent(&self, at: usize) -> Option<(String, usize)> {
        if self.words(at, &["squared", "的平方", "平方"]) {
            return Some(("2".into(), at + 1));
        }
        if self.words(at, &["cubed", "的立方", "立方"]) {
            return Some(("3".into(), at + 1));
        }
        if self.words(at, &["的"])
            && let Some(Kind::Number(digits)) = self.kind(at + 1)
            && self.words(at + 2, &["次方"])
        {
            return Some((digits.clone(), at + 3));
        }
        let start = if phrase_at(self.tokens, at, &["raised"]) {
            at + 1
        } else {
            at
        };
        if phrase_at(self.tokens, start, &["to", "the"]) {
            let digits = numbers::ordinal(self.tokens.get(start + 2)?)?;
            let end = start + 3 + usize::from(self.words(start + 3, &["power"]));
            return Some((digits, end));
        }
        None
    }

    /// What comes after `% of` or `% off`, and whether it was `off`.
    fn percent_of(&self, at: usize) -> Option<(usize, bool)> {
        let is_percent =
            matches!(self.kind(at), Some(Kind::Operator('%'))) || self.words(at, &["percent"]);
        let after_tip = at + 1 + usize::from(self.words(at + 1, &["tip"]));
        let says = self.words(after_tip, &["of", "off", "on"]);
        (is_percent && says).then(|| (after_tip + 1, self.words(after_tip, &["off"])))
    }

    /// The operator at an index, whether its operands are spoken in reverse, and what is after it.
    fn operator(&self, at: usize) -> Option<(char, bool, usize)> {
        const SPOKEN: &[(&[&str], char)] = &[
            (&["plus"], '+'),
            (&["added", "to"], '+'),
            (&["increased", "by"], '+'),
            (&["minus"], '-'),
            (&["less"], '-'),
            (&["take", "away"], '-'),
            (&["decreased", "by"], '-'),
            (&["reduced", "by"], '-'),
            (&["times"], '*'),
            (&["x"], '*'),
            (&["multiplied", "by"], '*'),
            (&["multiplied", "with"], '*'),
            (&["divided", "by"], '/'),
            (&["over"], '/'),
            (&["mod"], '%'),
            (&["modulo"], '%'),
            (&["modulus"], '%'),
            (&["raised", "to", "the", "power", "of"], '^'),
            (&["to", "the", "power", "of"], '^'),
            (&["to", "the", "power"], '^'),
            (&["raised", "to"], '^'),
            (&["的", "百分之"], '*'),
        ];
        if let Some(Kind::Operator(operator)) = self.kind(at) {
            return Some((*operator, false, at + 1));
        }
        let start = at + usize::from(self.words(at, &["is", "when", "if"]));
        if phrase_at(self.tokens, start, &["subtracted", "from"]) {
            return Some(('-', true, start + 2));
        }
        // `what is 3 less than 10` is a sum; `is 3 less than 10` is not.
        if word_at(self.tokens, start + 1, &["than"]) && has_word(self.tokens, &["what", "what's"])
        {
            match self.tokens.get(start)?.word()? {
                "more" => return Some(('+', true, start + 2)),
                "less" => return Some(('-', true, start + 2)),
                _ => {}
            }
        }
        let (phrase, operator) = SPOKEN
            .iter()
            .find(|(phrase, _)| phrase_at(self.tokens, start, phrase))?;
        // `80的百分之15`: the second word belongs to the operand.
        let length = if phrase.first() == Some(&"的") {
            1
        } else {
            phrase.len()
        };
        Some((*operator, false, start + length))
    }

    fn primary(&self, at: usize, place: Place) -> Read {
        self.attempts.set(self.attempts.get() + 1);
        if self.attempts.get() > MAX_ATTEMPTS {
            return None;
        }
        match self.kind(at)? {
            Kind::Number(digits) => Some(
                self.chinese_list(at, digits)
                    .unwrap_or_else(|| (Piece::number(digits), at + 1)),
            ),
            Kind::Open => {
                let (value, next) = self.sum(at + 1, place.deeper(false)?)?;
                matches!(self.kind(next), Some(Kind::Close)).then_some((value, next + 1))
            }
            Kind::Word(_) => {
                if let Some((value, next)) = numbers::in_words(self.tokens, at, !place.in_list) {
                    return Some((Piece::number(value.to_string()), next));
                }
                self.phrase(at, place)
            }
            _ => None,
        }
    }

    /// `3和5的和`.
    fn chinese_list(&self, at: usize, first: &str) -> Read {
        let mut operands = vec![Piece::number(first)];
        let mut next = at + 1;
        while self.words(next, &["和", "与", "跟"]) || matches!(self.kind(next), Some(Kind::Comma))
        {
            let Some(Kind::Number(digits)) = self.kind(next + 1) else {
                return None;
            };
            operands.push(Piece::number(digits));
            next += 2;
        }
        let operator = match self.tokens.get(next)?.word()? {
            "的和" => '+',
            "的差" => '-',
            "的积" => '*',
            "的商" => '/',
            _ => return None,
        };
        let value = operands.into_iter().reduce(|a, b| a.with(operator, b))?;
        value.is_calculation().then_some((value, next + 1))
    }

    /// A phrase that begins with its operator: `the product of 3 and 4`, `divide 10 by 4`.
    fn phrase(&self, at: usize, place: Place) -> Read {
        use Combine::{Average, Reversed, With};
        const LISTS: &[(&[&str], &[&str], Combine)] = &[
            (&["sum", "of"], &["and", "plus"], With('+')),
            (&["sum", "up"], &["and"], With('+')),
            (&["sum"], &["and"], With('+')),
            (&["total", "of"], &["and", "plus"], With('+')),
            (&["product", "of"], &["and", "times"], With('*')),
            (&["difference", "between"], &["and"], With('-')),
            (&["difference", "of"], &["and"], With('-')),
            (&["quotient", "of"], &["and", "by"], With('/')),
            (&["ratio", "of"], &["and", "to"], With('/')),
            (&["average", "of"], &["and"], Average),
            (&["mean", "of"], &["and"], Average),
            (&["add", "up"], &["and"], With('+')),
            (&["add"], &["and", "to", "with", "plus"], With('+')),
            (&["adding"], &["and", "to", "with"], With('+')),
            (&["subtract"], &["from"], Reversed),
            (&["subtracting"], &["from"], Reversed),
            (&["deduct"], &["from"], Reversed),
            (&["take"], &["from"], Reversed),
            (&["multiply"], &["by", "with", "and", "times"], With('*')),
            (&["multiplying"], &["by", "with", "and"], With('*')),
            (&["divide"], &["by"], With('/')),
            (&["dividing"], &["by"], With('/')),
            (&["raise"], &["to"], With('^')),
        ];
        let at = at + usize::from(self.words(at, &["the"]));
        let inner = place.deeper(true)?;
        if let Some(read) = self.unary_phrase(at, inner) {
            return Some(read);
        }
        if self.words(at, &["remainder"]) {
            // `the remainder when 10 is divided by 4`, `the remainder of 10 divided by 4`
            let start = at + 1 + usize::from(self.words(at + 1, &["when", "of", "if"]));
            let (left, next) = self.postfix(start, inner)?;
            let ('/', _, after) = self.operator(next)? else {
                return None;
            };
            let (right, end) = self.postfix(after, inner)?;
            return Some((left.with('%', right), end));
        }
        let (phrase, separators, combine) = LISTS
            .iter()
            .find(|(phrase, ..)| phrase_at(self.tokens, at, phrase))?;
        let (operands, next) = self.list(at + phrase.len(), separators, inner)?;
        let count = operands.len();
        let value = operands.into_iter().reduce(|a, b| match combine {
            With(operator) => a.with(*operator, b),
            Reversed => b.with('-', a),
            Average => a.with('+', b),
        })?;
        match combine {
            Average => Some((value.with('/', Piece::number(count.to_string())), next)),
            _ => Some((value, next)),
        }
    }

    fn unary_phrase(&self, at: usize, inner: Place) -> Read {
        const POWERS: &[(&[&str], &str)] = &[
            (&["square", "root", "of"], "0.5"),
            (&["sqrt", "of"], "0.5"),
            (&["sqrt"], "0.5"),
            (&["root", "of"], "0.5"),
            (&["square", "of"], "2"),
            (&["square"], "2"),
            (&["cube", "of"], "3"),
            (&["cube"], "3"),
        ];
        const CUBE_ROOT: &[&str] = &["cube", "root", "of"];
        const FACTORS: &[(&[&str], char, &str)] = &[
            (&["half", "of"], '/', "2"),
            (&["half"], '/', "2"),
            (&["halve"], '/', "2"),
            (&["double"], '*', "2"),
            (&["twice"], '*', "2"),
            (&["triple"], '*', "3"),
            (&["thrice"], '*', "3"),
            (&["百分之"], '/', "100"),
        ];
        if phrase_at(self.tokens, at, CUBE_ROOT) {
            let (value, next) = self.postfix(at + CUBE_ROOT.len(), inner)?;
            let third = Piece::number("1").with('/', Piece::number("3"));
            return Some((value.with('^', third), next));
        }
        if let Some((phrase, exponent)) = POWERS
            .iter()
            .find(|(phrase, _)| phrase_at(self.tokens, at, phrase))
        {
            let (value, next) = self.postfix(at + phrase.len(), inner)?;
            return Some((value.with('^', Piece::number(*exponent)), next));
        }
        let (phrase, operator, factor) = FACTORS
            .iter()
            .find(|(phrase, ..)| phrase_at(self.tokens, at, phrase))?;
        let (value, next) = self.postfix(at + phrase.len(), inner)?;
        Some((value.with(*operator, Piece::number(*factor)), next))
    }

    /// At least two operands. Before a separator an operand is read as far as it goes (`the sum of
    /// 3 times 4 and 5`); the last takes only signs in, so that in `the sum of 3 and 4 times 2`
    /// the sum is doubled.
    fn list(&self, at: usize, separators: &[&str], place: Place) -> Option<(Vec<Piece>, usize)> {
        let separator = |next: usize| {
            let comma = usize::from(matches!(self.kind(next), Some(Kind::Comma)));
            let word = usize::from(self.words(next + comma, separators));
            // `add 3 to the 4`, `raise 2 to the power of 3`
            let filler = match (comma, word) {
                (0, 0) => return None,
                _ if phrase_at(self.tokens, next + comma + word, &["the", "power", "of"]) => 3,
                _ => 0,
            };
            Some(next + comma + word + filler)
        };
        let mut operands = Vec::new();
        let mut next = at;
        loop {
            let tight = self.tight_product(next, place);
            let readings = [
                tight.clone(),
                self.product(next, place),
                self.sum(next, place),
            ];
            let continued = readings.into_iter().flatten().find_map(|(value, end)| {
                let after = separator(end)?;
                // A separator is one only if an operand follows.
                self.signed(after, place)?;
                Some((value, after))
            });
            if let Some((value, after)) = continued {
                operands.push(value);
                next = after;
            } else {
                let (value, end) = tight?;
                operands.push(value);
                return (operands.len() > 1).then_some((operands, end));
            }
        }
    }

    /// An operand with the factors that are written with signs: `4*5`, but not `4 times 5`.
    fn tight_product(&self, at: usize, place: Place) -> Read {
        let (mut left, mut next) = self.signed(at, place)?;
        while let Some(Kind::Operator(operator @ ('*' | '/'))) = self.kind(next)
            && let Some((right, end)) = self.signed(next + 1, place)
        {
            left = left.with(*operator, right);
            next = end;
        }
        Some((left, next))
    }
}
