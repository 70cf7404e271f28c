//! Random questions whose answers are known.

use std::path::Path;

/// A random calculation in words, and its value worked out here.
fn arithmetic(random: &mut fastrand::Rng) -> (String, i64) {
    let (a, b, c) = (random.i64(1..500), random.i64(1..500), random.i64(1..50));
    let d = b * c;
    let forms = [
        (format!("{a} * {b}"), a * b),
        (format!("{a} x {b}"), a * b),
        (format!("{a}×{b}"), a * b),
        (format!("{a} times {b}"), a * b),
        (format!("{a} plus {b} times {c}"), a + b * c),
        (format!("{a} + {b} * {c} - {a}"), b * c),
        (format!("({a} + {b}) * {c}"), (a + b) * c),
        (format!("({a}-{b})^3"), (a - b).pow(3)),
        (format!("{a} minus {b}"), a - b),
        (format!("{d} divided by {c}"), b),
        (format!("{d} / {c} + -{a}"), b - a),
        (format!("the sum of {a} and {b}"), a + b),
        (format!("the product of {a} and {b}"), a * b),
        (format!("the difference between {a} and {b}"), a - b),
        (format!("{a} mod {c}"), a % c),
        (format!("{a} squared"), a * a),
        (format!("{c} to the power of 3"), c.pow(3)),
        (format!("twice the sum of {a} and {b}"), 2 * (a + b)),
    ];
    forms[random.usize(..forms.len())].clone()
}

pub(crate) fn arithmetic_question(random: &mut fastrand::Rng) -> (String, i64) {
    let (said, value) = arithmetic(random);
    let openings = [
        "What is",
        "what's",
        "Compute",
        "How much is",
        "Please calculate",
        "Work out",
    ];
    let opening = openings[random.usize(..openings.len())];
    (format!("{opening} {said}"), value)
}

/// A random question about the files of a fresh folder, and their number.
pub(crate) fn files_question(random: &mut fastrand::Rng, root: &Path) -> (String, usize) {
    let types = [
        (".rs", "rust"),
        (".toml", "toml"),
        (".md", "markdown"),
        (".json", "json"),
        (".txt", "text"),
        (".xyz", ".xyz"),
        (".q7", "*.q7"),
    ];
    let (extension, name) = types[random.usize(..types.len())];
    let folder = ["", "sub", "a/b", "my docs"][random.usize(..4)];
    let count = random.usize(0..12);
    let below = root.join(folder);
    for index in 0..count {
        let deep = below.join(["", "deep", "deep/er"][index % 3]);
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join(format!("f{index}{extension}")), "").unwrap();
    }
    // What must not be counted.
    for other in ["target/x", ".hidden/x", "deep/other"] {
        let path = below.join(format!("{other}{extension}x"));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "").unwrap();
        if !other.starts_with("deep") {
            std::fs::write(path.with_file_name(format!("x{extension}")), "").unwrap();
        }
    }
    let place =
        match folder {
            "" => ["in this folder", "here", "in the current directory", ""][random.usize(..4)]
                .to_owned(),
            "sub" => ["in sub", "in the sub folder", "under ./sub", "in sub/"][random.usize(..4)]
                .to_owned(),
            _ => [
                format!("in \"{folder}\""),
                format!("in the folder `{folder}`"),
            ][random.usize(..2)]
            .clone(),
        };
    let questions = [
        format!("how many {extension} files are {place}?"),
        format!("how many {name} files are there {place}?"),
        format!("count the {name} files {place}"),
        format!("What is the number of {extension} files {place}?"),
        format!("how many files ending in {extension} are {place}?"),
        format!("how many files have the extension {extension} {place}?"),
        format!("How many *{extension} files do I have {place}?"),
    ];
    (questions[random.usize(..questions.len())].clone(), count)
}

/// Two questions in one, in one of four ways.
pub(crate) fn both(way: usize, sum: &str, files: &str) -> String {
    match way % 4 {
        0 => format!("{sum}, and {files}"),
        1 => format!("{sum}? {files}"),
        2 => format!("{}? And {sum}?", files.trim_end_matches('?')),
        _ => format!("Hi! {sum} and {files}"),
    }
}

/// Checks that an answer names the number of files.
pub(crate) fn assert_counts(answer: &str, count: usize, question: &str) {
    let verb = if count == 1 { "is" } else { "are" };
    let expected = format!("there {verb} {count} ");
    let lower = answer.to_lowercase();
    assert!(
        lower.contains(&expected),
        "{question}\n{answer}\nexpected `{expected}`"
    );
}
