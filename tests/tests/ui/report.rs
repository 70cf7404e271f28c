//! What rustc says, without what depends on the machine, and on lines of our crates that a program only refers to.

/// The messages of a run of rustc, from its JSON.
pub(crate) fn normalize(reported: &str) -> String {
    let diagnostics = reported.lines().map(|line| {
        let diagnostic: serde_json::Value = serde_json::from_str(line).expect(line);
        let rendered = diagnostic["rendered"].as_str().unwrap_or_default();
        rendered.to_owned()
    });
    let messages =
        diagnostics.filter(|text| !SUMMARIES.iter().any(|start| text.starts_with(start)));
    let messages: Vec<String> = messages.map(|text| message(&text)).collect();
    messages.join("\n")
}

/// The last messages, which only count the others.
const SUMMARIES: [&str; 3] = [
    "error: aborting due to ",
    "For more information about ",
    "Some errors have detailed explanations: ",
];

/// A message, with numbers for lines of the program alone, and a gutter that is as wide as these.
fn message(text: &str) -> String {
    let mut place = Place::Heading;
    let mut numbers = 1;
    let mut gutter = 1;
    let mut lines: Vec<(Place, String)> = Vec::new();
    let text = text.trim_end().lines();
    for line in text.filter(|line| !LONG_TYPE.iter().any(|part| line.contains(part))) {
        let (number, rest) = gutter_of(line);
        let line = if let Some(path) = path_of(rest) {
            let arrow = &line[..line.len() - path.len()];
            gutter = arrow.trim_end().len() - "-->".len();
            if let Some(path) = path.strip_prefix("tests/ui/") {
                place = Place::Program;
                format!("{arrow}ui/{path}")
            } else {
                place = Place::Elsewhere;
                format!("{arrow}$WORKSPACE/{}", without_position(path))
            }
        } else {
            place = place.next(line, number, rest);
            if place == Place::Elsewhere {
                line.replacen(number, &" ".repeat(number.len()), 1)
            } else {
                numbers = numbers.max(number.len());
                and_others(line)
            }
        };
        lines.push((place, line.trim_end().to_owned()));
    }
    let blanks = " ".repeat(gutter.saturating_sub(numbers));
    let lines = lines.iter().map(|(place, line)| {
        let narrow = line.strip_prefix(&blanks);
        let narrow = narrow.filter(|_| *place != Place::Heading);
        format!("{}\n", narrow.unwrap_or(line))
    });
    lines.collect()
}

/// What the lines of a message are about.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Words of rustc at the start of a line, and what continues them.
    Heading,
    Program,
    Elsewhere,
}

impl Place {
    fn next(self, line: &str, number: &str, rest: &str) -> Self {
        let has_gutter = !number.is_empty() || rest.starts_with('|');
        match self {
            _ if !has_gutter && !line.starts_with([' ', '.']) => Self::Heading,
            Self::Heading if has_gutter => Self::Program,
            place => place,
        }
    }
}

/// The path in the line that names a place.
fn path_of(line: &str) -> Option<&str> {
    let path = line.strip_prefix("--> ");
    path.or_else(|| line.strip_prefix("::: "))
}

/// Lines about a file to which rustc has written a long type.
const LONG_TYPE: [&str; 2] = [
    "has been written to",
    "to print the full type name to the console",
];

/// The number before a line of a program, and what follows it.
fn gutter_of(line: &str) -> (&str, &str) {
    let line = line.trim_start();
    let (number, rest) = line.split_at(digits(line));
    (number, rest.trim_start())
}

fn digits(line: &str) -> usize {
    line.bytes().take_while(u8::is_ascii_digit).count()
}

/// `src/lib.rs:3:14` is `src/lib.rs`.
fn without_position(line: &str) -> &str {
    line.trim_end_matches(|c: char| c == ':' || c.is_ascii_digit())
}

/// How many more types there are changes with each of our traits.
fn and_others(line: &str) -> String {
    let number = line.trim_start().strip_prefix("and ");
    match number.and_then(|rest| rest.strip_suffix(" others")) {
        Some(number) if number.len() == digits(number) => line.replacen(number, "$N", 1),
        _ => line.to_owned(),
    }
}
