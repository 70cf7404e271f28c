//! Arithmetic: `evaluate("37 * 21")`.
//!
//! Whole numbers are exact as long as they fit 128 bits; everything else is a 64-bit float.

use std::fmt;
use std::iter::Peekable;
use std::str::CharIndices;

/// How deep parentheses and signs may be nested; deeper input is refused instead of overflowing
/// the stack.
const MAX_DEPTH: usize = 128;

/// The value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An exact whole number.
    Integer(i128),
    /// Anything else, or a whole number too large for 128 bits.
    Real(f64),
}

/// Why an expression has no value. Positions count characters, from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CalculatorError {
    /// An unknown character, or one in the wrong place.
    #[error("unexpected `{found}` at position {position}: expected {expected}")]
    Unexpected {
        /// What was found.
        found: String,
        /// Where.
        position: usize,
        /// What was expected.
        expected: &'static str,
    },
    /// The expression stops too early.
    #[error("the expression ends at position {position}: expected {expected}")]
    UnexpectedEnd {
        /// One past the last character.
        position: usize,
        /// What was expected.
        expected: &'static str,
    },
    /// A division, or a remainder, by zero.
    #[error("division by zero at position {position}")]
    DivisionByZero {
        /// The position of the operator.
        position: usize,
    },
    /// The result is infinite, or not a real number.
    #[error("the operator at position {position} gives no finite real number")]
    NotFinite {
        /// The place of the operator.
        position: usize,
    },
    /// A number with more digits than can be read.
    #[error("the number `{text}` at position {position} can not be read")]
    BadNumber {
        /// The number as written.
        text: String,
        /// Where it starts.
        position: usize,
    },
    /// Too many nested parentheses or signs.
    #[error("nested more than {MAX_DEPTH} deep at position {position}")]
    TooDeep {
        /// Where the limit was passed.
        position: usize,
    },
}

/// Evaluates an expression.
///
/// `+ - * / %`, `^` or `**` (to the right, above the sign: `-2 ^ 2` is -4), parentheses, signs,
/// decimals. `%` takes the sign of the divisor, as in Python.
///
/// # Errors
///
/// [`CalculatorError`] when the text is not an expression, or has no finite value.
pub fn evaluate(expression: &str) -> Result<Number, CalculatorError> {
    let mut parser = Parser::new(expression);
    let value = parser.sum(0)?;
    match parser.peek() {
        None => Ok(value),
        Some((_, found)) => Err(CalculatorError::Unexpected {
            found: found.to_string(),
            position: parser.position(),
            expected: "an operator or the end",
        }),
    }
}

struct Parser<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
    /// How many characters have been consumed.
    consumed: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Parser {
            text,
            chars: text.char_indices().peekable(),
            consumed: 0,
        }
    }

    fn next(&mut self) -> Option<(usize, char)> {
        let next = self.chars.next();
        self.consumed += usize::from(next.is_some());
        next
    }

    /// The next character that is not white space, still to be consumed.
    fn peek(&mut self) -> Option<(usize, char)> {
        while self.chars.next_if(|(_, c)| c.is_whitespace()).is_some() {
            self.consumed += 1;
        }
        self.chars.peek().copied()
    }

    /// The position, from 1, of what [`peek`](Self::peek) showed.
    fn position(&self) -> usize {
        self.consumed + 1
    }

    fn sum(&mut self, depth: usize) -> Result<Number, CalculatorError> {
        let mut left = self.product(depth)?;
        while let Some((_, operator @ ('+' | '-'))) = self.peek() {
            let position = self.position();
            self.next();
            let right = self.product(depth)?;
            left = left.apply(operator, right, position)?;
        }
        Ok(left)
    }

    fn product(&mut self, depth: usize) -> Result<Number, CalculatorError> {
        let mut left = self.signed(depth)?;
        while let Some((_, operator @ ('*' | '/' | '%'))) = self.peek() {
            let position = self.position();
            self.next();
            let right = self.signed(depth)?;
            left = left.apply(operator, right, position)?;
        }
        Ok(left)
    }

    fn signed(&mut self, depth: usize) -> Result<Number, CalculatorError> {
        match self.peek() {
            Some((_, sign @ ('+' | '-'))) => {
                let position = self.position();
                self.next();
                let value = self.signed(self.deeper(depth)?)?;
                match sign {
                    '-' => Number::Integer(0).apply('-', value, position),
                    _ => Ok(value),
                }
            }
            _ => self.power(depth),
        }
    }

    fn power(&mut self, depth: usize) -> Result<Number, CalculatorError> {
        let base = self.primary(depth)?;
        let Some((_, first @ ('^' | '*'))) = self.peek() else {
            return Ok(base);
        };
        let position = self.position();
        if first == '*' {
            // A single star is a multiplication, not part of this operator.
            let mut ahead = self.chars.clone();
            ahead.next();
            if ahead.next().is_none_or(|(_, second)| second != '*') {
                return Ok(base);
            }
            self.next();
        }
        self.next();
        let exponent = self.signed(self.deeper(depth)?)?;
        base.apply('^', exponent, position)
    }

    fn primary(&mut self, depth: usize) -> Result<Number, CalculatorError> {
        const EXPECTED: &str = "a number or `(`";
        match self.peek() {
            Some((start, c)) if c.is_ascii_digit() || c == '.' => self.number(start),
            Some((_, '(')) => {
                self.next();
                let value = self.sum(self.deeper(depth)?)?;
                match self.peek() {
                    Some((_, ')')) => {
                        self.next();
                        Ok(value)
                    }
                    found => Err(self.wrong(found, "`)`")),
                }
            }
            found => Err(self.wrong(found, EXPECTED)),
        }
    }

    fn number(&mut self, start: usize) -> Result<Number, CalculatorError> {
        let position = self.position();
        let mut end = start;
        let mut before = ' ';
        while let Some(&(at, c)) = self.chars.peek() {
            let is_sign_of_exponent = matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
            if !(c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E') || is_sign_of_exponent) {
                break;
            }
            self.next();
            end = at + c.len_utf8();
            before = c;
        }
        let text = self.text.get(start..end).unwrap_or_default();
        text.parse::<i128>()
            .map(Number::Integer)
            .or_else(|_| text.parse::<f64>().map(Number::Real))
            .map_err(|_| CalculatorError::BadNumber {
                text: text.to_owned(),
                position,
            })
    }

    fn wrong(&self, found: Option<(usize, char)>, expected: &'static str) -> CalculatorError {
        let position = self.position();
        match found {
            Some((_, found)) => CalculatorError::Unexpected {
                found: found.to_string(),
                position,
                expected,
            },
            None => CalculatorError::UnexpectedEnd { position, expected },
        }
    }

    fn deeper(&self, depth: usize) -> Result<usize, CalculatorError> {
        if depth < MAX_DEPTH {
            Ok(depth + 1)
        } else {
            Err(CalculatorError::TooDeep {
                position: self.position(),
            })
        }
    }
}

impl Number {
    fn as_real(self) -> f64 {
        match self {
            #[expect(
                clippy::cast_precision_loss,
                reason = "a float is the nearest there is"
            )]
            Number::Integer(value) => value as f64,
            Number::Real(value) => value,
        }
    }

    fn is_zero(self) -> bool {
        self.as_real() == 0.0
    }

    fn apply(self, operator: char, right: Self, position: usize) -> Result<Self, CalculatorError> {
        let divides = matches!(operator, '/' | '%') || (operator == '^' && right.as_real() < 0.0);
        let divisor = if operator == '^' { self } else { right };
        if divides && divisor.is_zero() {
            return Err(CalculatorError::DivisionByZero { position });
        }
        if let (Number::Integer(a), Number::Integer(b)) = (self, right)
            && let Some(exact) = exact(a, operator, b)
        {
            return Ok(Number::Integer(exact));
        }
        let (a, b) = (self.as_real(), right.as_real());
        let value = match operator {
            '+' => a + b,
            '-' => a - b,
            '*' => a * b,
            '/' => a / b,
            '%' => a - b * (a / b).floor(),
            _ => a.powf(b),
        };
        if value.is_finite() {
            Ok(Number::Real(value))
        } else {
            Err(CalculatorError::NotFinite { position })
        }
    }
}

/// The exact whole result, or nothing when it is not whole or does not fit.
fn exact(a: i128, operator: char, b: i128) -> Option<i128> {
    match operator {
        '+' => a.checked_add(b),
        '-' => a.checked_sub(b),
        '*' => a.checked_mul(b),
        '/' => (a.checked_rem(b)? == 0).then(|| a.checked_div(b)).flatten(),
        '%' => {
            let remainder = a.checked_rem(b)?;
            if remainder != 0 && (remainder < 0) != (b < 0) {
                remainder.checked_add(b)
            } else {
                Some(remainder)
            }
        }
        _ => a.checked_pow(u32::try_from(b).ok()?),
    }
}

impl fmt::Display for Number {
    /// Fifteen significant digits for a float, so that `0.1 + 0.2` is shown as `0.3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = match *self {
            Number::Integer(value) => return write!(f, "{value}"),
            Number::Real(value) => value,
        };
        let scientific = format!("{value:.14e}");
        let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
        let exponent: i32 = exponent.parse().unwrap_or(0);
        if (-7..15).contains(&exponent) {
            let places = usize::try_from(14 - exponent).unwrap_or(0);
            write!(
                f,
                "{}",
                without_trailing_zeros(&format!("{value:.places$}"))
            )
        } else {
            write!(f, "{}e{exponent}", without_trailing_zeros(mantissa))
        }
    }
}

fn without_trailing_zeros(text: &str) -> &str {
    let trimmed = if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    };
    if trimmed == "-0" { "0" } else { trimmed }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(expression: &str) -> String {
        match evaluate(expression) {
            Ok(number) => number.to_string(),
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn whole_numbers_are_exact() {
        for (expression, expected) in [
            ("37 * 21", "777"),
            ("3 + 4 * 2", "11"),
            ("(3 + 4) * 2", "14"),
            ("2 ^ 3 ^ 2", "512"),
            ("2 ** 10", "1024"),
            ("2 * 3 ** 2", "18"),
            ("-2 ^ 2", "-4"),
            ("(-2) ^ 2", "4"),
            ("--3", "3"),
            ("2 - -3", "5"),
            ("10 - 4 - 3", "3"),
            ("100 / 5 / 2", "10"),
            ("10 % 4", "2"),
            ("-7 % 3", "2"),
            ("7 % -3", "-2"),
            ("2 ^ 100", "1267650600228229401496703205376"),
            ("99999999999999999999 * 9", "899999999999999999991"),
        ] {
            assert_eq!(shown(expression), expected, "{expression}");
        }
    }

    #[test]
    fn other_numbers_are_shown_without_noise() {
        for (expression, expected) in [
            ("0.1 + 0.2", "0.3"),
            ("10 / 4", "2.5"),
            ("10 / 4 * 2", "5"),
            ("1 / 3", "0.333333333333333"),
            ("1.50 + 1.50", "3"),
            (".5 * 4", "2"),
            ("2 ^ -1", "0.5"),
            ("9 ^ 0.5", "3"),
            ("5.5 % 2", "1.5"),
            ("0 * -1.5", "0"),
            ("10 ^ 40", "1e40"),
            ("1 / 10 ^ 12", "1e-12"),
            ("123456.75 + 0", "123456.75"),
            ("1e3 + 2.5E-1", "1000.25"),
        ] {
            assert_eq!(shown(expression), expected, "{expression}");
        }
    }

    #[test]
    fn errors_say_where() {
        for (expression, expected) in [
            ("1 / 0", "error: division by zero at position 3"),
            ("5 % (2 - 2)", "error: division by zero at position 3"),
            ("0 ^ -1", "error: division by zero at position 3"),
            (
                "3 + * 4",
                "error: unexpected `*` at position 5: expected a number or `(`",
            ),
            (
                "3 +",
                "error: the expression ends at position 4: expected a number or `(`",
            ),
            (
                "",
                "error: the expression ends at position 1: expected a number or `(`",
            ),
            (
                "(1 + 2",
                "error: the expression ends at position 7: expected `)`",
            ),
            (
                "1 + 2)",
                "error: unexpected `)` at position 6: expected an operator or the end",
            ),
            (
                "三 + 1",
                "error: unexpected `三` at position 1: expected a number or `(`",
            ),
            (
                "1.2.3",
                "error: the number `1.2.3` at position 1 can not be read",
            ),
            (
                "(-8) ^ 0.5",
                "error: the operator at position 6 gives no finite real number",
            ),
            (
                "10 ^ 1000",
                "error: the operator at position 4 gives no finite real number",
            ),
        ] {
            assert_eq!(shown(expression), expected, "{expression}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_and_not_a_crash() {
        for unit in ["(", "-", "2^"] {
            let deep = unit.repeat(100_000) + "1";
            assert!(matches!(
                evaluate(&deep),
                Err(CalculatorError::TooDeep { .. })
            ));
        }
    }

    #[test]
    fn sums_of_random_terms_agree_with_rust() {
        let mut random = fastrand::Rng::with_seed(7);
        for _ in 0..500 {
            let (a, b, c, d) = (
                random.i64(-999..999),
                random.i64(1..999),
                random.i64(-99..99),
                random.i64(1..99),
            );
            let text = format!("{a} + {b} * ({c} - {d}) - {a} % {d} + {b}**2");
            let expected = a + b * (c - d) - a.rem_euclid(d) + b.pow(2);
            assert_eq!(
                evaluate(&text),
                Ok(Number::Integer(i128::from(expected))),
                "{text}"
            );
        }
    }
}
