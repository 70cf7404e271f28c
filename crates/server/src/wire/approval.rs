//! Approvals of tool calls, in the forms that LangGraph's front ends know.
//!
//! Our interrupt is one call: `{"type": "tool_approval", "call", …}`. `LangChain`'s middleware asks
//! with `action_requests` and `review_configs`, Agent Inbox with `action_request` and `config`. The
//! payload carries all of them, and answers of each form are understood.

use langgraph::interrupt::Interrupt;
use serde_json::{Map, Value, json};

/// Returns true for the payload of an approval.
pub(super) fn is_approval(payload: &Value) -> bool {
    payload["type"] == "tool_approval" && payload["call"].is_object()
}

/// Returns the payload of an interrupt with what front ends look for.
pub(crate) fn payload_out(payload: &Value) -> Value {
    let mut out = payload.clone();
    if !is_approval(payload) {
        return out;
    }
    let (name, arguments) = (&payload["call"]["name"], &payload["call"]["arguments"]);
    let allowed = payload["allowed"].as_array().cloned().unwrap_or_default();
    let allows = |kind: &str| allowed.iter().any(|one| one == kind);
    let decisions: Vec<Value> = allowed
        .iter()
        .map(|kind| {
            if kind == "answer" {
                json!("respond")
            } else {
                kind.clone()
            }
        })
        .collect();
    out["action_requests"] = json!([{
        "name": name, "args": arguments, "description": payload["description"],
    }]);
    out["review_configs"] = json!([{"action_name": name, "allowed_decisions": decisions}]);
    out["action_request"] = json!({"action": name, "args": arguments});
    out["config"] = json!({
        "allow_accept": allows("approve"), "allow_edit": allows("edit"),
        "allow_respond": allows("answer"), "allow_ignore": allows("reject"),
    });
    out
}

/// Reads an answer to open interrupts. Decisions in a front end's form become a map from the ids of
/// the approvals, in their order; every other answer stays as it is.
pub(crate) fn answer_in(open: &[Interrupt], answer: Value) -> Value {
    let approvals = open
        .iter()
        .filter(|interrupt| is_approval(&interrupt.payload));
    if let Some(decisions) = decisions(&answer) {
        let pairs: Map<String, Value> = approvals
            .zip(decisions)
            .map(|(interrupt, decision)| (interrupt.id.clone(), decision_in(decision)))
            .collect();
        return if pairs.is_empty() {
            answer
        } else {
            Value::Object(pairs)
        };
    }
    let Value::Object(mut given) = answer else {
        return answer;
    };
    for interrupt in approvals {
        for key in [&interrupt.id, &interrupt.key] {
            if let Some(value) = given.get_mut(key) {
                let one = decisions(value).and_then(<[Value]>::first).cloned();
                *value = decision_in(&one.unwrap_or_else(|| value.take()));
            }
        }
    }
    if given.contains_key("type") {
        return decision_in(&Value::Object(given));
    }
    Value::Object(given)
}

/// Names the user in the answers to approvals: who sends an answer has given it.
///
/// # Errors
///
/// If an answer names another person.
pub(crate) fn name_answers(
    open: &[Interrupt],
    answer: &mut Value,
    user: &str,
) -> Result<(), String> {
    let approvals = open
        .iter()
        .filter(|interrupt| is_approval(&interrupt.payload));
    let mut names: Vec<&str> = Vec::new();
    for interrupt in approvals {
        names.extend([&*interrupt.id, &*interrupt.key]);
    }
    let Value::Object(given) = answer else {
        return Ok(());
    };
    if names.is_empty() {
        return Ok(());
    }
    if given.get("type").is_some_and(Value::is_string) {
        return name_answer(answer, user);
    }
    for (key, value) in given {
        if names.contains(&key.as_str()) {
            name_answer(value, user)?;
        }
    }
    Ok(())
}

fn name_answer(answer: &mut Value, user: &str) -> Result<(), String> {
    match answer.get("by").and_then(Value::as_str) {
        Some(by) if by != user => Err(format!(
            "an approval is answered in the name of the user who sends it, `{user}`, and not of `{by}`"
        )),
        _ => {
            if let Value::Object(fields) = answer {
                fields.insert("by".to_owned(), Value::from(user));
            }
            Ok(())
        }
    }
}

/// Returns the decisions of an answer: `{"decisions": […]}`, or a list of them.
fn decisions(answer: &Value) -> Option<&[Value]> {
    let listed = answer.get("decisions").unwrap_or(answer).as_array()?;
    let typed = |one: &Value| one["type"].is_string();
    (!listed.is_empty() && listed.iter().all(typed)).then_some(listed)
}

fn decision_in(decision: &Value) -> Value {
    let args = &decision["args"];
    match decision["type"].as_str() {
        Some("accept") => json!({"type": "approve"}),
        Some("ignore") => json!({"type": "reject"}),
        Some("edit") if decision["edited_action"].is_object() => {
            json!({"type": "edit", "arguments": decision["edited_action"]["args"]})
        }
        Some("edit") if args["action"].is_string() && args["args"].is_object() => {
            json!({"type": "edit", "arguments": args["args"]})
        }
        Some("respond" | "response") if args.is_string() => {
            json!({"type": "answer", "content": args})
        }
        _ => decision.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn approval(id: &str) -> Interrupt {
        let question = serde_json::from_value(json!({
            "id": id, "key": id, "node": "tools", "namespace": [], "payload": {
                "type": "tool_approval", "description": "d",
                "call": {"id": id, "name": "wipe", "arguments": {"path": "a"}},
                "allowed": ["approve", "edit", "reject", "answer"],
            },
        }));
        let interrupt: Interrupt = question.unwrap();
        assert_eq!(interrupt.node, Arc::from("tools"));
        interrupt
    }

    #[test]
    fn the_payload_has_the_forms_of_both_front_ends() {
        let out = payload_out(&approval("1").payload);
        assert_eq!(
            out["action_request"],
            json!({"action": "wipe", "args": {"path": "a"}})
        );
        assert_eq!(out["config"]["allow_respond"], true);
        assert_eq!(out["action_requests"][0]["name"], "wipe");
        let decisions = json!(["approve", "edit", "reject", "respond"]);
        assert_eq!(out["review_configs"][0]["allowed_decisions"], decisions);
        assert_eq!(out["call"]["id"], "1");
        assert_eq!(payload_out(&json!("other")), json!("other"));
    }

    #[test]
    fn decisions_answer_the_approvals_in_their_order() {
        let open = [approval("1"), approval("2")];
        let given = json!({"decisions": [
            {"type": "approve"},
            {"type": "edit", "edited_action": {"name": "wipe", "args": {"path": "b"}}},
        ]});
        let edited = json!({"type": "edit", "arguments": {"path": "b"}});
        let read = answer_in(&open, given);
        assert_eq!(read, json!({"1": {"type": "approve"}, "2": edited}));

        let given = json!([{"type": "edit", "args": {"action": "wipe", "args": {"path": "b"}}}]);
        assert_eq!(answer_in(&open, given), json!({"1": edited}));
        let given = json!([{"type": "accept", "args": null}, {"type": "ignore", "args": null}]);
        let read = answer_in(&open, given);
        assert_eq!(
            read,
            json!({"1": {"type": "approve"}, "2": {"type": "reject"}})
        );
    }

    #[test]
    fn other_answers_stay_as_they_are() {
        let open = [approval("1")];
        for answer in [
            json!({"1": {"type": "approve"}}),
            json!({"type": "reject", "message": "no"}),
            json!("yes"),
            json!([1, 2]),
        ] {
            assert_eq!(answer_in(&open, answer.clone()), answer);
        }
        let given = json!({"1": {"decisions": [{"type": "accept"}]}});
        assert_eq!(answer_in(&open, given), json!({"1": {"type": "approve"}}));
        assert_eq!(
            answer_in(&[], json!([{"type": "accept"}])),
            json!([{"type": "accept"}])
        );
    }
}
