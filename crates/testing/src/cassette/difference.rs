//! How a request differs from the nearest recorded one.

use langgraph_agent::ChatRequest;
use serde::Serialize;

/// Returns the difference to the nearest of `known`, line by line.
pub(super) fn difference<'a>(
    known: impl Iterator<Item = &'a ChatRequest>,
    request: &ChatRequest,
) -> String {
    let wanted = lines(request);
    let known: Vec<_> = known.map(lines).collect();
    let nearest = known
        .iter()
        .map(|known| diff(known, &wanted))
        .min_by_key(|diff| diff.iter().filter(|(mark, _)| *mark != ' ').count());
    match nearest {
        None => "nothing is recorded".to_owned(),
        Some(diff) => {
            let changed: Vec<_> = diff.iter().map(|(mark, _)| *mark != ' ').collect();
            let near = |index: usize| {
                let around = index.saturating_sub(1)..=index + 1;
                changed
                    .iter()
                    .enumerate()
                    .any(|(at, changed)| *changed && around.contains(&at))
            };
            let shown = diff.iter().enumerate().filter(|(index, _)| near(*index));
            let shown: Vec<_> = shown
                .map(|(_, (mark, line))| format!("{mark} {line}"))
                .collect();
            format!(
                "the nearest recorded request (-) and this one (+):\n{}",
                shown.join("\n")
            )
        }
    }
}

/// Returns the JSON of a request, without the messages' ids.
fn lines(request: &impl Serialize) -> Vec<String> {
    let mut value = serde_json::to_value(request).unwrap_or_default();
    for message in value["messages"].as_array_mut().into_iter().flatten() {
        if let Some(message) = message.as_object_mut() {
            message.remove("id");
        }
    }
    let text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Returns the lines of both, in order: `-` only in `old`, `+` only in `new`.
fn diff<'a>(old: &'a [String], new: &'a [String]) -> Vec<(char, &'a str)> {
    // The length of the longest common subsequence of each pair of tails.
    let mut common = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    let at = |common: &Vec<Vec<usize>>, i: usize, j: usize| -> usize {
        common
            .get(i)
            .and_then(|row| row.get(j))
            .copied()
            .unwrap_or(0)
    };
    for (i, a) in old.iter().enumerate().rev() {
        for (j, b) in new.iter().enumerate().rev() {
            let length = if a == b {
                at(&common, i + 1, j + 1) + 1
            } else {
                at(&common, i + 1, j).max(at(&common, i, j + 1))
            };
            if let Some(cell) = common.get_mut(i).and_then(|row| row.get_mut(j)) {
                *cell = length;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    loop {
        match (old.get(i), new.get(j)) {
            (Some(a), Some(b)) if a == b => {
                lines.push((' ', a.as_str()));
                (i, j) = (i + 1, j + 1);
            }
            (Some(a), Some(_)) if at(&common, i + 1, j) >= at(&common, i, j + 1) => {
                lines.push(('-', a.as_str()));
                i += 1;
            }
            (_, Some(b)) => {
                lines.push(('+', b.as_str()));
                j += 1;
            }
            (Some(a), None) => {
                lines.push(('-', a.as_str()));
                i += 1;
            }
            (None, None) => return lines,
        }
    }
}
