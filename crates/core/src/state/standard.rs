//! The standard reducers.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, LinkedList, VecDeque};
use std::hash::{BuildHasher, Hash};
use std::ops::{AddAssign, BitAndAssign, BitOrAssign};

use serde_json::{Map, Value};

use super::Reducer;
use crate::error::ReducerError;

/// Replaces the value by the update, as a field without a reducer does.
///
/// # Examples
///
/// ```
/// use langgraph::state::{Reducer, Replace};
///
/// assert_eq!(Replace.merge(1, 2), 2);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Replace;

impl<T> Reducer<T> for Replace {
    fn merge(&self, _current: T, update: T) -> T {
        update
    }

    fn try_merge(&self, current: &mut T, update: T) -> Result<(), ReducerError>
    where
        T: Default,
    {
        *current = update;
        Ok(())
    }
}

/// Appends the update to the value: lists and text.
///
/// It costs only what it appends. It is implemented for [`Vec`], [`VecDeque`], [`LinkedList`] and
/// [`String`]; for a list type of your own, write `impl Reducer<MyList> for Append`.
///
/// # Examples
///
/// ```
/// use langgraph::state::{Append, Reducer};
///
/// assert_eq!(Append.merge(vec![1, 2], vec![3]), [1, 2, 3]);
/// assert_eq!(Append.merge("你".to_owned(), "好".to_owned()), "你好");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Append;

/// Merges maps, shallowly: the update's value wins.
///
/// It is implemented for [`HashMap`], [`BTreeMap`], [`serde_json::Map`], and for a
/// [`serde_json::Value`] that is an object (or `null`, which counts as empty).
///
/// # Examples
///
/// ```
/// use std::collections::BTreeMap;
///
/// use langgraph::state::{MergeMap, Reducer};
///
/// let current = BTreeMap::from([("a", 1), ("b", 1)]);
/// let update = BTreeMap::from([("b", 2), ("c", 2)]);
/// assert_eq!(
///     MergeMap.merge(current, update),
///     BTreeMap::from([("a", 1), ("b", 2), ("c", 2)]),
/// );
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeMap;

/// Adds the missing items: to sets, and to lists without duplicates.
///
/// It is implemented for [`HashSet`] and [`BTreeSet`], and for [`Vec`], which keeps the order of
/// first appearance and compares each new item with all existing ones. For long lists, use a set.
///
/// # Examples
///
/// ```
/// use langgraph::state::{Reducer, Union};
///
/// assert_eq!(Union.merge(vec!["a", "b"], vec!["b", "c"]), ["a", "b", "c"]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Union;

/// Writes the in-place form once and derives the by-value form from it.
macro_rules! in_place {
    ($($(#[$doc:meta])* impl[$($generics:tt)*] $reducer:ident for $target:ty { |$current:ident, $update:ident| $body:expr })*) => {$(
        impl<$($generics)*> Reducer<$target> for $reducer {
            fn merge(&self, mut current: $target, update: $target) -> $target {
                let ($current, $update) = (&mut current, update);
                $body;
                current
            }

            fn try_merge(&self, $current: &mut $target, $update: $target) -> Result<(), ReducerError>
            where
                $target: Default,
            {
                $body;
                Ok(())
            }
        }
    )*};
}

in_place! {
    impl[T] Append for Vec<T> { |current, update| append_vec(current, update) }
    impl[T] Append for VecDeque<T> { |current, update| current.extend(update) }
    impl[T] Append for LinkedList<T> {
        |current, update| {
            let mut update = update;
            current.append(&mut update);
        }
    }
    impl[] Append for String { |current, update| append_string(current, update) }

    impl[K: Eq + Hash, V, H: BuildHasher] MergeMap for HashMap<K, V, H> {
        |current, update| current.extend(update)
    }
    // `BTreeMap::append` rebuilds the whole map; inserting costs what changed.
    impl[K: Ord, V] MergeMap for BTreeMap<K, V> { |current, update| current.extend(update) }
    impl[] MergeMap for Map<String, Value> { |current, update| current.extend(update) }

    impl[T: Eq + Hash, H: BuildHasher] Union for HashSet<T, H> {
        |current, update| current.extend(update)
    }
    impl[T: Ord] Union for BTreeSet<T> { |current, update| current.extend(update) }
    impl[T: PartialEq] Union for Vec<T> { |current, update| union_vec(current, update) }
}

fn append_vec<T>(current: &mut Vec<T>, update: Vec<T>) {
    if current.is_empty() {
        *current = update;
    } else {
        current.extend(update);
    }
}

fn append_string(current: &mut String, update: String) {
    if current.is_empty() {
        *current = update;
    } else {
        current.push_str(&update);
    }
}

fn union_vec<T: PartialEq>(current: &mut Vec<T>, update: Vec<T>) {
    for item in update {
        if !current.contains(&item) {
            current.push(item);
        }
    }
}

impl Reducer<Value> for MergeMap {
    /// As [`try_merge`](Reducer::try_merge), but the update replaces a value that it cannot be
    /// merged into.
    fn merge(&self, current: Value, update: Value) -> Value {
        match (current, update) {
            (Value::Object(mut current), Value::Object(update)) => {
                current.extend(update);
                Value::Object(current)
            }
            (_, update) => update,
        }
    }

    fn try_merge(&self, current: &mut Value, update: Value) -> Result<(), ReducerError> {
        match (current, update) {
            (Value::Object(current), Value::Object(update)) => current.extend(update),
            (current @ Value::Null, update @ Value::Object(_)) => *current = update,
            (current, Value::Object(_)) => {
                return Err(ReducerError::new(format!(
                    "`merge_map` merges into an object, and the current value is {}",
                    json_type(current)
                )));
            }
            (_, update) => {
                return Err(ReducerError::new(format!(
                    "`merge_map` expected an object as the update, found {}",
                    json_type(&update)
                )));
            }
        }
        Ok(())
    }
}

fn json_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Adds the update to the value, as `+=` does: counters, totals, token usage.
///
/// It is implemented for every type with [`AddAssign`]. An overflow behaves as with `+=`; a counter
/// that may overflow should be a [`std::num::Saturating`] or a [`std::num::Wrapping`].
///
/// # Examples
///
/// ```
/// use langgraph::state::{Add, Reducer};
///
/// assert_eq!(Add.merge(2, 3), 5);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Add;

impl<T: AddAssign> Reducer<T> for Add {
    fn merge(&self, mut current: T, update: T) -> T {
        current += update;
        current
    }

    fn try_merge(&self, current: &mut T, update: T) -> Result<(), ReducerError>
    where
        T: Default,
    {
        *current += update;
        Ok(())
    }
}

/// Keeps the greater value; the current one if they are equal or not comparable.
///
/// `None` is less than every `Some`, so use an `Option` for a field without an initial value.
///
/// # Examples
///
/// ```
/// use langgraph::state::{Max, Reducer};
///
/// assert_eq!(Max.merge(2, 3), 3);
/// assert_eq!(Max.merge(None, Some(-1)), Some(-1));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Max;

impl<T: PartialOrd> Reducer<T> for Max {
    fn merge(&self, current: T, update: T) -> T {
        if update > current { update } else { current }
    }

    fn try_merge(&self, current: &mut T, update: T) -> Result<(), ReducerError>
    where
        T: Default,
    {
        if update > *current {
            *current = update;
        }
        Ok(())
    }
}

/// Keeps the smaller value; the current one if they are equal or not comparable.
///
/// A field starts with its default. The default of a number, 0, and of an `Option`, `None`, are
/// smaller than most values. So give the state an initial value, or ignore `None`:
/// `#[reducer(|a, b| [a, b].into_iter().flatten().min())]` on an `Option` field.
///
/// # Examples
///
/// ```
/// use langgraph::state::{Min, Reducer};
///
/// assert_eq!(Min.merge(2, 3), 2);
/// assert_eq!(Min.merge(f64::INFINITY, 0.5), 0.5);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Min;

impl<T: PartialOrd> Reducer<T> for Min {
    fn merge(&self, current: T, update: T) -> T {
        if update < current { update } else { current }
    }

    fn try_merge(&self, current: &mut T, update: T) -> Result<(), ReducerError>
    where
        T: Default,
    {
        if update < *current {
            *current = update;
        }
        Ok(())
    }
}

/// True if both are true: a condition that every writer must confirm. Also for bit flags.
///
/// A `bool` starts as `false` and stays `false`, so give the state an initial `true`.
///
/// # Examples
///
/// ```
/// use langgraph::state::{And, Reducer};
///
/// assert!(!And.merge(true, false));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct And;

impl<T: BitAndAssign> Reducer<T> for And {
    fn merge(&self, mut current: T, update: T) -> T {
        current &= update;
        current
    }
}

/// True if one of them is true: a flag that any writer may set. Also for bit flags.
///
/// # Examples
///
/// ```
/// use langgraph::state::{Or, Reducer};
///
/// assert!(Or.merge(false, true));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Or;

impl<T: BitOrAssign> Reducer<T> for Or {
    fn merge(&self, mut current: T, update: T) -> T {
        current |= update;
        current
    }
}

/// Keeps the first value that is written; for fields of type `Option`.
///
/// # Examples
///
/// ```
/// use langgraph::state::{KeepFirst, Reducer};
///
/// assert_eq!(KeepFirst.merge(None, Some("a")), Some("a"));
/// assert_eq!(KeepFirst.merge(Some("a"), Some("b")), Some("a"));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct KeepFirst;

impl<T> Reducer<Option<T>> for KeepFirst {
    fn merge(&self, current: Option<T>, update: Option<T>) -> Option<T> {
        current.or(update)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;
    use std::num::Saturating;

    use serde_json::json;

    use super::*;

    /// Asserts that both forms of a reducer give `expected`.
    #[track_caller]
    fn gives<T, R>(reducer: &R, current: T, update: T, expected: &T)
    where
        T: Clone + Debug + Default + PartialEq,
        R: Reducer<T>,
    {
        let mut in_place = current.clone();
        reducer.try_merge(&mut in_place, update.clone()).unwrap();
        assert_eq!(in_place, *expected, "in place");
        assert_eq!(reducer.merge(current, update), *expected, "by value");
    }

    #[test]
    fn c2_replace_takes_the_update() {
        gives(&Replace, vec![1, 2], vec![3], &vec![3]);
    }

    #[test]
    fn c2_append_keeps_the_order() {
        gives(&Append, vec![1], vec![2, 3], &vec![1, 2, 3]);
        gives(&Append, vec![], vec![2], &vec![2]);
        gives(&Append, vec![1], vec![], &vec![1]);
        gives(&Append, VecDeque::from([1]), [2].into(), &[1, 2].into());
        gives(&Append, LinkedList::from([1]), [2].into(), &[1, 2].into());
        gives(&Append, "你".to_owned(), "好".into(), &"你好".into());
        gives(&Append, String::new(), "好".into(), &"好".into());
    }

    #[test]
    fn append_does_not_move_what_is_there() {
        let mut current = Vec::with_capacity(8);
        current.push(1);
        let place = current.as_ptr();
        Append.try_merge(&mut current, vec![2, 3]).unwrap();
        assert_eq!((current.as_ptr(), current.len()), (place, 3));
    }

    #[test]
    fn add_sums() {
        gives(&Add, 2, 3, &5);
        gives(&Add, 0.5, 0.25, &0.75);
        gives(&Add, Saturating(250_u8), Saturating(9), &Saturating(255));
    }

    #[test]
    fn max_and_min_keep_one() {
        gives(&Max, 2, 3, &3);
        gives(&Max, 3, 2, &3);
        gives(&Max, None, Some(-5), &Some(-5));
        gives(&Max, 1.0, f64::NAN, &1.0);
        gives(&Min, 2, 3, &2);
        gives(&Min, 3, 2, &2);
        gives(&Min, 1.0, f64::NAN, &1.0);
    }

    #[test]
    fn merge_map_is_shallow_and_the_update_wins() {
        let pairs = |list: &[(&str, i32)]| {
            let pairs = list.iter().map(|(key, value)| ((*key).to_owned(), *value));
            pairs.collect::<Vec<_>>()
        };
        let (old, new) = (pairs(&[("a", 1), ("b", 1)]), pairs(&[("b", 2), ("c", 2)]));
        let both = pairs(&[("a", 1), ("b", 2), ("c", 2)]);
        gives(
            &MergeMap,
            HashMap::<String, i32>::from_iter(old.clone()),
            HashMap::from_iter(new.clone()),
            &HashMap::from_iter(both.clone()),
        );
        gives(
            &MergeMap,
            BTreeMap::from_iter(old),
            BTreeMap::from_iter(new),
            &BTreeMap::from_iter(both),
        );
        gives(
            &MergeMap,
            json!({"a": {"x": 1}, "b": 1}),
            json!({"a": {"y": 2}}),
            &json!({"a": {"y": 2}, "b": 1}),
        );
        gives(&MergeMap, Value::Null, json!({"a": 1}), &json!({"a": 1}));
    }

    #[test]
    fn merge_map_refuses_what_is_no_object() {
        let refused = |mut current: Value, update| {
            let error = MergeMap.try_merge(&mut current, update).unwrap_err();
            error.reason().to_owned()
        };
        assert_eq!(
            refused(json!({"a": 1}), json!([1])),
            "`merge_map` expected an object as the update, found an array"
        );
        assert_eq!(
            refused(json!("text"), json!({"a": 1})),
            "`merge_map` merges into an object, and the current value is a string"
        );
    }

    #[test]
    fn union_adds_what_is_missing() {
        gives(&Union, vec![2, 1], vec![1, 3, 3], &vec![2, 1, 3]);
        gives(&Union, HashSet::from([1]), [1, 2].into(), &[1, 2].into());
        gives(&Union, BTreeSet::from([1]), [1, 2].into(), &[1, 2].into());
    }

    #[test]
    fn flags_combine() {
        gives(&And, true, false, &false);
        gives(&And, true, true, &true);
        gives(&Or, false, true, &true);
        gives(&Or, false, false, &false);
        gives(&Or, 0b01_u8, 0b10, &0b11);
    }

    #[test]
    fn keep_first_ignores_later_writes() {
        gives(&KeepFirst, None, Some(1), &Some(1));
        gives(&KeepFirst, Some(1), Some(2), &Some(1));
    }
}
