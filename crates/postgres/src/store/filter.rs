//! Filters as SQL.

use langgraph_sql::store::{NamespaceRange, Truth, condition};
use langgraph_store::{Bound, Filter, Scalar, Search, Segment, StoreError, Test};
use serde_json::Value;
use tokio_postgres::types::ToSql;

/// The SQL after `FROM`, about `store_items AS i`. All text from outside is bound.
pub(super) struct Conditions {
    sql: String,
    params: Vec<Box<dyn ToSql + Send + Sync>>,
    /// The number of array elements that have a name.
    elements: usize,
    /// Whether a condition inspects values.
    looks_inside: bool,
}

impl Conditions {
    /// Selects items that have not expired.
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
        let from = self.bind(range.from);
        let to = self.bind(range.to);
        let here = self.bind(range.here);
        self.add(&format!(
            "(i.namespace = {here}::text OR (i.namespace >= {from}::text AND i.namespace < {to}::text))"
        ));
    }

    /// Binds a value, and returns its name.
    pub(super) fn bind(&mut self, value: impl ToSql + Send + Sync + 'static) -> String {
        self.params.push(Box::new(value));
        format!("${}", self.params.len())
    }

    fn add(&mut self, condition: &str) {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
    }

    /// Limits the items to those that pass the filter.
    fn filter(&mut self, filter: &Filter) -> Result<(), StoreError> {
        self.looks_inside = true;
        let condition = self.condition(filter)?;
        self.add(&condition);
        Ok(())
    }

    /// Returns the tables and the conditions on their rows; `join` names other tables.
    pub(super) fn from(&self, join: &str) -> String {
        // Each value is parsed once, however often the filter reads it: `OFFSET 0` keeps the
        // planner from repeating the cast.
        let inside = if self.looks_inside {
            "CROSS JOIN LATERAL (SELECT i.value::jsonb AS value OFFSET 0) AS d"
        } else {
            ""
        };
        format!("FROM store_items AS i {join} {inside} WHERE {}", self.sql)
    }

    /// Returns true if the SQL is one of a few, and worth preparing.
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

    /// Returns the condition on the target of `path` from `value`.
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
                    // A text key only selects from objects.
                    let key = self.bind(key.clone());
                    value = format!("({value} -> {key}::text)");
                }
                // `-> 0` would treat a number as an array of one. In a strict path that is an
                // error, which is not reported: there is no match.
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
            Bound::Float(float) if is_wide(*float) => this.wide(value, sign, *float, "false"),
            Bound::Float(float) => this.order(value, sign, (*float).into()),
        };
        Ok(match test {
            Test::Exists => format!("({value} IS NOT NULL)"),
            Test::Eq(Scalar::Float(float)) if is_wide(*float) => {
                self.wide(value, "=", *float, "false")
            }
            Test::Ne(Scalar::Float(float)) if is_wide(*float) => {
                self.wide(value, "<>", *float, &format!("{value} IS NOT NULL"))
            }
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
                let (wide, exact): (Vec<_>, Vec<_>) = scalars
                    .iter()
                    .partition(|one| matches!(one, Scalar::Float(float) if is_wide(*float)));
                let exact = self.bind(exact.into_iter().map(json).collect::<Vec<Value>>());
                let mut any = vec![format!("{value} = ANY ({exact}::jsonb[])")];
                for scalar in wide {
                    any.push(self.test(value, &Test::Eq(scalar.clone()))?);
                }
                format!("({})", any.join(" OR "))
            }
            other => return Err(StoreError::Unsupported(format!("the test {other:?}"))),
        })
    }

    /// Compares numbers with a float that no `i64` equals. An integer of an item that is no `i64` either is read as a
    /// float, as an item is read; `jsonb` has all of its digits.
    fn wide(&mut self, value: &str, sign: &str, float: f64, otherwise: &str) -> String {
        let float = self.bind(float);
        format!(
            "(CASE WHEN jsonb_typeof({value}) <> 'number' OR {value} IS NULL THEN {otherwise} \
             WHEN ({value})::numeric BETWEEN {} AND {} THEN 0 {sign} {float}::float8 \
             ELSE ({value})::float8 {sign} {float}::float8 END)",
            i64::MIN,
            i64::MAX
        )
    }

    /// Numbers in `jsonb` sort by value.
    fn order(&mut self, value: &str, sign: &str, bound: Value) -> String {
        let bound = self.bind(bound);
        format!("(jsonb_typeof({value}) = 'number' AND {value} {sign} {bound}::jsonb)")
    }
}

/// Returns a step into an array. `index` does not come from outside.
fn step(which: &str, value: &str, index: &str) -> String {
    format!("jsonb_path_query{which}({value}, 'strict $[{index}]', '{{}}', true)")
}

/// Returns true for a float below or above each `i64`.
fn is_wide(float: f64) -> bool {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    !(-LIMIT..LIMIT).contains(&float)
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
