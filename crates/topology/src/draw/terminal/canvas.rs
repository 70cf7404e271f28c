//! A page of characters that joins crossing lines.

use std::fmt;

use super::width::{glyphs, width};

/// The strength of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pen {
    #[default]
    None,
    Dotted,
    Light,
    Heavy,
}

/// The strength of the four lines that leave a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Strokes {
    up: Pen,
    down: Pen,
    left: Pen,
    right: Pen,
}

#[derive(Clone, Debug, Default)]
enum Cell {
    #[default]
    Empty,
    Lines(Strokes),
    Glyph(String),
    /// The second column of the glyph before it.
    Covered,
}

/// A page that grows as needed. Columns and rows count from the upper left.
#[derive(Clone, Debug, Default)]
pub(super) struct Canvas {
    rows: Vec<Vec<Cell>>,
}

/// The box-drawing characters, indexed by the strength of the lines up, down, left and right. None,
/// light and heavy are the digits of a number in base three.
const CROSSINGS: &str = " ╶╺╴─╼╸╾━╷┌┍┐┬┮┑┭┯╻┎┏┒┰┲┓┱┳\
                         ╵└┕┘┴┶┙┵┷│├┝┤┼┾┥┽┿╽┟┢┧╁╆┪╅╈\
                         ╹┖┗┚┸┺┛┹┻╿┞┡┦╀╄┩╃╇┃┠┣┨╂╊┫╉╋";

impl Strokes {
    pub(super) fn vertical(pen: Pen) -> Self {
        Self {
            up: pen,
            down: pen,
            ..Self::default()
        }
    }

    pub(super) fn horizontal(pen: Pen) -> Self {
        Self {
            left: pen,
            right: pen,
            ..Self::default()
        }
    }

    pub(super) fn up(pen: Pen) -> Self {
        Self {
            up: pen,
            ..Self::default()
        }
    }

    pub(super) fn down(pen: Pen) -> Self {
        Self {
            down: pen,
            ..Self::default()
        }
    }

    pub(super) fn left(pen: Pen) -> Self {
        Self {
            left: pen,
            ..Self::default()
        }
    }

    pub(super) fn right(pen: Pen) -> Self {
        Self {
            right: pen,
            ..Self::default()
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            up: self.up.max(other.up),
            down: self.down.max(other.down),
            left: self.left.max(other.left),
            right: self.right.max(other.right),
        }
    }

    fn glyph(self) -> char {
        if self == Self::vertical(Pen::Dotted) {
            return '┊';
        }
        if self == Self::horizontal(Pen::Dotted) {
            return '┄';
        }
        let digit = |pen| match pen {
            Pen::None => 0,
            Pen::Dotted | Pen::Light => 1,
            Pen::Heavy => 2,
        };
        let directions = [self.up, self.down, self.left, self.right];
        let place = directions
            .into_iter()
            .fold(0, |place, pen| place * 3 + digit(pen));
        CROSSINGS.chars().nth(place).unwrap_or(' ')
    }
}

impl Canvas {
    pub(super) fn height(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn width(&self) -> usize {
        self.rows.iter().map(Vec::len).max().unwrap_or_default()
    }

    fn cell(&mut self, x: usize, y: usize) -> Option<&mut Cell> {
        if self.rows.len() <= y {
            self.rows.resize_with(y + 1, Vec::new);
        }
        let row = self.rows.get_mut(y)?;
        if row.len() <= x {
            row.resize_with(x + 1, Cell::default);
        }
        row.get_mut(x)
    }

    fn set(&mut self, x: usize, y: usize, new: Cell) {
        if let Some(cell) = self.cell(x, y) {
            *cell = new;
        }
    }

    /// Adds lines to a cell; text stays.
    pub(super) fn stroke(&mut self, x: usize, y: usize, strokes: Strokes) {
        let Some(cell) = self.cell(x, y) else { return };
        match cell {
            Cell::Empty => *cell = Cell::Lines(strokes),
            Cell::Lines(lines) => *lines = lines.and(strokes),
            Cell::Glyph(_) | Cell::Covered => {}
        }
    }

    pub(super) fn glyph(&mut self, x: usize, y: usize, glyph: &str) {
        self.set(x, y, Cell::Glyph(glyph.to_owned()));
    }

    pub(super) fn text(&mut self, mut x: usize, y: usize, text: &str) {
        for (glyph, columns) in glyphs(text) {
            self.set(x, y, Cell::Glyph(glyph));
            for column in 1..columns {
                self.set(x + column, y, Cell::Covered);
            }
            x += columns;
        }
    }

    /// Writes a text centered in `columns`.
    pub(super) fn centered(&mut self, x: usize, y: usize, columns: usize, text: &str) {
        self.text(x + columns.saturating_sub(width(text)) / 2, y, text);
    }

    /// Copies another page onto this one.
    pub(super) fn paste(&mut self, x: usize, y: usize, other: &Self) {
        for (dy, row) in other.rows.iter().enumerate() {
            for (dx, cell) in row.iter().enumerate() {
                if !matches!(cell, Cell::Empty) {
                    self.set(x + dx, y + dy, cell.clone());
                }
            }
        }
    }
}

impl fmt::Display for Canvas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            let mut line = String::new();
            for cell in row {
                match cell {
                    Cell::Empty => line.push(' '),
                    Cell::Lines(strokes) => line.push(strokes.glyph()),
                    Cell::Glyph(glyph) => line.push_str(glyph),
                    Cell::Covered => {}
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
