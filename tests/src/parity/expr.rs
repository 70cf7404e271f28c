//! The expressions, conditions, targets and routes of a case.

use serde_json::{Map, Number, Value};

/// A case contains something that its format does not know.
#[derive(Debug, thiserror::Error)]
#[error("bad case: {0}")]
pub(super) struct BadCase(String);

impl BadCase {
    pub(super) fn new(what: &str, found: &Value) -> Self {
        Self(format!("{what}: {found}"))
    }
}

/// What an expression can see.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'a> {
    pub(super) input: &'a Value,
    pub(super) node: &'a str,
    /// The number of starts of the node.
    pub(super) run: u64,
    pub(super) answers: &'a [Value],
    /// The element and its index, inside `each`.
    pub(super) each: Option<(&'a Value, usize)>,
    /// The message and the node, in an error handler.
    pub(super) error: Option<(&'a str, &'a str)>,
}

/// One place to go.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum To {
    Name(String),
    Send(String, Value),
}

impl<'a> Scope<'a> {
    /// Sees only `input`.
    pub(super) const fn of(input: &'a Value, node: &'a str) -> Self {
        Self {
            input,
            node,
            run: 0,
            answers: &[],
            each: None,
            error: None,
        }
    }

    fn field(&self, name: &Value) -> Option<&'a Value> {
        self.input.as_object()?.get(name.as_str()?)
    }

    /// The value of an expression.
    pub(super) fn eval(&self, expr: &Value) -> Result<Value, BadCase> {
        Ok(match expr {
            Value::Array(items) => {
                let items = items.iter().map(|item| self.eval(item));
                Value::Array(items.collect::<Result<_, _>>()?)
            }
            Value::Object(map) => {
                if let Some((operator, argument)) = map.iter().find(|(key, _)| key.starts_with('$'))
                {
                    return self.operator(operator, argument, map);
                }
                let entries = map
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), self.eval(value)?)));
                Value::Object(entries.collect::<Result<_, BadCase>>()?)
            }
            other => other.clone(),
        })
    }

    fn operator(
        &self,
        operator: &str,
        argument: &Value,
        map: &Map<String, Value>,
    ) -> Result<Value, BadCase> {
        let unknown = || BadCase::new("unknown expression", &Value::Object(map.clone()));
        Ok(match operator {
            "$get" => match (self.field(argument), map.get("default")) {
                (Some(value), _) => value.clone(),
                (None, default) => default.cloned().unwrap_or(Value::Null),
            },
            "$len" => Value::from(match self.field(argument) {
                Some(Value::Array(items)) => items.len(),
                Some(Value::Object(entries)) => entries.len(),
                Some(Value::String(text)) => text.chars().count(),
                _ => 0,
            }),
            "$input" => self.input.clone(),
            "$node" => Value::from(self.node),
            "$run" => Value::from(self.run),
            "$resume" => {
                let index = argument.as_u64().and_then(|i| usize::try_from(i).ok());
                let answer = index.and_then(|index| self.answers.get(index));
                answer.ok_or_else(unknown)?.clone()
            }
            "$add" => {
                let mut sum = 0;
                for item in argument.as_array().ok_or_else(unknown)? {
                    sum += integer(&self.eval(item)?)?;
                }
                Value::from(sum)
            }
            "$concat" => {
                let mut text = String::new();
                for item in argument.as_array().ok_or_else(unknown)? {
                    text.push_str(&self.text(item)?);
                }
                Value::from(text)
            }
            "$item" => self.each.ok_or_else(unknown)?.0.clone(),
            "$index" => Value::from(self.each.ok_or_else(unknown)?.1),
            "$error" => Value::from(self.error.ok_or_else(unknown)?.0),
            "$error_node" => Value::from(self.error.ok_or_else(unknown)?.1),
            "$overwrite" => {
                let inner = self.eval(argument)?;
                Value::Object(Map::from_iter([(operator.to_owned(), inner)]))
            }
            _ => return Err(unknown()),
        })
    }

    /// A string as it is, any other value as compact JSON.
    fn text(&self, expr: &Value) -> Result<String, BadCase> {
        Ok(match self.eval(expr)? {
            Value::String(text) => text,
            other => canonical(&other),
        })
    }

    /// Whether a condition holds.
    pub(super) fn test(&self, condition: &Value) -> Result<bool, BadCase> {
        let unknown = || BadCase::new("unknown condition", condition);
        if let Value::Bool(holds) = condition {
            return Ok(*holds);
        }
        let map = condition.as_object().ok_or_else(unknown)?;
        let (operator, argument) = map.iter().next().ok_or_else(unknown)?;
        let all = || argument.as_array().ok_or_else(unknown);
        let two = || match argument.as_array().map(Vec::as_slice) {
            Some([left, right]) => Ok((self.eval(left)?, self.eval(right)?)),
            _ => Err(unknown()),
        };
        let numbers = || two().and_then(|(left, right)| Ok((integer(&left)?, integer(&right)?)));
        Ok(match operator.as_str() {
            "has" => self.field(argument).is_some(),
            "not" => !self.test(argument)?,
            "and" => {
                let mut holds = true;
                for condition in all()? {
                    holds = holds && self.test(condition)?;
                }
                holds
            }
            "or" => {
                let mut holds = false;
                for condition in all()? {
                    holds = holds || self.test(condition)?;
                }
                holds
            }
            "eq" => two().map(|(left, right)| same(&left, &right))?,
            "ne" => two().map(|(left, right)| !same(&left, &right))?,
            "lt" => numbers().map(|(left, right)| left < right)?,
            "le" => numbers().map(|(left, right)| left <= right)?,
            "gt" => numbers().map(|(left, right)| left > right)?,
            "ge" => numbers().map(|(left, right)| left >= right)?,
            _ => return Err(unknown()),
        })
    }

    /// The places that targets name, in order; `null` is a place that does not exist.
    pub(super) fn targets(&self, targets: &Value) -> Result<Vec<To>, BadCase> {
        let mut found = Vec::new();
        self.collect(targets, &mut found)?;
        Ok(found)
    }

    fn collect(&self, targets: &Value, found: &mut Vec<To>) -> Result<(), BadCase> {
        let unknown = || BadCase::new("unknown target", targets);
        match targets {
            Value::String(name) => found.push(To::Name(name.clone())),
            Value::Null => found.push(To::Name("null".to_owned())),
            Value::Array(items) => {
                for item in items {
                    self.collect(item, found)?;
                }
            }
            Value::Object(map) => {
                let node = map.get("send").and_then(Value::as_str);
                let (node, arg) = node.zip(map.get("arg")).ok_or_else(unknown)?;
                let Some(each) = map.get("each") else {
                    found.push(To::Send(node.to_owned(), self.eval(arg)?));
                    return Ok(());
                };
                let items = self.field(each).and_then(Value::as_array);
                for (index, item) in items.into_iter().flatten().enumerate() {
                    let scope = Self {
                        each: Some((item, index)),
                        ..*self
                    };
                    found.push(To::Send(node.to_owned(), scope.eval(arg)?));
                }
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }

    /// What a route answers.
    pub(super) fn route(&self, route: &Value) -> Result<Vec<To>, BadCase> {
        let unknown = || BadCase::new("unknown route", route);
        let Value::Object(map) = route else {
            return self.targets(route);
        };
        if let Some(arms) = map.get("if") {
            for arm in arms.as_array().ok_or_else(unknown)? {
                let Some([condition, route]) = arm.as_array().map(Vec::as_slice) else {
                    return Err(unknown());
                };
                if self.test(condition)? {
                    return self.route(route);
                }
            }
            return self.route(map.get("else").ok_or_else(unknown)?);
        }
        if let Some(on) = map.get("switch") {
            let key = self.text(on)?;
            let cases = map.get("cases").and_then(Value::as_object);
            let arm = cases.ok_or_else(unknown)?.get(&key);
            return self.route(arm.or_else(|| map.get("default")).ok_or_else(unknown)?);
        }
        self.targets(route)
    }
}

fn integer(value: &Value) -> Result<i64, BadCase> {
    match value {
        Value::Null => Ok(0),
        Value::Bool(flag) => Ok(i64::from(*flag)),
        other => other
            .as_i64()
            .ok_or_else(|| BadCase::new("not an integer", other)),
    }
}

/// JSON equality, in which 1 and 1.0 are one number.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => same_number(left, right),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| same(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            let equal = |(key, value): (&String, &Value)| {
                right.get(key).is_some_and(|other| same(value, other))
            };
            left.len() == right.len() && left.iter().all(equal)
        }
        _ => left == right,
    }
}

fn same_number(left: &Number, right: &Number) -> bool {
    left == right
        || (left.is_f64() || right.is_f64())
            && left
                .as_f64()
                .zip(right.as_f64())
                .is_some_and(|(left, right)| (left - right).abs() < f64::EPSILON)
}

/// Compact JSON with sorted keys.
pub(super) fn canonical(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<_> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            let entries: Vec<_> = entries
                .into_iter()
                .map(|(key, value)| format!("{}:{}", Value::from(key.as_str()), canonical(value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        other => other.to_string(),
    }
}
