//! Filters as SQL.

use langgraph_sql::store::{NamespaceRange, Truth, condition};
use langgraph_store::{Bound, Filter, Scalar, Search, Segment, StoreError, Test};
use rusqlite::types::Value;

/// The SQL after `WHERE`, about `store_items AS i`. All text from outside is bound.
pub(super) struct Conditions {
    sql: String,
    params: Vec<Value>,
    /// The number of array elements that have a name.
    elements: usize,
}

impl Conditions {
    /// Selects items that have not expired.
    pub(super) fn alive(now: i64) -> Self {
        let mut conditions = Self {
            sql: String::new(),
            params: Vec::new(),
            elements: 0,
        };
        let now = conditions.bind(Value::Integer(now));
        conditions.sql = format!("(i.expires_at IS NULL OR i.expires_at > {now})");
        conditions
    }

    /// Selects the items of a search, without their order.
    pub(super) fn of(search: &Search, now: i64) -> Result<Self, StoreError> {
        let mut conditions = Self::alive(now);
        conditions.within(search.prefix.labels());
        if let Some(filter) = &search.filter {
            conditions.filter(filter)?;
        }
        Ok(conditions)
    }

    /// Limits the items to the namespace and below.
    pub(super) fn within(&mut self, prefix: &[String]) {
        let Some(range) = NamespaceRange::of(prefix) else {
            return;
        };
        let from = self.bind(Value::Text(range.from));
        let to = self.bind(Value::Text(range.to));
        let here = self.bind(Value::Text(range.here));
        self.add(&format!(
            "(i.namespace = {here} OR (i.namespace >= {from} AND i.namespace < {to}))"
        ));
    }

    /// Binds a value, and returns its name.
    pub(super) fn bind(&mut self, value: Value) -> String {
        self.params.push(value);
        format!("?{}", self.params.len())
    }

    fn add(&mut self, condition: &str) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
    }

    /// Limits the items to those that pass the filter.
    fn filter(&mut self, filter: &Filter) -> Result<(), StoreError> {
        let condition = self.condition(filter)?;
        self.add(&condition);
        Ok(())
    }

    pub(super) fn sql(&self) -> &str {
        &self.sql
    }

    pub(super) fn into_params(self) -> Vec<Value> {
        self.params
    }

    fn condition(&mut self, filter: &Filter) -> Result<String, StoreError> {
        const TRUTH: Truth = Truth { yes: "1", no: "0" };
        condition(filter, TRUTH, &mut |path, test| {
            let mut parts = path.segments()?.split(|part| *part == Segment::Each);
            let first = parts.next().unwrap_or_default();
            let rest: Vec<&[Segment]> = parts.collect();
            self.reach(&Source::Value, first, &rest, test)
        })
    }

    /// Returns the condition at `path`, and at `rest` below each of its elements.
    fn reach(
        &mut self,
        from: &Source,
        path: &[Segment],
        rest: &[&[Segment]],
        test: &Test,
    ) -> Result<String, StoreError> {
        let document = from.document();
        let Some((next, rest)) = rest.split_first() else {
            let (kind, value) = match from {
                Source::Element(name) if path.is_empty() => {
                    (format!("{name}.type"), format!("{name}.value"))
                }
                _ => {
                    let path = self.bind(Value::Text(json_path(path)));
                    (
                        format!("json_type({document}, {path})"),
                        format!("json_extract({document}, {path})"),
                    )
                }
            };
            return self.test(&kind, &value, test);
        };
        let path = self.bind(Value::Text(json_path(path)));
        let name = format!("e{}", self.elements);
        self.elements += 1;
        let below = self.reach(&Source::Element(name.clone()), next, rest, test)?;
        Ok(format!(
            "(json_type({document}, {path}) = 'array' AND EXISTS \
             (SELECT 1 FROM json_each({document}, {path}) AS {name} WHERE {below}))"
        ))
    }

    fn test(&mut self, kind: &str, value: &str, test: &Test) -> Result<String, StoreError> {
        let order = |this: &mut Self, sign: &str, bound: &Bound| {
            let (kinds, bound) = match bound {
                Bound::Int(int) => (NUMBER, Value::Integer(*int)),
                Bound::Float(float) => (NUMBER, Value::Real(*float)),
                Bound::Text(text) => (TEXT, Value::Text(text.clone())),
            };
            let bound = this.bind(bound);
            format!("({kind} {kinds} AND {value} {sign} {bound})")
        };
        Ok(match test {
            Test::Exists => format!("({kind} IS NOT NULL)"),
            Test::Eq(scalar) => self.equal(kind, value, scalar),
            Test::Ne(scalar) => {
                let equal = self.equal(kind, value, scalar);
                format!("({kind} IS NOT NULL AND NOT coalesce({equal}, 0))")
            }
            Test::Gt(bound) => order(self, ">", bound),
            Test::Ge(bound) => order(self, ">=", bound),
            Test::Lt(bound) => order(self, "<", bound),
            Test::Le(bound) => order(self, "<=", bound),
            Test::In(scalars) => {
                let one_of = scalars.iter().map(|scalar| self.equal(kind, value, scalar));
                let one_of: Vec<String> = one_of.collect();
                if one_of.is_empty() {
                    "0".to_owned()
                } else {
                    format!("({})", one_of.join(" OR "))
                }
            }
            other => return Err(StoreError::Unsupported(format!("the test {other:?}"))),
        })
    }

    fn equal(&mut self, kind: &str, value: &str, scalar: &Scalar) -> String {
        let (kinds, scalar) = match scalar {
            Scalar::Null => return format!("({kind} = 'null')"),
            Scalar::Bool(true) => return format!("({kind} = 'true')"),
            Scalar::Bool(false) => return format!("({kind} = 'false')"),
            Scalar::Int(int) => (NUMBER, Value::Integer(*int)),
            Scalar::Float(float) => (NUMBER, Value::Real(*float)),
            Scalar::Text(text) => (TEXT, Value::Text(text.clone())),
        };
        let scalar = self.bind(scalar);
        format!("({kind} {kinds} AND {value} = {scalar})")
    }
}

const NUMBER: &str = "IN ('integer', 'real')";
const TEXT: &str = "= 'text'";

/// The start of a path.
enum Source {
    /// The value of the item.
    Value,
    /// An element of an array, by the alias of its row.
    Element(String),
}

impl Source {
    fn document(&self) -> String {
        match self {
            Self::Value => "i.value".to_owned(),
            // The value of a text is not JSON.
            Self::Element(name) => {
                format!("CASE WHEN {name}.type IN ('object', 'array') THEN {name}.value END")
            }
        }
    }
}

/// Returns a path without `[*]` in SQLite's syntax.
fn json_path(segments: &[Segment]) -> String {
    let mut path = "$".to_owned();
    for segment in segments {
        match segment {
            Segment::Key(key) => {
                path.push('.');
                path.push_str(&serde_json::Value::from(key.as_str()).to_string());
            }
            Segment::Index(index) => path = format!("{path}[{index}]"),
            Segment::Back(back) => path = format!("{path}[#-{}]", u64::from(*back) + 1),
            Segment::Each => {}
        }
    }
    path
}
