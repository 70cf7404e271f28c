//! The types of approvals: interrupts before calls of tools, and the decisions about them.

use langgraph::graph::ToolInfo;

use super::declaration::{Body, Declaration, Field, Type};
use super::reader::{Reader, pascal, union};

/// Declares the approvals of the tools that need one, and the decisions by the names of the tools. Returns the type of
/// the custom event that reports a decision; `None` if no tool needs one.
pub(super) fn approvals(reader: &mut Reader, tools: &[ToolInfo]) -> Option<Type> {
    let asking: Vec<&ToolInfo> = tools
        .iter()
        .filter(|tool| !tool.decisions.is_empty())
        .collect();
    if asking.is_empty() {
        return None;
    }
    let prefix = reader.prefix.clone();
    let declared = &mut reader.declarations;
    declared.extend(decisions_of_any_tool(&prefix));
    let (mut approvals, mut decisions, mut answered) = (Vec::new(), Vec::new(), Vec::new());
    for tool in asking {
        let name = format!("{prefix}{}", pascal(&tool.name));
        declared.extend(of_tool(&prefix, &name, tool));
        approvals.push(Type::Named(format!("{name}Approval")));
        answered.push(Type::Named(format!("{name}ApprovalAnswered")));
        let decision = Type::Named(format!("{name}Decision"));
        decisions.push(Field::required(&tool.name, decision));
    }
    declared.push(Declaration::new(
        format!("{prefix}ToolApproval"),
        "The interrupt before a call of a tool that needs an approval.",
        Body::Alias(union(approvals)),
    ));
    declared.push(Declaration::new(
        format!("{prefix}ToolDecisions"),
        format!("What `{prefix}ToolApproval` is answered with, by the names of the tools."),
        Body::Object(decisions),
    ));
    Some(union(answered))
}

/// The decisions without arguments of the tool.
fn decisions_of_any_tool(prefix: &str) -> [Declaration; 3] {
    let parts = Type::List(Box::new(Type::Map(Box::new(Type::Any))));
    [
        decision(
            format!("{prefix}ToolApproved"),
            "The tool runs.",
            "approve",
            None,
        ),
        decision(
            format!("{prefix}ToolRejected"),
            "The tool does not run; the model is given the message.",
            "reject",
            Some(Field::optional("message", Type::Text)),
        ),
        decision(
            format!("{prefix}ToolAnswered"),
            "The tool does not run; the content is its answer.",
            "answer",
            Some(Field::required("content", union(vec![Type::Text, parts]))),
        ),
    ]
}

/// The approval of one tool, and the decisions about it.
fn of_tool(prefix: &str, name: &str, tool: &ToolInfo) -> [Declaration; 5] {
    let arguments = || Field::required("arguments", Type::Named(format!("{name}Arguments")));
    let kinds = ["approve", "edit", "reject", "answer"];
    let of_kind = |kind: &str| {
        Type::Named(match kind {
            "approve" => format!("{prefix}ToolApproved"),
            "edit" => format!("{name}Edited"),
            "reject" => format!("{prefix}ToolRejected"),
            _ => format!("{prefix}ToolAnswered"),
        })
    };
    let allowed: Vec<&str> = kinds
        .into_iter()
        .filter(|kind| tool.decisions.iter().any(|allowed| allowed == kind))
        .collect();
    // What counts after the expiry need not be a decision that a person may take.
    let any_decision = || union(kinds.map(of_kind).into());
    let literals = allowed.iter().map(|kind| (*kind).into()).collect();
    let request = vec![
        Field::required("type", Type::literal("tool_approval")),
        Field::required("call", Type::Named(format!("{name}Request"))),
        Field::required("description", Type::Text),
        Field::required("allowed", Type::List(Box::new(Type::Literals(literals)))),
        Field::required("parameters", Type::Any),
        Field::required("digest", Type::Text),
        Field::optional("turn", Type::Text),
        Field::optional("expires_at", Type::Integer),
        Field::optional("default", any_decision()),
    ];
    [
        decision(
            format!("{name}Edited"),
            &format!("The tool `{}` runs with these arguments.", tool.name),
            "edit",
            Some(arguments()),
        ),
        Declaration::new(
            format!("{name}Decision"),
            format!("A decision about a call of `{}`.", tool.name),
            Body::Alias(union(allowed.into_iter().map(of_kind).collect())),
        ),
        Declaration::new(
            format!("{name}Request"),
            "",
            Body::Object(vec![
                Field::required("id", Type::Text),
                Field::required("name", Type::literal(&tool.name)),
                arguments(),
            ]),
        ),
        Declaration::new(
            format!("{name}Approval"),
            format!("The interrupt before a call of `{}`.", tool.name),
            Body::Object(request),
        ),
        answered(name, tool, any_decision()),
    ]
}

/// The custom event that reports a decision about a call of one tool.
fn answered(name: &str, tool: &ToolInfo, decision: Type) -> Declaration {
    let fields = vec![
        Field::required("type", Type::literal("tool_approval_answered")),
        Field::required("call", Type::Named(format!("{name}Request"))),
        Field::required("digest", Type::Text),
        Field::required("decision", decision),
        Field::required("by", union(vec![Type::Text, Type::Null])),
        Field::required("expired", Type::Boolean),
    ];
    Declaration::new(
        format!("{name}ApprovalAnswered"),
        format!(
            "The custom event that reports a decision about a call of `{}`.",
            tool.name
        ),
        Body::Object(fields),
    )
}

/// A decision, with what it carries, who decides, and the digest of the request that it is for.
fn decision(name: String, docs: &str, kind: &str, carried: Option<Field>) -> Declaration {
    let fields = [Field::required("type", Type::literal(kind))];
    let common = ["by", "digest"].map(|name| Field::optional(name, Type::Text));
    let fields = fields.into_iter().chain(carried).chain(common);
    Declaration::new(name, docs, Body::Object(fields.collect()))
}
