//! Tools that the rules do not know: what their schemas ask for, and what of it a question gives.

use langgraph_agent::ToolDefinition;
use serde_json::{Map, Value};

/// Time zones by their places, for tools that want the name of a zone.
const ZONES: &[&str] = &[
    "Africa/Cairo",
    "Africa/Johannesburg",
    "Africa/Lagos",
    "Africa/Nairobi",
    "America/Anchorage",
    "America/Bogota",
    "America/Chicago",
    "America/Denver",
    "America/Halifax",
    "America/Lima",
    "America/Los_Angeles",
    "America/Mexico_City",
    "America/New_York",
    "America/Phoenix",
    "America/Santiago",
    "America/Sao_Paulo",
    "America/Toronto",
    "America/Vancouver",
    "Asia/Bangkok",
    "Asia/Dhaka",
    "Asia/Dubai",
    "Asia/Hong_Kong",
    "Asia/Istanbul",
    "Asia/Jakarta",
    "Asia/Jerusalem",
    "Asia/Karachi",
    "Asia/Kathmandu",
    "Asia/Kolkata",
    "Asia/Manila",
    "Asia/Riyadh",
    "Asia/Seoul",
    "Asia/Shanghai",
    "Asia/Singapore",
    "Asia/Taipei",
    "Asia/Tehran",
    "Asia/Tokyo",
    "Atlantic/Reykjavik",
    "Australia/Melbourne",
    "Australia/Perth",
    "Australia/Sydney",
    "Europe/Amsterdam",
    "Europe/Athens",
    "Europe/Berlin",
    "Europe/Brussels",
    "Europe/Bucharest",
    "Europe/Copenhagen",
    "Europe/Dublin",
    "Europe/Helsinki",
    "Europe/Kyiv",
    "Europe/Lisbon",
    "Europe/London",
    "Europe/Madrid",
    "Europe/Moscow",
    "Europe/Oslo",
    "Europe/Paris",
    "Europe/Prague",
    "Europe/Rome",
    "Europe/Stockholm",
    "Europe/Vienna",
    "Europe/Warsaw",
    "Europe/Zurich",
    "Pacific/Auckland",
    "Pacific/Honolulu",
];

/// Words that say nothing about what a tool does.
const EMPTY_WORDS: &[&str] = &[
    "the", "and", "for", "get", "set", "with", "from", "that", "this", "what", "which", "tool",
    "use", "are", "how", "you", "can", "your", "all", "run",
];

/// Returns true if a call with these arguments follows the schema as far as names go: everything
/// required is there, and nothing that the tool does not know.
pub fn fits(parameters: &Value, arguments: &Value) -> bool {
    let known = parameters.get("properties").and_then(Value::as_object);
    let knows = |name: &String| known.is_none_or(|known| known.contains_key(name));
    let given = arguments.as_object();
    let has = |name: &str| given.is_some_and(|given| given.contains_key(name));
    required(parameters).all(has) && given.is_none_or(|given| given.keys().all(knows))
}

/// Returns the tool that a question is about, with its arguments: the first whose name or description
/// shares words with it, and whose required arguments it gives.
///
/// ```
/// use langgraph_agent::ToolDefinition;
/// use langgraph_examples::unknown_tools::choose;
/// use serde_json::json;
///
/// let sum = ToolDefinition::new("get-sum", "Adds numbers.", json!({
///     "type": "object",
///     "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
///     "required": ["a", "b"],
/// }));
/// let (tool, arguments) = choose("What is the sum of 2 and 3?", &[&sum]).unwrap();
/// assert_eq!((tool.name.as_str(), arguments), ("get-sum", json!({"a": 2, "b": 3})));
/// // It lacks a number.
/// assert!(choose("What is the sum of 2?", &[&sum]).is_none());
/// ```
pub fn choose<'a>(
    question: &str,
    tools: &[&'a ToolDefinition],
) -> Option<(&'a ToolDefinition, Value)> {
    let asked = words(question);
    let mut scored: Vec<_> = tools
        .iter()
        .map(|tool| {
            let shared = |text: &str| {
                words(text)
                    .iter()
                    .filter(|word| asked.contains(word))
                    .count()
            };
            (3 * shared(&tool.name) + shared(&tool.description), *tool)
        })
        .filter(|(score, tool)| *score >= 3 || (*score > 0 && !tool.description.is_empty()))
        .collect();
    // The best first, and among equals as they are offered.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    scored
        .into_iter()
        .find_map(|(_, tool)| Some((tool, fill(tool, question)?)))
}

/// Returns the arguments that a question gives to a tool; `None` if a required one is not in it.
pub fn fill(tool: &ToolDefinition, question: &str) -> Option<Value> {
    let properties = tool.parameters.get("properties").and_then(Value::as_object);
    let mut numbers = numbers(question).into_iter();
    let mut arguments = Map::new();
    for (name, schema) in properties.into_iter().flatten() {
        let is_required = required(&tool.parameters).any(|required| required == name);
        let value = match one_of(schema, question) {
            Some(value) => Some(value),
            None if is_required => value(tool, name, schema, question, &mut numbers),
            None => None,
        };
        match value.or_else(|| schema.get("default").filter(|_| is_required).cloned()) {
            Some(value) => {
                arguments.insert(name.clone(), value);
            }
            None if is_required => return None,
            None => {}
        }
    }
    let arguments = Value::Object(arguments);
    // A schema may require what it does not describe.
    fits(&tool.parameters, &arguments).then_some(arguments)
}

fn required(parameters: &Value) -> impl Iterator<Item = &str> {
    let required = parameters.get("required").and_then(Value::as_array);
    required.into_iter().flatten().filter_map(Value::as_str)
}

/// The value of an enumeration that the question names.
fn one_of(schema: &Value, question: &str) -> Option<Value> {
    let question = question.to_lowercase();
    let values = schema.get("enum").and_then(Value::as_array)?;
    let named = |value: &&Value| {
        let text = value.as_str().map(str::to_lowercase);
        text.is_some_and(|text| !text.is_empty() && question.contains(&text))
    };
    values.iter().find(named).cloned()
}

fn value(
    tool: &ToolDefinition,
    name: &str,
    schema: &Value,
    question: &str,
    numbers: &mut impl Iterator<Item = Value>,
) -> Option<Value> {
    if schema.get("enum").is_some() {
        return None;
    }
    let described = schema
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let about = format!("{name} {described}").to_lowercase();
    match schema.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => numbers.next(),
        Some("string") if about.contains("timezone") || about.contains("time zone") => {
            zone(question, described).map(Value::from)
        }
        Some("string") => text(tool, name, question).map(Value::from),
        _ => None,
    }
}

/// The zone of the place that the question names; the one that the tool recommends if it names none.
fn zone(question: &str, described: &str) -> Option<String> {
    let asked = question.to_lowercase();
    let place = |zone: &&&str| {
        let city = zone.rsplit('/').next().unwrap_or_default();
        asked.contains(&city.replace('_', " ").to_lowercase())
    };
    if let Some(zone) = ZONES.iter().find(place) {
        return Some((*zone).to_owned());
    }
    if place_after(question, &["in", "at"]).is_some() {
        return None; // a place that is not in the list
    }
    let recommended = described.split("Use '").nth(1)?;
    recommended.split('\'').next().map(str::to_owned)
}

fn text(tool: &ToolDefinition, name: &str, question: &str) -> Option<String> {
    const CONTENT: &[&str] = &[
        "message",
        "text",
        "query",
        "q",
        "question",
        "input",
        "prompt",
        "content",
        "search",
        "topic",
        "term",
        "semantic_query",
    ];
    const PLACES: &[&str] = &["city", "location", "place", "country", "town"];
    let name = name.to_lowercase();
    if let Some(quoted) = quoted(question) {
        return Some(quoted);
    }
    if name.contains("url") || name.contains("uri") {
        let address = |word: &&str| word.contains("://");
        return question.split_whitespace().find(address).map(str::to_owned);
    }
    if name.contains("path") || name.contains("file") || name.contains("folder") {
        let path = |word: &&str| word.contains('/') || word.trim_end_matches('.').contains('.');
        let path = question.split_whitespace().find(path)?;
        return Some(path.trim_end_matches(['?', '.', ',', '!']).to_owned());
    }
    if PLACES.contains(&&*name) {
        return place_after(question, &["in", "for", "of", "at", "to"]);
    }
    CONTENT
        .contains(&&*name)
        .then(|| said_to(tool, question))
        .flatten()
}

/// The question without the name of the tool at its start: `Echo hello` is `hello`.
fn said_to(tool: &ToolDefinition, question: &str) -> Option<String> {
    let question = question.trim().trim_end_matches(['?', '!', '.']);
    let (first, rest) = question
        .split_once(char::is_whitespace)
        .unwrap_or((question, ""));
    let is_name = words(&tool.name).contains(&first.to_lowercase());
    let said = if is_name { rest.trim() } else { question };
    (!said.is_empty()).then(|| said.to_owned())
}

/// `Paris` in `in Paris today`.
fn place_after(question: &str, before: &[&str]) -> Option<String> {
    let mut words = question.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let capital = |next: &&str| next.starts_with(char::is_uppercase);
        if !before.contains(&&*word.to_lowercase()) || !words.peek().is_some_and(capital) {
            continue;
        }
        let mut place: Vec<&str> = Vec::new();
        while let Some(next) = words.next_if(capital) {
            place.push(next.trim_end_matches(['?', ',', '.', '!']));
        }
        return Some(place.join(" "));
    }
    None
}

fn quoted(question: &str) -> Option<String> {
    for (open, close) in [('"', '"'), ('\u{201c}', '\u{201d}')] {
        let after = question.split_once(open).map(|(_, after)| after);
        if let Some((inside, _)) = after.and_then(|after| after.split_once(close)) {
            return Some(inside.to_owned());
        }
    }
    None
}

fn numbers(question: &str) -> Vec<Value> {
    let pieces = question.split(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | '-'));
    let pieces = pieces.map(|piece| piece.trim_end_matches(['.', '-']));
    let number = |piece: &str| {
        let whole = piece.parse::<i64>().ok().map(Value::from);
        whole.or_else(|| piece.parse::<f64>().ok().map(Value::from))
    };
    pieces.filter_map(number).collect()
}

/// The words of a text that say something, in lower case.
fn words(text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric());
    let says = |word: &&str| word.chars().count() > 2 && !EMPTY_WORDS.contains(word);
    words.filter(says).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, parameters: Value) -> ToolDefinition {
        ToolDefinition::new(name, "", parameters)
    }

    fn clock() -> ToolDefinition {
        let described = "IANA timezone name. Use 'Etc/UTC' as local timezone if none is provided.";
        tool(
            "get_current_time",
            json!({
                "type": "object",
                "properties": {"timezone": {"type": "string", "description": described}},
                "required": ["timezone"],
            }),
        )
    }

    #[test]
    fn a_place_becomes_its_time_zone() {
        for (question, expected) in [
            ("What time is it in Tokyo?", Some("Asia/Tokyo")),
            (
                "what time is it in new york right now",
                Some("America/New_York"),
            ),
            ("What time is it?", Some("Etc/UTC")),
            ("What time is it in Atlantis?", None),
        ] {
            let filled = fill(&clock(), question);
            let expected = expected.map(|zone| json!({"timezone": zone}));
            assert_eq!(filled, expected, "{question}");
        }
    }

    #[test]
    fn what_a_question_does_not_give_is_not_made_up() {
        let booking = tool(
            "book_table",
            json!({
                "type": "object",
                "properties": {"city": {"type": "string"}, "guests": {"type": "integer"}, "vip": {"type": "boolean"}},
                "required": ["city", "guests"],
            }),
        );
        let filled = fill(&booking, "Book a table in San Juan for 4");
        assert_eq!(filled, Some(json!({"city": "San Juan", "guests": 4})));
        assert_eq!(fill(&booking, "Book a table in Lisbon"), None);
        assert_eq!(fill(&booking, "Book a table for 4"), None);
        let secret = tool(
            "open",
            json!({
                "type": "object",
                "properties": {"token": {"type": "string"}},
                "required": ["token"],
            }),
        );
        assert_eq!(fill(&secret, "Open the door"), None);
    }

    #[test]
    fn quotations_enumerations_and_the_rest_of_a_sentence_are_read() {
        let echo = tool(
            "echo",
            json!({
                "type": "object",
                "properties": {"message": {"type": "string"}},
                "required": ["message"],
            }),
        );
        assert_eq!(
            fill(&echo, "Echo hello there!"),
            Some(json!({"message": "hello there"}))
        );
        assert_eq!(
            fill(&echo, "Please echo \"hi\"."),
            Some(json!({"message": "hi"}))
        );
        let weather = tool(
            "weather",
            json!({
                "type": "object",
                "properties": {"location": {"type": "string", "enum": ["New York", "Chicago"]}},
                "required": ["location"],
            }),
        );
        assert_eq!(
            fill(&weather, "The weather in chicago?"),
            Some(json!({"location": "Chicago"}))
        );
        assert_eq!(fill(&weather, "The weather in Rome?"), None);
    }

    #[test]
    fn a_call_fits_if_it_has_what_is_required_and_nothing_unknown() {
        let parameters = &clock().parameters;
        assert!(fits(parameters, &json!({"timezone": "Asia/Tokyo"})));
        assert!(!fits(parameters, &json!({})));
        assert!(!fits(
            parameters,
            &json!({"timezone": "Asia/Tokyo", "zone": "utc"})
        ));
        assert!(fits(&Value::Null, &json!({"anything": 1})));
    }
}
