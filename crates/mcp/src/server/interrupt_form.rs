//! The interrupt of a run as a form for the client's user.

use langgraph::interrupt::Interrupt;
use langgraph_agent::{
    ApprovalRequest, BudgetAnswer, BudgetRequest, DecisionKind, EffectDecision, EffectRequest,
    ToolDecision,
};
use rmcp::model::{
    ElicitRequestParams, ElicitationSchema, PrimitiveSchemaDefinition, StringSchema,
};
use serde_json::{Value, json};

use crate::{Elicited, Question};

/// The kind of an interrupt.
enum Kind {
    /// A form already, whose answer is an [`Elicited`].
    Form(Question),
    Approval(Box<ApprovalRequest>),
    Budget,
    Effect,
    /// Any other: the answer is a text.
    Text,
}

/// An answer for the interrupt of that id: the values that it may mean, the likeliest first.
pub(super) struct InterruptAnswer<'a> {
    pub(super) id: &'a str,
    pub(super) values: Vec<Value>,
}

/// One interrupt of a run.
pub(super) struct InterruptForm {
    interrupt: Interrupt,
    kind: Kind,
}

impl InterruptForm {
    pub(super) fn new(interrupt: Interrupt) -> Self {
        let kind = if let Some(request) = ApprovalRequest::of(&interrupt) {
            Kind::Approval(Box::new(request))
        } else if BudgetRequest::of(&interrupt).is_some() {
            Kind::Budget
        } else if EffectRequest::of(&interrupt).is_some() {
            Kind::Effect
        } else {
            let form = serde_json::from_value::<Question>(interrupt.payload.clone()).ok();
            // Any object with a message would do as a question.
            let form = form.filter(|form| form.schema.is_some() || form.url.is_some());
            form.map_or(Kind::Text, Kind::Form)
        };
        Self { interrupt, kind }
    }

    /// Returns the id of the interrupt.
    pub(super) fn id(&self) -> &str {
        &self.interrupt.id
    }

    /// Returns the key of the interrupt in its task.
    pub(super) fn key(&self) -> &str {
        &self.interrupt.key
    }

    /// Returns the question for the client; `why` says what was wrong with an earlier answer.
    pub(super) fn request(&self, why: Option<&str>) -> ElicitRequestParams {
        let message = self.message_with(why);
        if let Kind::Form(Question { url: Some(url), .. }) = &self.kind {
            return ElicitRequestParams::UrlElicitationParams {
                meta: None,
                message,
                url: url.clone(),
                elicitation_id: self.interrupt.id.clone(),
            };
        }
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message,
            requested_schema: self.schema(),
        }
    }

    /// Returns the question as text, with what was wrong with an earlier answer.
    pub(super) fn message_with(&self, why: Option<&str>) -> String {
        match why {
            Some(why) => format!("{} ({why})", self.message()),
            None => self.message(),
        }
    }

    fn message(&self) -> String {
        let payload = &self.interrupt.payload;
        match &self.kind {
            Kind::Form(question) => question.message.clone(),
            Kind::Approval(request) => {
                let call = &request.call;
                format!("May `{}` run with {}?", call.name, call.arguments_text())
            }
            Kind::Budget => format!("The limit is reached: {payload}. How much more?"),
            Kind::Effect => format!("It is unknown whether this has happened: {payload}."),
            Kind::Text => {
                let named = ["message", "question", "text"];
                let named = named.iter().find_map(|name| payload.get(name)?.as_str());
                let text = payload.as_str().or(named);
                text.map_or_else(|| payload.to_string(), str::to_owned)
            }
        }
    }

    fn schema(&self) -> ElicitationSchema {
        let schema = match &self.kind {
            Kind::Form(question) => question.schema.clone().and_then(flat),
            Kind::Approval(request) => flat(json!({
                "type": "object",
                "properties": {
                    "decision": {"type": "string", "enum": request.allowed},
                    "text": {
                        "type": "string",
                        "description": "The reason of a rejection, the answer in the tool's place, or the changed arguments as JSON.",
                    },
                },
                "required": ["decision"],
            })),
            Kind::Budget => flat(json!({
                "type": "object",
                "properties": {"more": {"type": "integer", "minimum": 1}},
                "required": ["more"],
            })),
            Kind::Effect => flat(json!({
                "type": "object",
                "properties": {
                    "decision": {"type": "string", "enum": ["done", "run_again", "fail"]},
                    "result": {"type": "string", "description": "The result, as JSON or text."},
                },
                "required": ["decision"],
            })),
            Kind::Text => None,
        };
        schema.unwrap_or_else(|| {
            let text = PrimitiveSchemaDefinition::String(StringSchema::new());
            ElicitationSchema::new([("answer".to_owned(), text)].into())
                .with_required(vec!["answer".to_owned()])
        })
    }

    /// Returns the answer for the run; `None` if the user declines, and the interrupt has no answer that says
    /// so.
    pub(super) fn answer(&self, elicited: Elicited) -> Result<Option<InterruptAnswer<'_>>, String> {
        let values = match (&self.kind, elicited) {
            (Kind::Form(_), elicited) => {
                vec![serde_json::to_value(elicited).map_err(|error| error.to_string())?]
            }
            (Kind::Approval(request), elicited) => {
                let decision = decision(elicited, &request.allowed)?;
                let answer = serde_json::to_value(request.answer(decision));
                vec![answer.map_err(|error| error.to_string())?]
            }
            (Kind::Budget, Elicited::Accept(form)) => {
                let more = form["more"].as_u64().ok_or("`more` must be a number")?;
                vec![json!(BudgetAnswer::more(more))]
            }
            (Kind::Budget, _) => vec![json!(BudgetAnswer::Stop)],
            (Kind::Effect, Elicited::Accept(form)) => match form["decision"].as_str() {
                Some("run_again") => vec![json!(EffectDecision::RunAgain)],
                Some("fail") => vec![json!(EffectDecision::Fail)],
                Some("done") => meanings(form["result"].as_str().unwrap_or("null"))
                    .into_iter()
                    .map(|result| json!(EffectDecision::done(result)))
                    .collect(),
                _ => return Err("`decision` must be `done`, `run_again` or `fail`".to_owned()),
            },
            (Kind::Text, Elicited::Accept(form)) => match &form["answer"] {
                Value::String(text) => meanings(text),
                other => vec![other.clone()],
            },
            (Kind::Effect | Kind::Text, Elicited::Decline | Elicited::Cancel) => return Ok(None),
        };
        Ok(Some(InterruptAnswer {
            id: &self.interrupt.id,
            values,
        }))
    }
}

/// A form as the protocol allows it: no objects in objects. `None` for any other.
fn flat(schema: Value) -> Option<ElicitationSchema> {
    serde_json::from_value(schema).ok()
}

/// The values that a text may mean.
fn meanings(text: &str) -> Vec<Value> {
    let plain = Value::from(text);
    match serde_json::from_str(text.trim()) {
        Ok(value) => vec![value, plain],
        Err(_) => vec![plain],
    }
}

fn decision(elicited: Elicited, allowed: &[DecisionKind]) -> Result<ToolDecision, String> {
    let Elicited::Accept(form) = elicited else {
        return Ok(ToolDecision::reject("The user does not want that."));
    };
    let text = form["text"].as_str().filter(|text| !text.trim().is_empty());
    let decision = match form["decision"].as_str() {
        Some("approve") => ToolDecision::Approve,
        Some("reject") => ToolDecision::Reject {
            message: text.map(str::to_owned),
        },
        Some("answer") => ToolDecision::answer(text.unwrap_or_default()),
        Some("edit") => {
            let arguments = serde_json::from_str(text.unwrap_or_default());
            let arguments = arguments.map_err(|error| format!("invalid JSON object: {error}"))?;
            ToolDecision::Edit { arguments }
        }
        _ => return Err("`decision` is missing".to_owned()),
    };
    if !allowed.contains(&decision.kind()) {
        return Err("that decision is not allowed".to_owned());
    }
    Ok(decision)
}
