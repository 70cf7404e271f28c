//! The width of text in a terminal.

use std::ops::RangeInclusive;

/// East Asian wide and full-width characters, and emoji.
const WIDE: [RangeInclusive<u32>; 33] = [
    0x1100..=0x115f,
    0x231a..=0x231b,
    0x2329..=0x232a,
    0x23e9..=0x23ec,
    0x25fd..=0x25fe,
    0x2614..=0x2615,
    0x2648..=0x2653,
    0x26aa..=0x26ab,
    0x26bd..=0x26be,
    0x26c4..=0x26c5,
    0x26f2..=0x26f3,
    0x270a..=0x270b,
    0x2753..=0x2755,
    0x2795..=0x2797,
    0x2b1b..=0x2b1c,
    0x2e80..=0x303e,
    0x3041..=0x33ff,
    0x3400..=0x4dbf,
    0x4e00..=0xa4cf,
    0xa960..=0xa97f,
    0xac00..=0xd7a3,
    0xf900..=0xfaff,
    0xfe10..=0xfe19,
    0xfe30..=0xfe6f,
    0xff00..=0xff60,
    0xffe0..=0xffe6,
    0x16fe0..=0x18dff,
    0x1aff0..=0x1b2ff,
    0x1f191..=0x1f19a,
    0x1f200..=0x1f64f,
    0x1f680..=0x1f6ff,
    0x1f900..=0x1faff,
    0x20000..=0x3fffd,
];

/// Wide characters in narrow ranges.
const WIDE_ONES: [u32; 23] = [
    0x23f0, 0x23f3, 0x267f, 0x2693, 0x26a1, 0x26ce, 0x26d4, 0x26ea, 0x26f5, 0x26fa, 0x26fd, 0x2705,
    0x2728, 0x274c, 0x274e, 0x2757, 0x27b0, 0x27bf, 0x2b50, 0x2b55, 0x1f004, 0x1f0cf, 0x1f18e,
];

/// Characters that combine with the previous one.
const COMBINING: [RangeInclusive<u32>; 24] = [
    0x300..=0x36f,
    0x483..=0x489,
    0x591..=0x5bd,
    0x610..=0x61a,
    0x64b..=0x65f,
    0x93a..=0x93a,
    0x93c..=0x93c,
    0x941..=0x948,
    0x94d..=0x94d,
    0xe31..=0xe31,
    0xe34..=0xe3a,
    0xe47..=0xe4e,
    0x1160..=0x11ff,
    0x1ab0..=0x1aff,
    0x1dc0..=0x1dff,
    0x200b..=0x200f,
    0x202a..=0x202e,
    0x2060..=0x2064,
    0x20d0..=0x20ff,
    0x3099..=0x309a,
    0xfe00..=0xfe0f,
    0xfe20..=0xfe2f,
    0x1f3fb..=0x1f3ff,
    0xe0100..=0xe01ef,
];

const JOINER: char = '\u{200d}';

/// Splits a text into the characters that a terminal shows, each with its width.
///
/// A character includes its combining and joined characters. Control characters become spaces.
pub(super) fn glyphs(text: &str) -> Vec<(String, usize)> {
    let mut glyphs: Vec<(String, usize)> = Vec::new();
    let mut joined = false;
    for c in text.chars() {
        let c = if c.is_control() { ' ' } else { c };
        let code = u32::from(c);
        let over = joined || COMBINING.iter().any(|range| range.contains(&code));
        match glyphs.last_mut().filter(|_| over) {
            Some((glyph, _)) => glyph.push(c),
            None if over => {}
            None => {
                let wide = WIDE.iter().any(|range| range.contains(&code));
                let columns = if wide || WIDE_ONES.contains(&code) {
                    2
                } else {
                    1
                };
                glyphs.push((c.to_string(), columns));
            }
        }
        joined = c == JOINER;
    }
    glyphs
}

/// Returns the width of a text in columns.
pub(super) fn width(text: &str) -> usize {
    glyphs(text).iter().map(|(_, columns)| columns).sum()
}
