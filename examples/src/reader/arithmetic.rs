//! Finds the calculations in a question.

use super::counted::has_blanks;
use super::expression::Piece;
use super::grammar::{Grammar, Place};
use super::token::{Kind, Token, word_at};
use std::ops::Range;

/// A calculation, in the calculator's spelling, and the tokens it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Calculation {
    pub(super) expression: String,
    pub(super) tokens: Range<usize>,
}

/// Every calculation that `tokens` asks for, in order.
pub(super) fn calculations(tokens: &[Token]) -> Vec<Calculation> {
    let grammar = Grammar::new(tokens);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let read = grammar
            .sum(at, Place::default())
            .filter(|(value, _)| value.is_calculation());
        let calculation = match read {
            Some((value, next)) if !is_torn(tokens, at, next) => {
                let (value, next) = continued(&grammar, tokens, value, next);
                Some(Calculation {
                    expression: value.text().to_owned(),
                    tokens: at..next,
                })
            }
            // What the grammar can not read as a whole goes to the calculator as it stands: it
            // says what is wrong with it.
            _ => raw(tokens, at, found.last()),
        };
        match calculation {
            Some(calculation) => {
                at = calculation.tokens.end;
                found.push(calculation);
            }
            None => at += 1,
        }
    }
    found
}

/// Whether the reading stops in the middle of something: `3 + 4 /`, `(1 + 2`.
fn is_torn(tokens: &[Token], start: usize, end: usize) -> bool {
    let open_before = |at: usize| {
        tokens
            .iter()
            .take(at)
            .fold(0_i32, |depth, token| match token.kind {
                Kind::Open => depth + 1,
                Kind::Close => depth - 1,
                _ => depth,
            })
    };
    let torn_before = start
        .checked_sub(1)
        .and_then(|at| tokens.get(at))
        .is_some_and(|token| matches!(token.kind, Kind::Open))
        && !tokens
            .iter()
            .skip(end)
            .any(|token| token.kind == Kind::Close);
    let torn_after = match tokens.get(end).map(|token| &token.kind) {
        Some(Kind::Operator('-') | Kind::Open) => tokens.get(end + 1).is_some_and(is_symbol),
        Some(Kind::Operator(_) | Kind::Number(_)) => true,
        Some(Kind::Close) => open_before(end) <= 0,
        _ => false,
    };
    torn_before || torn_after
}

fn is_symbol(token: &Token) -> bool {
    matches!(
        token.kind,
        Kind::Number(_) | Kind::Operator(_) | Kind::Open | Kind::Close
    )
}

/// The run of numbers and signs that begins at `start`, whatever its grammar.
fn raw(tokens: &[Token], start: usize, before: Option<&Calculation>) -> Option<Calculation> {
    let first = tokens.get(start)?;
    let read_before = before.is_some_and(|calculation| calculation.tokens.end == start);
    let is_within_run = start
        .checked_sub(1)
        .and_then(|at| tokens.get(at))
        .is_some_and(is_symbol);
    if is_within_run && !read_before {
        return None;
    }
    let begins = match first.kind {
        Kind::Number(_) | Kind::Open => true,
        Kind::Operator(operator) => operator == '-',
        _ => false,
    };
    let run: Vec<&Token> = tokens
        .iter()
        .skip(start)
        .take_while(|t| is_symbol(t))
        .collect();
    let end = start + run.len();
    // `3 + x` is algebra.
    let is_algebra = tokens
        .get(end)
        .and_then(Token::word)
        .is_some_and(|word| word.chars().count() == 1 && word.is_ascii());
    // A number that is not known yet means nothing to the calculator.
    let has_blank = run.iter().any(|token| has_blanks(&token.text));
    let has_number = run.iter().any(|t| matches!(t.kind, Kind::Number(_)));
    // `100%` is a number.
    let is_percentage = matches!(
        run.as_slice(),
        [_, percent] if percent.kind == Kind::Operator('%')
    );
    let has_sign = run
        .iter()
        .skip(1)
        .any(|t| matches!(t.kind, Kind::Operator(_)))
        || run.iter().any(|t| matches!(t.kind, Kind::Open));
    if !begins || is_algebra || !has_number || !has_sign || is_percentage || has_blank {
        return None;
    }
    let expression = run
        .iter()
        .map(|token| match &token.kind {
            Kind::Number(digits) => digits.clone(),
            Kind::Operator(operator) => operator.to_string(),
            _ => token.text.clone(),
        })
        .collect::<Vec<_>>()
        .join(" ");
    Some(Calculation {
        expression,
        tokens: start..end,
    })
}

/// Takes in what is to be done with the result: `… and then multiply it by 2`.
fn continued(grammar: &Grammar<'_>, tokens: &[Token], value: Piece, end: usize) -> (Piece, usize) {
    let (mut value, mut end) = (value, end);
    while let Some((next_value, next)) = follow_up(grammar, tokens, &value, end) {
        (value, end) = (next_value, next);
    }
    (value, end)
}

fn follow_up(
    grammar: &Grammar<'_>,
    tokens: &[Token],
    value: &Piece,
    end: usize,
) -> Option<(Piece, usize)> {
    let kind = |at: usize| tokens.get(at).map(|token| &token.kind);
    if matches!(kind(end), Some(Kind::Comma))
        && let Some(read) = grammar.applied(value.clone(), end + 1)
    {
        return Some(read);
    }
    let mut at = end;
    at += usize::from(matches!(kind(at), Some(Kind::Comma | Kind::Stop)));
    at += usize::from(word_at(tokens, at, &["and"]));
    let then = word_at(tokens, at, &["then"]);
    at += usize::from(then);
    let verb = tokens.get(at)?.word()?;
    at += 1;
    let object_length = match tokens.get(at).and_then(Token::word) {
        Some("it" | "that" | "this") => 1,
        Some("the")
            if word_at(
                tokens,
                at + 1,
                &["result", "sum", "product", "answer", "total"],
            ) =>
        {
            2
        }
        _ => 0,
    };
    if !then && object_length == 0 {
        return None;
    }
    at += object_length;
    let (operator, preposition) = match verb {
        "square" => return Some((value.clone().with('^', Piece::number("2")), at)),
        "cube" => return Some((value.clone().with('^', Piece::number("3")), at)),
        "double" => return Some((value.clone().with('*', Piece::number("2")), at)),
        "halve" => return Some((value.clone().with('/', Piece::number("2")), at)),
        "multiply" => ('*', "by"),
        "times" => ('*', ""),
        "divide" => ('/', "by"),
        "add" | "plus" => ('+', ""),
        "subtract" | "minus" => ('-', ""),
        _ => return None,
    };
    if !preposition.is_empty() {
        word_at(tokens, at, &[preposition]).then_some(())?;
        at += 1;
    }
    let (operand, mut next) = grammar.sum(at, Place::default())?;
    // `then add 5 to it`
    if word_at(tokens, next, &["to", "from"]) && word_at(tokens, next + 1, &["it", "that"]) {
        next += 2;
    }
    Some((value.clone().with(operator, operand), next))
}

#[cfg(test)]
mod tests {
    use super::super::lexer::tokens;
    use super::*;

    fn read(question: &str) -> Vec<String> {
        calculations(&tokens(question))
            .into_iter()
            .map(|calculation| calculation.expression)
            .collect()
    }

    #[test]
    fn reads_arithmetic_in_many_phrasings() {
        for (question, expected) in [
            ("What is 37 * 21?", "37 * 21"),
            ("what's 3 plus 4 times 2", "3 + 4 * 2"),
            ("compute (1+2)^3", "(1 + 2) ^ 3"),
            ("37 x 21", "37 * 21"),
            ("37x21=?", "37 * 21"),
            ("37 × 21", "37 * 21"),
            ("divide 10 by 4", "10 / 4"),
            ("What do I get when I divide 10 by 4?", "10 / 4"),
            ("the sum of 3 and 5", "3 + 5"),
            ("the sum of 3, 4, and 5", "3 + 4 + 5"),
            ("two times the sum of 3 and 5", "2 * (3 + 5)"),
            ("the sum of 3 and 4 times 2", "(3 + 4) * 2"),
            ("the sum of 3 and 4*2", "3 + 4 * 2"),
            ("the sum of 3 times 4 and 5", "3 * 4 + 5"),
            ("12 squared", "12 ^ 2"),
            ("What is twelve squared?", "12 ^ 2"),
            ("(3 + 4) squared", "(3 + 4) ^ 2"),
            ("the square of 12", "12 ^ 2"),
            ("the square root of 144", "144 ^ 0.5"),
            ("sqrt(16) + 1", "16 ^ 0.5 + 1"),
            ("5 cubed minus 3", "5 ^ 3 - 3"),
            ("2 to the power of 10", "2 ^ 10"),
            ("2 to the 10th power", "2 ^ 10"),
            ("2 raised to the third power", "2 ^ 3"),
            ("raise 2 to the power of 8", "2 ^ 8"),
            ("2**8", "2 ^ 8"),
            ("15% of 80", "15 * 80 / 100"),
            ("a 15% tip on 80", "15 * 80 / 100"),
            ("what is 20% off 50?", "50 * (100 - 20) / 100"),
            ("What is 3 less than 10?", "10 - 3"),
            ("What is 3 more than 10?", "10 + 3"),
            ("the cube root of 27", "27 ^ (1 / 3)"),
            ("sum 3 and 5", "3 + 5"),
            ("add up 3, 4 and 5", "3 + 4 + 5"),
            ("1e3 + 5", "1e3 + 5"),
            ("What is 15 percent of 80?", "15 * 80 / 100"),
            ("17 % 5", "17 % 5"),
            ("17 mod 5", "17 % 5"),
            ("200 + 10%", "200 + 10 / 100"),
            ("the remainder when 17 is divided by 5", "17 % 5"),
            ("subtract 3 from 10", "10 - 3"),
            ("3 subtracted from 10", "10 - 3"),
            ("10 take away 3", "10 - 3"),
            ("add 3 to 4", "3 + 4"),
            ("add 1, 2 and 3", "1 + 2 + 3"),
            ("multiply 3 + 4 by 2", "(3 + 4) * 2"),
            ("multiply 6 by 7 and then add 8", "6 * 7 + 8"),
            ("add 3 and 4, then multiply the result by 2", "(3 + 4) * 2"),
            ("Add 3 and 4. Then square it.", "(3 + 4) ^ 2"),
            ("the sum of 3 and 5, times 2", "(3 + 5) * 2"),
            ("the product of 6 and 7, squared", "(6 * 7) ^ 2"),
            ("the difference between 10 and 4", "10 - 4"),
            ("the product of 6 and 7", "6 * 7"),
            ("the quotient of 84 and 2", "84 / 2"),
            ("the average of 1, 2 and 6", "(1 + 2 + 6) / 3"),
            ("half of 9", "9 / 2"),
            ("twice 21", "21 * 2"),
            ("three hundred and five plus twenty-one", "305 + 21"),
            ("minus five plus three", "-5 + 3"),
            ("-3 - -4", "-3 - -4"),
            ("10 - (4 - 3)", "10 - (4 - 3)"),
            ("((2))*((3))", "2 * 3"),
            ("2^3^2", "2 ^ 3 ^ 2"),
            ("(2^3)^2", "(2 ^ 3) ^ 2"),
            ("-2^2", "-2 ^ 2"),
            ("1,234 + 5.5", "1234 + 5.5"),
            ("5 divided by 0", "5 / 0"),
            ("how much is \"3+4\"?", "3 + 4"),
            ("(what is 3 + 4?)", "3 + 4"),
            ("3 + 4 - thanks", "3 + 4"),
            ("10 multiplied by 3 divided by 4", "10 * 3 / 4"),
            ("计算3加4乘以2", "3 + 4 * 2"),
            ("三十七乘以二十一等于多少？", "37 * 21"),
            ("3和5的和是多少", "3 + 5"),
            ("12的平方", "12 ^ 2"),
            ("2的10次方", "2 ^ 10"),
            ("（1＋2）×3", "(1 + 2) * 3"),
            ("80的百分之15", "80 * (15 / 100)"),
            ("10除以4", "10 / 4"),
        ] {
            assert_eq!(read(question), [expected], "{question}");
        }
    }

    #[test]
    fn reads_several_calculations() {
        assert_eq!(read("What is 3 + 4 and 5 * 6?"), ["3 + 4", "5 * 6"]);
        assert_eq!(read("2+2? And the square of 3?"), ["2 + 2", "3 ^ 2"]);
    }

    #[test]
    fn faulty_arithmetic_goes_to_the_calculator_as_it_stands() {
        for (question, expected) in [
            ("compute 3 + * 4", "3 + * 4"),
            ("what is 3 + 4 /?", "3 + 4 /"),
            ("(1 + 2", "( 1 + 2"),
            ("1 + 2)", "1 + 2 )"),
        ] {
            assert_eq!(read(question), [expected], "{question}");
        }
    }

    #[test]
    fn numbers_alone_are_no_calculation() {
        for question in [
            "What happened on 2024-01-01 at 12:30?",
            "list the first 5 files",
            "is 3.txt older than v1.2.3?",
            "I have 3 cats and 2 dogs",
            "solve 3x + 4 = 10",
            "what is 3 + x",
            "How many times did you try?",
            "is 3 less than 10?",
            "I am 100% sure",
            "what is 0x10 + 1?",
            "两个文件",
            "算一下",
            "Tell me about the square",
        ] {
            assert_eq!(read(question), Vec::<String>::new(), "{question}");
        }
    }

    #[test]
    fn hostile_questions_end_in_reasonable_time() {
        for question in [
            "(".repeat(50_000),
            "the sum of ".repeat(2_000),
            "the sum of 1 and ".repeat(2_000) + "2",
            "- ".repeat(50_000) + "1",
            "1 + ".repeat(50_000) + "1",
            "square ".repeat(5_000) + "2",
            "1 ".repeat(20_000),
        ] {
            calculations(&tokens(&question));
        }
    }
}
