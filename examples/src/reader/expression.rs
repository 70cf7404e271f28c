//! Pieces of an expression, put together with as few parentheses as it takes.

/// How tightly the outermost operator of a piece binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Sum,
    Product,
    Sign,
    Power,
    Atom,
}

/// A part of an expression in the calculator's spelling.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    text: String,
    level: Level,
    /// Whether there is something to work out, beyond a plain number.
    is_calculation: bool,
}

impl Piece {
    pub(super) fn number(digits: impl Into<String>) -> Self {
        Piece {
            text: digits.into(),
            level: Level::Atom,
            is_calculation: false,
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_calculation(&self) -> bool {
        self.is_calculation
    }

    /// A hundredth of it; `15%` alone is still a plain number.
    pub(super) fn percent(self) -> Self {
        let is_calculation = self.is_calculation;
        Piece {
            is_calculation,
            ..self.with('/', Piece::number("100"))
        }
    }

    pub(super) fn negative(self) -> Self {
        let operand = self.at_least(Level::Sign);
        Piece {
            text: format!("-{}", operand.text),
            level: Level::Sign,
            is_calculation: operand.is_calculation,
        }
    }

    /// `self operator right`, for one of `+ - * / % ^`.
    pub(super) fn with(self, operator: char, right: Piece) -> Self {
        let (level, left_level, right_level) = match operator {
            '+' | '-' => (Level::Sum, Level::Sum, Level::Product),
            '^' => (Level::Power, Level::Atom, Level::Sign),
            _ => (Level::Product, Level::Product, Level::Sign),
        };
        let mut left = self.at_least(left_level);
        let right = right.at_least(right_level);
        // Pushed instead of formatted: a long sum is then built in linear time.
        left.text.push(' ');
        left.text.push(operator);
        left.text.push(' ');
        left.text.push_str(&right.text);
        left.level = level;
        left.is_calculation = true;
        left
    }

    fn at_least(mut self, level: Level) -> Self {
        if self.level < level {
            self.text.insert(0, '(');
            self.text.push(')');
            self.level = Level::Atom;
        }
        self
    }
}
