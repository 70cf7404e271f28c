//! Tables of text.

use std::fmt::Write as _;

/// Returns the first row: names, and an empty last column.
pub(crate) fn header(first: &str, others: &[&str]) -> Vec<String> {
    let names = std::iter::once(&first).chain(others);
    let names = names.map(|name| (*name).to_owned());
    names.chain([String::new()]).collect()
}

/// Returns a number with two digits.
pub(crate) fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
}

/// Writes rows with aligned columns.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut table = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  "); // writing to a String never fails
        }
        table.push_str(line.trim_end());
        table.push('\n');
    }
    table
}
