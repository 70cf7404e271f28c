use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Format, FormatError, Json};
use crate::checkpoint::Formats;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Sample {
    score: f64,
    small: f32,
    name: Option<String>,
    parts: Vec<Part>,
    by_name: BTreeMap<String, Part>,
    #[allow(clippy::option_option)] // what is refused
    nested: Option<Option<u8>>,
    wide: i128,
    any: Value,
    optional: Option<Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Part {
    Nothing,
    One(Option<f64>),
    Two(u64, f32),
    Named { x: f64, unit: () },
    Deep(Box<Part>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Either {
    Counts(BTreeMap<u32, bool>),
    Text(String),
}

/// Equal floats may differ in bits; with equal text they are equal bit by bit.
fn text(value: &impl std::fmt::Debug) -> String {
    format!("{value:?}")
}

fn refusal(value: &impl Serialize) -> FormatError {
    Json.encode(value).expect_err("this is refused")
}

fn path(value: &impl Serialize) -> String {
    refusal(value).path().unwrap_or_default().to_owned()
}

fn there_and_back<T: Serialize + DeserializeOwned>(value: &T) -> Result<T, FormatError> {
    let formats = Formats::default();
    formats.decode(&formats.encode(value, 0)?)
}

fn part() -> impl Strategy<Value = Part> {
    let leaf = prop_oneof![
        Just(Part::Nothing),
        proptest::option::of(any::<f64>()).prop_map(Part::One),
        (any::<u64>(), any::<f32>()).prop_map(|(a, b)| Part::Two(a, b)),
        any::<f64>().prop_map(|x| Part::Named { x, unit: () }),
    ];
    leaf.prop_recursive(4, 8, 1, |inner| {
        inner.prop_map(|part| Part::Deep(Box::new(part)))
    })
}

fn json() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        proptest::collection::btree_map(".*", any::<i64>(), 0..3)
            .prop_map(|map| serde_json::json!(map)),
    ]
}

fn sample() -> impl Strategy<Value = Sample> {
    // Most are acceptable: a value that is always refused would prove nothing.
    let rare = |value| prop_oneof![9 => Just(None), 1 => Just(Some(value))];
    (
        (prop_oneof![9 => proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL | proptest::num::f64::ZERO, 1 => any::<f64>()], any::<f32>(), proptest::option::of(".*")),
        (
            proptest::collection::vec(part(), 0..3),
            proptest::collection::btree_map(".*", part(), 0..3),
        ),
        (rare(None), prop_oneof![9 => any::<i64>().prop_map(i128::from), 1 => any::<i128>()]),
        (json(), proptest::option::of(json())),
    )
        .prop_map(
            |((score, small, name), (parts, by_name), (nested, wide), (any, optional))| Sample {
                score,
                small,
                name,
                parts,
                by_name,
                nested,
                wide,
                any,
                optional,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_accepted_comes_back_the_same(sample in sample()) {
        if let Ok(bytes) = Json.encode(&sample) {
            let read: Sample = there_and_back(&sample).unwrap();
            prop_assert_eq!(text(&read), text(&sample));
            // A migration reads it in two steps.
            let value: Value = serde_json::from_slice(&bytes).unwrap();
            let read: Sample = serde_json::from_value(value).unwrap();
            prop_assert_eq!(text(&read), text(&sample));
        }
    }

    #[test]
    fn every_finite_number_comes_back_bit_by_bit(bits in any::<u64>(), small in any::<u32>()) {
        let (number, small) = (f64::from_bits(bits), f32::from_bits(small));
        match there_and_back(&number) {
            Ok(read) => prop_assert_eq!(read.to_bits(), bits),
            Err(_) => prop_assert!(!number.is_finite()),
        }
        match there_and_back(&small) {
            Ok(read) => prop_assert_eq!(read.to_bits(), small.to_bits()),
            Err(_) => prop_assert!(!small.is_finite()),
        }
    }
}

fn plain() -> Sample {
    Sample {
        score: 0.1,
        small: 0.1,
        name: None,
        parts: Vec::new(),
        by_name: BTreeMap::new(),
        nested: None,
        wide: 1,
        any: Value::Null,
        optional: None,
    }
}

#[test]
fn what_does_not_come_back_is_refused_at_its_place() {
    let score = Sample {
        score: f64::NAN,
        ..plain()
    };
    assert_eq!(
        refusal(&score).to_string(),
        "field `score`: `NaN` cannot be stored as JSON, which holds finite numbers only; write \
         `None` in its place, or use a format that holds it"
    );
    let parts = Sample {
        parts: vec![
            Part::Nothing,
            Part::Deep(Box::new(Part::Named {
                x: f64::INFINITY,
                unit: (),
            })),
        ],
        ..plain()
    };
    assert_eq!(path(&parts), "parts[1].Deep.Named.x");
    let two = Sample {
        by_name: BTreeMap::from([("a".to_owned(), Part::Two(0, f32::NEG_INFINITY))]),
        ..plain()
    };
    assert_eq!(path(&two), "by_name.a.Two[1]");
    let nested = Sample {
        nested: Some(None),
        ..plain()
    };
    assert_eq!(path(&nested), "nested");
    let wide = Sample {
        wide: i128::from(u64::MAX) + 1,
        ..plain()
    };
    assert_eq!(path(&wide), "wide");
    let optional = Sample {
        optional: Some(Value::Null),
        ..plain()
    };
    assert_eq!(path(&optional), "optional");
    assert!(Json.encode(&plain()).is_ok());
}

#[test]
fn keys_that_are_not_text_are_refused() {
    for (refused, what) in [
        (refusal(&HashMap::from([(7, 1)])), "`7`"),
        (refusal(&HashMap::from([(true, 1)])), "`true`"),
        (refusal(&HashMap::from([((1, 2), 1)])), "a tuple"),
        (refusal(&HashMap::from([(None::<String>, 1)])), "`None`"),
    ] {
        let text = refused.to_string();
        assert!(
            text.starts_with(&format!(
                "a map cannot be stored as JSON with {what} as a key"
            )),
            "{text}"
        );
    }
    // The reason why integers are refused too: they can be written, but not read.
    let either = Either::Counts(BTreeMap::from([(1, true)]));
    let written = serde_json::to_string(&either).unwrap();
    assert!(serde_json::from_str::<Either>(&written).is_err());
    assert!(Json.encode(&either).is_err());
}

#[test]
fn keys_that_are_text_come_back() {
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    enum Color {
        Red,
    }
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    struct Name(String);

    let by_color = BTreeMap::from([(Color::Red, 1)]);
    assert_eq!(there_and_back(&by_color).unwrap(), by_color);
    let by_char = BTreeMap::from([('x', 1), ('"', 2)]);
    assert_eq!(there_and_back(&by_char).unwrap(), by_char);
    let by_name = BTreeMap::from([(Name("a".to_owned()), 1)]);
    assert_eq!(there_and_back(&by_name).unwrap(), by_name);
    let by_id = BTreeMap::from([(crate::id::new_id(), 1)]);
    assert_eq!(there_and_back(&by_id).unwrap(), by_id);
}

#[test]
fn what_is_too_deep_to_be_read_is_not_written() {
    fn nested(depth: usize) -> Value {
        (0..depth).fold(Value::from(1), |inner, _| Value::Array(vec![inner]))
    }
    assert_eq!(there_and_back(&nested(127)).unwrap(), nested(127));
    let refused = refusal(&nested(128)).to_string();
    assert!(
        refused.contains("more than 127 values are inside each other"),
        "{refused}"
    );
    let written = serde_json::to_vec(&nested(128)).unwrap();
    assert!(serde_json::from_slice::<Value>(&written).is_err());

    #[allow(clippy::items_after_statements)]
    fn parts(depth: usize) -> Part {
        (0..depth).fold(Part::Two(1, 1.0), |inner, _| Part::Deep(Box::new(inner)))
    }
    assert_eq!(there_and_back(&parts(125)).unwrap(), parts(125));
    assert!(Json.encode(&parts(126)).is_err());
    let written = serde_json::to_vec(&parts(126)).unwrap();
    assert!(serde_json::from_slice::<Part>(&written).is_err());
}

#[test]
fn an_error_of_the_value_has_its_place() {
    struct Locked;
    impl Serialize for Locked {
        fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("the lock is poisoned"))
        }
    }
    let error = refusal(&BTreeMap::from([("a b", vec![Locked])]));
    assert_eq!(error.to_string(), "field `a b[0]`: the lock is poisoned");
}
