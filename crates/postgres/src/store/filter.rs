//! Filters as SQL.

use langgraph_sql::store::{NamespaceRange, Truth, condition};
use langgraph_store::{Bound, Filter, Scalar, Search, Segment, StoreError, Test};
use serde_json::Value;
use tokio_postgres::types::ToSql;

/// What comes after `FROM`, about `store_items AS i`. All text that comes from outside is bound.
pub(super) struct Conditions {
    sql: String,
    params: Vec<Box<dyn ToSql + Send + Sync>>,
    /// How many elements of arrays have been given a name.
    elements: usize,
    /// Whether values are looked into.
    looks_inside: bool,
}

impl Conditions {
    /// What has not expired.
    pub(super) fn alive(now: i64) -> Self {
        let mut conditions = Self {
            sql: String::new(),
            params: Vec::new(),
            elements: 0,
            looks_inside: false,
        };
        let now = conditions.bind(now);
        conditions.sql = format!("(i.expires_at IS NULL OR i.expires_at > {now}::bigint)");
        conditions
    }

    /// What a search is about, whatever the order.
    pub(super) fn of(search: &Search, now: i64) -> Result<Self, StoreError> {
        let mut conditions = Self::alive(now);
        conditions.within(search.prefix.labels());
        if let Some(filter) = &search.filter {
            conditions.filter(filter)?;
        }
        Ok(conditions)
    }

    /// Only what is in the namespace or below.
    pub(super) fn within(&mut self, prefix: &[String]) {
        let Some(range) = NamespaceRange::of(prefix) else {
            return;
        };
        let from = self.bind(range.from);
        let to = self.bind(range.to);
        let here = self.bind(range.here);
        self.add(&format!(
            "(i.namespace = {here}::text OR (i.namespace >= {from}::text AND i.namespace < {to}::text))"
        ));
    }

    /// Binds a value, and gives its name.
    pub(super) fn bind(&mut self, value: impl ToSql + Send + Sync + 'static) -> String {
        self.params.push(Box::new(value));
        format!("${}", self.params.len())
    }

    fn add(&mut self, condition: &str) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
    }

    /// Only what passes.
    fn filter(&mut self, filter: &Filter) -> Result<(), StoreError> {
        self.looks_inside = true;
        let condition = self.condition(filter)?;
        self.add(&condition);
        Ok(())
    }

    /// The tables and what holds for their rows; `join` names other tables.
    pub(super) fn from(&self, join: &str) -> String {
        // Each value is parsed once, however often the filter looks at it: `OFFSET 0` keeps the
        // planner from writing the cast in each place.
        let inside = if self.looks_inside {
            "CROSS JOIN LATERAL (SELECT i.value::jsonb AS value OFFSET 0) AS d"
        } else {
            ""
        };
        format!("FROM store_items AS i {join} {inside} WHERE {}", self.sql)
    }

    /// True when the SQL is one of a few, and worth keeping prepared.
    pub(super) fn is_common(&self) -> bool {
        !self.looks_inside
    }

    pub(super) fn params(&self) -> Vec<&(dyn ToSql + Sync)> {
        let params = self.params.iter();
        params
            .map(|param| &**param as &(dyn ToSql + Sync))
            .collect()
    }

    fn condition(&mut self, filter: &Filter) -> Result<String, StoreError> {
        const TRUTH: Truth = Truth {
            yes: "true",
            no: "false",
        };
        condition(filter, TRUTH, &mut |path, test| {
            self.reach("d.value".to_owned(), path.segments()?, test)
        })
    }

    /// The test of what `path` leads to from `value`.
    fn reach(
        &mut self,
        mut value: String,
        path: &[Segment],
        test: &Test,
    ) -> Result<String, StoreError> {
        let mut path = path.iter();
        while let Some(segment) = path.next() {
            match segment {
                Segment::Key(key) => {
                    // By text only into objects.
                    let key = self.bind(key.clone());
                    value = format!("({value} -> {key}::text)");
                }
                // `-> 0` would take a number for an array of one. In a strict path that is an
                // error, which is not reported: nothing is there.
                Segment::Index(index) => {
                    value = step("_first", &value, &index.to_string());
                }
                Segment::Back(back) => {
                    value = step("_first", &value, &format!("last - {back}"));
                }
                Segment::Each => {
                    let name = format!("e{}", self.elements);
                    self.elements += 1;
                    let below = self.reach(format!("{name}.value"), path.as_slice(), test)?;
                    let each = step("", &value, "*");
                    return Ok(format!(
                        "EXISTS (SELECT 1 FROM {each} AS {name} (value) WHERE {below})"
                    ));
                }
            }
        }
        self.test(&value, test)
    }

    fn test(&mut self, value: &str, test: &Test) -> Result<String, StoreError> {
        let order = |this: &mut Self, sign: &str, bound: &Bound| match bound {
            Bound::Text(text) => {
                let text = this.bind(text.clone());
                format!(
                    "(jsonb_typeof({value}) = 'string' \
                     AND ({value} #>> '{{}}') COLLATE \"C\" {sign} {text}::text)"
                )
            }
            Bound::Int(int) => this.order(value, sign, (*int).into()),
            Bound::Float(float) => this.order(value, sign, (*float).into()),
        };
        Ok(match test {
            Test::Exists => format!("({value} IS NOT NULL)"),
            Test::Eq(scalar) => {
                let scalar = self.bind(json(scalar));
                format!("({value} = {scalar}::jsonb)")
            }
            Test::Ne(scalar) => {
                let scalar = self.bind(json(scalar));
                format!("({value} <> {scalar}::jsonb)")
            }
            Test::Gt(bound) => order(self, ">", bound),
            Test::Ge(bound) => order(self, ">=", bound),
            Test::Lt(bound) => order(self, "<", bound),
            Test::Le(bound) => order(self, "<=", bound),
            Test::In(scalars) => {
                let scalars = self.bind(scalars.iter().map(json).collect::<Vec<Value>>());
                format!("({value} = ANY ({scalars}::jsonb[]))")
            }
            other => return Err(StoreError::Unsupported(format!("the test {other:?}"))),
        })
    }

    /// The order of numbers in `jsonb` is that of what they stand for.
    fn order(&mut self, value: &str, sign: &str, bound: Value) -> String {
        let bound = self.bind(bound);
        format!("(jsonb_typeof({value}) = 'number' AND {value} {sign} {bound}::jsonb)")
    }
}

/// A step into an array. `index` is not from outside.
fn step(which: &str, value: &str, index: &str) -> String {
    format!("jsonb_path_query{which}({value}, 'strict $[{index}]', '{{}}', true)")
}

fn json(scalar: &Scalar) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Bool(value) => (*value).into(),
        Scalar::Int(value) => (*value).into(),
        Scalar::Float(value) => (*value).into(),
        Scalar::Text(value) => value.as_str().into(),
    }
}
