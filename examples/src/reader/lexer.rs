//! Cuts a question into tokens: numbers, operators, words, names of files and folders.
//!
//! Chinese is written without spaces, so its words are cut by a small dictionary.

use super::token::{Kind, Token};

/// Chinese, Japanese kanji included.
pub(super) fn is_chinese(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// Chinese words, longest first where one begins with another.
const CHINESE: &[&str] = &[
    "文件夹",
    "文件",
    "目录",
    "当前",
    "这个",
    "这里",
    "里面",
    "下面",
    "多少",
    "几个",
    "几点",
    "几号",
    "几月",
    "星期几",
    "礼拜几",
    "周几",
    "现在",
    "今天",
    "时间",
    "日期",
    "什么",
    "列出",
    "显示",
    "哪些",
    "统计",
    "查找",
    "搜索",
    "计算",
    "算一下",
    "等于",
    "加上",
    "减去",
    "乘以",
    "乘上",
    "除以",
    "的平方",
    "的立方",
    "平方",
    "立方",
    "次方",
    "的和",
    "的积",
    "的差",
    "的商",
    "百分之",
    "你好吗",
    "你好",
    "您好",
    "大家好",
    "早上好",
    "下午好",
    "晚上好",
    "谢谢",
    "多谢",
    "感谢",
    "再见",
    "拜拜",
    "你是谁",
    "名字",
    "做什么",
    "干什么",
    "帮助",
    "还有",
    "以及",
    "并且",
    "然后",
    "一下",
    "一共",
    "一些",
    "一个",
    "总共",
    "删除",
    "打开",
    "行代码",
];

/// Cuts `question` into tokens.
pub(super) fn tokens(question: &str) -> Vec<Token> {
    let mut lexer = Lexer {
        chars: question.chars().map(plain_char).collect(),
        at: 0,
        tokens: Vec::new(),
    };
    while lexer.at < lexer.chars.len() {
        lexer.step();
    }
    lexer.tokens
}

/// One spelling for the characters that have several.
fn plain_char(c: char) -> char {
    match c {
        '×' | '·' | '＊' => '*',
        '÷' | '／' => '/',
        '−' | '–' | '－' => '-',
        '＋' => '+',
        '％' => '%',
        '（' => '(',
        '）' => ')',
        '＝' => '=',
        '’' | '‘' => '\'',
        '“' | '”' | '「' | '」' | '『' | '』' => '"',
        '０'..='９' => {
            char::from_u32(u32::from(c) - u32::from('０') + u32::from('0')).unwrap_or(c)
        }
        _ => c,
    }
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
    tokens: Vec<Token>,
}

impl Lexer {
    fn char(&self, offset: usize) -> char {
        self.chars.get(self.at + offset).copied().unwrap_or('\0')
    }

    fn previous(&self) -> char {
        self.at
            .checked_sub(1)
            .and_then(|at| self.chars.get(at))
            .copied()
            .unwrap_or(' ')
    }

    fn text(&self, from: usize, to: usize) -> String {
        self.chars
            .get(from..to)
            .unwrap_or_default()
            .iter()
            .collect()
    }

    fn push(&mut self, kind: Kind, length: usize) {
        let text = self.text(self.at, self.at + length);
        self.tokens.push(Token { kind, text });
        self.at += length;
    }

    fn after_operand(&self) -> bool {
        matches!(
            self.tokens.last().map(|token| &token.kind),
            Some(Kind::Number(_) | Kind::Close)
        )
    }

    fn step(&mut self) {
        let (c, next) = (self.char(0), self.char(1));
        match c {
            _ if c.is_whitespace() => self.at += 1,
            _ if c.is_ascii_digit() || (c == '.' && next.is_ascii_digit()) => self.number(),
            _ if is_chinese(c) => self.chinese(),
            '"' | '`' => self.quotation(c),
            '\'' if self.previous().is_whitespace() => self.quotation(c),
            '(' => self.push(Kind::Open, 1),
            ')' => self.push(Kind::Close, 1),
            '=' => self.push(Kind::Equals, 1),
            ',' | '、' => self.push(Kind::Comma, 1),
            '*' if self.starts_pattern() => self.word(),
            '*' if next == '*' => self.push(Kind::Operator('^'), 2),
            '/' if next.is_alphabetic() && !self.after_operand() => self.word(),
            '+' | '-' | '*' | '/' | '%' | '^' => self.push(Kind::Operator(c), 1),
            'x' | 'X' if self.after_operand() && (next.is_ascii_digit() || next == '(') => {
                self.push(Kind::Operator('*'), 1);
            }
            '.' if next.is_alphabetic() || next == '/' => self.word(),
            '.' if next == '.' && self.char(2) != '.' => self.word(),
            '.' if self.previous().is_whitespace() && !next.is_alphanumeric() => self.word(),
            '?' | '!' | ';' | '.' | '。' | '？' | '！' | '；' | '，' => {
                self.push(Kind::Stop, 1);
            }
            '~' if next == '/' => self.word(),
            _ if c.is_alphabetic() || c == '_' => self.word(),
            _ => self.at += 1,
        }
    }

    /// `*.rs` and `*_test.rs` are patterns; `2 *.5` and `2*x` are not.
    fn starts_pattern(&self) -> bool {
        let mut ahead = self.chars.iter().skip(self.at).skip_while(|c| **c == '*');
        match ahead.next().copied() {
            Some('.') => ahead.next().is_some_and(|c| c.is_alphabetic() || *c == '*'),
            Some('/') => !self.after_operand(),
            Some(c) => !self.after_operand() && (c.is_alphabetic() || c == '_'),
            None => false,
        }
    }

    fn quotation(&mut self, open: char) {
        let rest = self.chars.get(self.at + 1..).unwrap_or_default();
        let Some(length) = rest.iter().position(|c| *c == open) else {
            self.at += 1;
            return;
        };
        let inside: String = rest.iter().take(length).collect();
        self.at += 1;
        let is_arithmetic = inside.contains(|c: char| c.is_ascii_digit())
            && inside.chars().all(|c| "0123456789+-*/%^().x ".contains(c));
        if is_arithmetic || inside.trim().is_empty() {
            // The quotes are dropped, and what is in them is read like the rest.
            if let Some(close) = self.chars.get_mut(self.at + length) {
                *close = ' ';
            }
        } else {
            self.push(Kind::Quoted, length);
            self.at += 1;
        }
    }

    fn number(&mut self) {
        let mut length = 0;
        let mut digits = String::new();
        loop {
            let c = self.char(length);
            let digit_follows = self.char(length + 1).is_ascii_digit();
            if c.is_ascii_digit() || (c == '.' && digit_follows) {
                digits.push(c);
            } else if !(c == ',' && !digits.contains('.') && self.thousands_follow(length)) {
                break;
            }
            length += 1;
        }
        length += self.exponent_length(length);
        digits = self.text(self.at, self.at + length).replace(',', "");
        let (next, after) = (self.char(length), self.char(length + 1));
        let suffix: String = [next, after].iter().collect::<String>().to_lowercase();
        let is_ordinal = ["st", "nd", "rd", "th"].contains(&suffix.as_str())
            && !self.char(length + 2).is_alphanumeric();
        let factor_follows = self.operand_follows(length + 1);
        let is_date = next == '-'
            && digits.len() == 4
            && after.is_ascii_digit()
            && self.char(length + 3) == '-';
        let is_hexadecimal = digits == "0" && next.eq_ignore_ascii_case(&'x');
        let is_name = is_hexadecimal
            || (is_letter(next) && !(next.eq_ignore_ascii_case(&'x') && factor_follows))
            || next == '_'
            || (matches!(next, '.' | '-') && is_letter(after))
            || (next == ':' && after.is_ascii_digit())
            || is_date
            || digits.matches('.').count() > 1;
        if is_ordinal {
            self.push(Kind::Ordinal(digits), length + 2);
        } else if is_name {
            self.word();
        } else {
            self.push(Kind::Number(digits), length);
            if self.char(0).eq_ignore_ascii_case(&'x') && factor_follows {
                self.push(Kind::Operator('*'), 1);
            }
        }
    }

    /// The length of `e3` or `e-3` at `offset`.
    fn exponent_length(&self, offset: usize) -> usize {
        let sign = usize::from(matches!(self.char(offset + 1), '+' | '-'));
        let rest = self.chars.get(self.at + offset + 1 + sign..);
        let digits = rest
            .unwrap_or_default()
            .iter()
            .take_while(|c| c.is_ascii_digit())
            .count();
        let end = offset + 1 + sign + digits;
        let is_exponent = self.char(offset).eq_ignore_ascii_case(&'e')
            && digits > 0
            && !is_letter(self.char(end));
        if is_exponent { end - offset } else { 0 }
    }

    /// Whether a number or a parenthesis comes at `offset`, or after blanks.
    fn operand_follows(&self, offset: usize) -> bool {
        let rest = self.chars.get(self.at + offset..).unwrap_or_default();
        let next = rest.iter().find(|c| **c != ' ');
        next.is_some_and(|c| c.is_ascii_digit() || *c == '(')
    }

    /// Whether the comma at `offset` separates thousands: `1,234`.
    fn thousands_follow(&self, offset: usize) -> bool {
        (1..=3).all(|more| self.char(offset + more).is_ascii_digit())
            && !self.char(offset + 4).is_ascii_digit()
    }

    fn word(&mut self) {
        let mut length = 1;
        while self.word_goes_on(length) {
            length += 1;
        }
        let text = self.text(self.at, self.at + length).to_lowercase();
        self.push(Kind::Word(text), length);
    }

    fn word_goes_on(&self, length: usize) -> bool {
        let before = self.char(length - 1);
        let (c, next) = (self.char(length), self.char(length + 1));
        match c {
            _ if is_letter(c) || c.is_ascii_digit() => true,
            '_' | '/' | '\\' => true,
            '.' if length == 1 && before == '.' => true,
            '.' => is_letter(next) || next.is_ascii_digit() || matches!(next, '.' | '/' | '*'),
            '-' => next.is_alphanumeric() || next == '*',
            '\'' => is_letter(next),
            ':' => matches!(next, '/' | '\\') || next.is_ascii_digit(),
            '*' => !self.operand_follows(length + 1),
            '?' => next.is_alphanumeric() || (next == '.' && is_letter(self.char(length + 2))),
            // The two languages that are spelt with a sign.
            '+' => matches!(before, 'c' | 'C') && next == '+' || before == '+',
            '#' => matches!(before, 'c' | 'C' | 'f' | 'F'),
            _ => false,
        }
    }

    fn chinese(&mut self) {
        if let Some(value) = self.chinese_number() {
            let (value, length) = value;
            self.push(Kind::Number(value.to_string()), length);
            return;
        }
        let known = CHINESE
            .iter()
            .filter(|word| self.stands_here(word))
            .max_by_key(|word| word.chars().count());
        let length = known.map_or(1, |word| word.chars().count());
        let word = self.text(self.at, self.at + length);
        let kind = match word.as_str() {
            "加上" | "加" => Kind::Operator('+'),
            "减去" | "减" => Kind::Operator('-'),
            "乘以" | "乘上" | "乘" => Kind::Operator('*'),
            "除以" => Kind::Operator('/'),
            "等于" => Kind::Equals,
            _ => Kind::Word(word),
        };
        self.push(kind, length);
    }

    fn stands_here(&self, word: &str) -> bool {
        word.chars()
            .enumerate()
            .all(|(offset, c)| self.char(offset) == c)
    }

    /// `三十七`, unless a longer word such as `一下` begins here.
    fn chinese_number(&self) -> Option<(u64, usize)> {
        if CHINESE.iter().any(|word| self.stands_here(word)) {
            return None;
        }
        let (mut total, mut section, mut digit, mut length) = (0_u64, 0_u64, None, 0);
        loop {
            let c = self.char(length);
            if let Some(value) = chinese_digit(c) {
                digit = Some(value);
            } else if let Some(unit) = chinese_unit(c) {
                section += digit.take().unwrap_or(1) * unit;
            } else if c == '万' && length > 0 {
                total += (section + digit.take().unwrap_or(0)) * 10_000;
                section = 0;
            } else {
                break;
            }
            length += 1;
            // Longer numbers are not written out; this also keeps the sum in range.
            if length > 12 {
                return None;
            }
        }
        (length > 0).then(|| (total + section + digit.unwrap_or(0), length))
    }
}

fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !is_chinese(c)
}

fn chinese_digit(c: char) -> Option<u64> {
    Some(match c {
        '零' | '〇' => 0,
        '一' => 1,
        '二' | '两' => 2,
        '三' => 3,
        '四' => 4,
        '五' => 5,
        '六' => 6,
        '七' => 7,
        '八' => 8,
        '九' => 9,
        _ => return None,
    })
}

fn chinese_unit(c: char) -> Option<u64> {
    Some(match c {
        '十' => 10,
        '百' => 100,
        '千' => 1_000,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(question: &str) -> String {
        tokens(question)
            .iter()
            .map(|token| match &token.kind {
                Kind::Number(digits) => format!("n:{digits}"),
                Kind::Ordinal(digits) => format!("{digits}th"),
                Kind::Operator(c) => c.to_string(),
                Kind::Open => "(".into(),
                Kind::Close => ")".into(),
                Kind::Equals => "=".into(),
                Kind::Comma => ",".into(),
                Kind::Stop => ".".into(),
                Kind::Quoted => format!("<{}>", token.text),
                Kind::Word(word) => word.clone(),
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn cuts_questions_into_tokens() {
        for (question, expected) in [
            ("What's 37x21?", "what's n:37 * n:21 ."),
            ("37 X 21", "n:37 x n:21"),
            ("(1+2)^3 = ?", "( n:1 + n:2 ) ^ n:3 = ."),
            ("2**10 *.5", "n:2 ^ n:10 * n:.5"),
            ("1,234.5 − 2", "n:1234.5 - n:2"),
            ("sum of 1, 2", "sum of n:1 , n:2"),
            ("the 10th power", "the 10th power"),
            (
                "on 2024-01-01 at 12:30, v1.2.3",
                "on 2024-01-01 at 12:30 , v1.2.3",
            ),
            (
                "in ./src/x? *.rs **/*.md test_?.rs",
                "in ./src/x . *.rs **/*.md test_?.rs",
            ),
            ("in .. or . now.", "in .. or . now ."),
            ("`my docs` 'a b' don't", "<my docs> <a b> don't"),
            ("compute \"3 + 4\"", "compute n:3 + n:4"),
            ("C++ and C# files", "c++ and c# files"),
            ("现在几点了？", "现在 几点 了 ."),
            ("计算3加四十二乘以二", "计算 n:3 + n:42 * n:2"),
            (
                "src目录下有多少个.rs文件",
                "src 目录 下 有 多少 个 .rs 文件",
            ),
        ] {
            assert_eq!(shape(question), expected, "{question}");
        }
    }
}
