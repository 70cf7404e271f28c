//! Which resources a user may see, by their metadata.

use serde_json::{Map, Value};

/// Conditions on the metadata of threads, assistants and crons. A resource that does not meet them
/// does not exist for the user: 404, and no search shows it. What the user creates has the values.
///
/// # Examples
///
/// ```
/// use langgraph_server::Filter;
///
/// // Threads of the department, and those that the user was added to.
/// let filter = Filter::all().is("department", "sales").contains("members", "ada");
/// # let _ = filter;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter(Vec<(String, Condition)>);

#[derive(Clone, Debug, PartialEq)]
enum Condition {
    Is(Value),
    Contains(Value),
    /// Nothing meets it.
    Never,
}

impl Filter {
    /// Creates a filter without a condition: the user sees what the owner has.
    pub fn all() -> Self {
        Self::default()
    }

    /// Adds a condition: the entry of that name has that value. What the user creates gets it.
    #[must_use]
    pub fn is(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.push((name.into(), Condition::Is(value.into())));
        self
    }

    /// Adds a condition: the entry of that name is a list, and has that element.
    #[must_use]
    pub fn contains(mut self, name: impl Into<String>, element: impl Into<Value>) -> Self {
        self.0
            .push((name.into(), Condition::Contains(element.into())));
        self
    }

    /// Returns the filter that shows nothing.
    pub(crate) fn nothing() -> Self {
        Self(vec![(String::new(), Condition::Never)])
    }

    /// Returns the filter that gives what is created these metadata.
    pub(crate) fn of(metadata: &Value) -> Self {
        let entries = metadata.as_object().into_iter().flatten();
        let is = |(name, value): (&String, &Value)| (name.clone(), Condition::Is(value.clone()));
        Self(entries.map(is).collect())
    }

    pub(crate) fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if the metadata meet all conditions.
    pub(crate) fn fits(&self, metadata: &Value) -> bool {
        self.0.iter().all(|(name, condition)| {
            let found = metadata.get(name);
            match condition {
                Condition::Is(value) => found == Some(value),
                Condition::Contains(element) => found
                    .and_then(Value::as_array)
                    .is_some_and(|list| list.contains(element)),
                Condition::Never => false,
            }
        })
    }

    /// Returns the metadata that what is created gets, so that its user sees it.
    pub(crate) fn as_metadata(&self) -> Value {
        let entries = self.0.iter().filter_map(|(name, condition)| {
            let value = match condition {
                Condition::Is(value) => value.clone(),
                Condition::Contains(element) => Value::Array(vec![element.clone()]),
                Condition::Never => return None,
            };
            Some((name.clone(), value))
        });
        Value::Object(entries.collect::<Map<_, _>>())
    }

    /// Refuses metadata that would take a resource out of the user's sight.
    pub(crate) fn keeps(&self, changed: &Value) -> bool {
        let touched = |name: &String| changed.get(name).is_some();
        let touched = self.0.iter().filter(|(name, _)| touched(name));
        Self(touched.cloned().collect()).fits(changed)
    }
}

/// The filters of a request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Filters {
    pub(crate) threads: Filter,
    /// What a request reads that creates something: the thread that is copied, and what exists already.
    pub(crate) read: Filter,
    pub(crate) assistants: Filter,
    pub(crate) crons: Filter,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_conditions_have_to_be_met_and_what_is_created_meets_them() {
        let filter = Filter::all().is("team", "a").contains("members", "ada");
        assert!(filter.fits(&json!({"team": "a", "members": ["ben", "ada"], "x": 1})));
        for other in [
            json!({"team": "b", "members": ["ada"]}),
            json!({"team": "a", "members": "ada"}),
            json!({"team": "a"}),
            json!(null),
        ] {
            assert!(!filter.fits(&other), "{other}");
        }
        assert!(filter.fits(&filter.as_metadata()));
        let metadata = filter.as_metadata();
        assert_eq!(Filter::of(&metadata).as_metadata(), metadata);
        assert!(filter.keeps(&json!({"x": 1})) && filter.keeps(&json!({"team": "a"})));
        assert!(!filter.keeps(&json!({"team": "b"})));
        assert!(Filter::all().fits(&json!(null)));
    }
}
