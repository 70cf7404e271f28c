//! What is written in a format comes back, or is refused.
#![allow(clippy::unwrap_used)] // in what several tests share

use std::collections::BTreeMap;

use langgraph::checkpoint::{Encoded, Format, Formats, Json};
use langgraph::error::FormatError;
use langgraph_codecs::{Encrypted, Key, MessagePack, Zstd};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Sample {
    text: String,
    optional: Option<String>,
    by_number: BTreeMap<u64, Shape>,
    list: Vec<Shape>,
    wide: i128,
    mixed: Mixed,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    skipped: Option<u8>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Unit,
    One(f64),
    Two(f32, ()),
    Named { a: bool, b: char },
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Mixed {
    Number { value: u32 },
    Scores { of: BTreeMap<String, f64> },
}

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Unit),
        any::<u64>().prop_map(|bits| Shape::One(f64::from_bits(bits))),
        any::<u32>().prop_map(|bits| Shape::Two(f32::from_bits(bits), ())),
        (any::<bool>(), any::<char>()).prop_map(|(a, b)| Shape::Named { a, b }),
    ]
}

fn sample() -> impl Strategy<Value = Sample> {
    let mixed = prop_oneof![
        any::<u32>().prop_map(|value| Mixed::Number { value }),
        proptest::collection::btree_map(".*", any::<f64>(), 0..3)
            .prop_map(|of| Mixed::Scores { of }),
    ];
    (
        "(.{0,9}){0,40}",
        proptest::option::of(".*"),
        proptest::collection::btree_map(any::<u64>(), shape(), 0..4),
        proptest::collection::vec(shape(), 0..4),
        any::<i128>(),
        mixed,
        proptest::option::of(any::<u8>()),
    )
        .prop_map(
            |(text, optional, by_number, list, wide, mixed, skipped)| Sample {
                text,
                optional,
                by_number,
                list,
                wide,
                mixed,
                skipped,
            },
        )
}

/// Every float as its bits.
fn bits(sample: &Sample) -> String {
    let shapes = sample.list.iter().chain(sample.by_number.values());
    let numbers: Vec<_> = shapes
        .map(|shape| match shape {
            Shape::One(number) => number.to_bits(),
            Shape::Two(number, ()) => u64::from(number.to_bits()),
            _ => 0,
        })
        .collect();
    format!("{numbers:?} {sample:?}")
}

fn key(id: &str, byte: u8) -> Key {
    Key::new(id, &[byte; 32])
}

fn there_and_back(formats: &Formats, sample: &Sample) {
    let stored = formats.encode(sample, 0).unwrap();
    let read: Sample = formats.decode(&stored).unwrap();
    assert_eq!(bits(&read), bits(sample));
}

proptest! {
    #[test]
    fn messagepack_gives_back_what_json_refuses(sample in sample()) {
        there_and_back(&Formats::new(MessagePack), &sample);
    }

    #[test]
    fn formats_around_formats_give_back_the_same(sample in sample(), level in -5..12_i32) {
        there_and_back(&Formats::new(Zstd::new(MessagePack).level(level)), &sample);
        there_and_back(&Formats::new(Encrypted::new(MessagePack, key("k", 1))), &sample);
        let all = Encrypted::new(Zstd::new(MessagePack), key("k", 1));
        there_and_back(&Formats::new(all), &sample);
        // The other way round makes no sense, and works.
        let all = Zstd::new(Encrypted::new(MessagePack, key("k", 1)));
        there_and_back(&Formats::new(all), &sample);
    }

    #[test]
    fn what_is_damaged_is_an_error_or_at_least_no_panic(
        sample in sample(),
        at in any::<prop::sample::Index>(),
        flip in 1..=255_u8,
    ) {
        let formats = Formats::new(Encrypted::new(Zstd::new(MessagePack), key("k", 1)));
        let mut stored = formats.encode(&sample, 0).unwrap();
        let at = at.index(stored.bytes.len());
        flip_at(&mut stored, at, flip);
        prop_assert!(formats.decode::<Sample>(&stored).is_err());
        stored.bytes.truncate(at);
        prop_assert!(formats.decode::<Sample>(&stored).is_err());

        for formats in [Formats::new(MessagePack), Formats::new(Zstd::new(MessagePack))] {
            let mut stored = formats.encode(&sample, 0).unwrap();
            let at = at % stored.bytes.len();
            flip_at(&mut stored, at, flip);
            let _ = formats.decode::<Sample>(&stored);
            stored.bytes.truncate(at);
            prop_assert!(formats.decode::<Sample>(&stored).is_err());
        }
    }
}

#[test]
fn tags_say_how_formats_are_put_together() {
    assert_eq!(MessagePack.tag(), "messagepack");
    assert_eq!(Zstd::new(Json).tag(), "zstd+json");
    let all = Encrypted::new(Zstd::new(MessagePack), key("k", 1));
    assert_eq!(all.tag(), "aead+zstd+messagepack");
}

#[test]
fn an_unknown_tag_is_named() {
    let stored = Formats::new(Zstd::new(MessagePack)).encode(&1, 0).unwrap();
    let formats = Formats::new(MessagePack).and_read(Zstd::new(Json));
    let error = formats.decode::<u8>(&stored).unwrap_err();
    assert_eq!(
        error.to_string(),
        "it was written as `zstd+messagepack`, and only `messagepack`, `json`, `zstd+json` can be \
         read; add the format with `.and_read(..)`"
    );
}

#[test]
fn messagepack_is_refused_what_does_not_come_back() {
    let error = MessagePack
        .encode(&BTreeMap::from([(3, Some(None::<u8>))]))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("cannot be stored as MessagePack"),
        "{error}"
    );
    let deep = |depth: usize| {
        (0..depth).fold(serde_json::Value::from(1), |inner, _| {
            serde_json::json!([inner])
        })
    };
    let formats = Formats::new(MessagePack);
    let stored = formats.encode(&deep(127), 0).unwrap();
    assert_eq!(
        formats.decode::<serde_json::Value>(&stored).unwrap(),
        deep(127)
    );
    assert!(MessagePack.encode(&deep(128)).is_err());
}

#[test]
fn bytes_behind_a_value_are_an_error() {
    let formats = Formats::new(MessagePack);
    let mut stored = formats.encode(&1, 0).unwrap();
    let mut bytes = stored.bytes.to_vec();
    bytes.push(1);
    stored.bytes = bytes.into();
    let error = formats.decode::<u8>(&stored).unwrap_err();
    assert!(error.to_string().contains("1 bytes follow"), "{error}");
}

#[test]
fn text_is_compressed_and_what_does_not_shrink_is_left() {
    let format = Zstd::new(Json);
    let text = "What is the weather like in Paris today? ".repeat(50);
    let compressed = format.encode(&text).unwrap();
    assert!(compressed.len() < text.len() / 10, "{}", compressed.len());
    assert_eq!(format.encode(&"short").unwrap(), b"\"short\"");
    let fast = Zstd::new(Json).level(i32::MIN).encode(&text).unwrap();
    let small = Zstd::new(Json).level(i32::MAX).encode(&text).unwrap();
    assert!(small.len() <= fast.len());
}

/// What another format has written looks like a frame by chance.
#[test]
fn what_looks_compressed_and_is_not_comes_back() {
    struct Raw;
    impl Format for Raw {
        fn tag(&self) -> &'static str {
            "raw"
        }
        fn encode(&self, value: &dyn erased_serde::Serialize) -> Result<Vec<u8>, FormatError> {
            let mut bytes = vec![0x28, 0xb5, 0x2f, 0xfd];
            bytes.extend(Json.encode(value)?);
            Ok(bytes)
        }
        fn decode(
            &self,
            bytes: &[u8],
            read: &mut langgraph::checkpoint::ReadValue<'_>,
        ) -> Result<(), FormatError> {
            Json.decode(&bytes[4..], read)
        }
    }
    let formats = Formats::new(Zstd::new(Raw));
    let stored = formats.encode(&7, 0).unwrap();
    assert_eq!(formats.decode::<u8>(&stored).unwrap(), 7);
}

fn flip_at(stored: &mut Encoded, at: usize, flip: u8) {
    let mut bytes = stored.bytes.to_vec();
    bytes[at] ^= flip;
    stored.bytes = bytes.into();
}

fn refused(formats: &Formats, stored: &Encoded) -> String {
    let refused = formats.decode::<String>(stored);
    refused.unwrap_err().to_string()
}

#[test]
fn a_new_key_writes_and_the_old_one_reads() {
    let old = Formats::new(Encrypted::new(Json, key("old", 1)));
    let stored = old.encode(&"secret", 0).unwrap();
    let rotated = Encrypted::new(Json, key("new", 2)).and_read(key("old", 1));
    let rotated = Formats::new(rotated);
    assert_eq!(rotated.decode::<String>(&stored).unwrap(), "secret");

    let newer = rotated.encode(&"secret", 0).unwrap();
    let new = Formats::new(Encrypted::new(Json, key("new", 2)));
    assert_eq!(new.decode::<String>(&newer).unwrap(), "secret");
    assert_eq!(
        refused(&new, &stored),
        "it was encrypted with key `old`, and only `new` can be read; add the key with \
         `.and_read(..)`"
    );
}

#[test]
fn a_key_of_the_same_name_and_another_secret_is_reported() {
    let stored = Formats::new(Encrypted::new(Json, key("k", 1)))
        .encode(&"secret", 0)
        .unwrap();
    let other = Encrypted::new(Json, key("k", 2));
    assert_eq!(
        refused(&Formats::new(other.clone()), &stored),
        "it cannot be decrypted: key `k` has another secret than when it was written, or the \
         bytes were changed since"
    );
    let both = Formats::new(other.and_read(key("k", 1)));
    assert_eq!(both.decode::<String>(&stored).unwrap(), "secret");
}

#[test]
fn nothing_shows_through_encryption() {
    let formats = Formats::new(Encrypted::new(Json, key("k", 1)));
    let first = formats.encode(&"the secret", 0).unwrap();
    let second = formats.encode(&"the secret", 0).unwrap();
    assert_ne!(first.bytes, second.bytes, "each value has a nonce");
    let holds = |bytes: &[u8], text: &str| bytes.windows(text.len()).any(|w| w == text.as_bytes());
    assert!(!holds(&first.bytes, "secret"));
    assert!(holds(&first.bytes, "k"));
    assert!(!format!("{:?}", key("k", 42)).contains("42"));

    // In errors neither: of what is read, and of what is written.
    let error = formats.decode::<u32>(&first).unwrap_err();
    assert_eq!(
        error.to_string(),
        "what was encrypted with key `k` is not of the type that is read; the difference is hidden, \
         because the value is secret"
    );
    let secret = BTreeMap::from([("Ada's score", f64::NAN)]);
    let error = formats.encode(&secret, 0).unwrap_err();
    let mut source: Option<&dyn std::error::Error> = Some(&error);
    while let Some(error) = source {
        let text = format!("{error} {error:?}");
        assert!(text.contains("cannot be stored as json"), "{text}");
        assert!(!error.to_string().contains("Ada"), "{error}");
        source = error.source();
    }
}

#[test]
fn a_key_whose_name_is_too_long_is_reported_when_it_writes() {
    let format = Encrypted::new(Json, key(&"k".repeat(256), 1));
    let error = format.encode(&1).unwrap_err();
    assert!(error.to_string().contains("at most 255"), "{error}");
    let formats = Formats::new(Encrypted::new(Json, key(&"k".repeat(255), 1)));
    let stored = formats.encode(&1, 0).unwrap();
    assert_eq!(formats.decode::<u8>(&stored).unwrap(), 1);
}

#[test]
fn a_frame_that_unfolds_beyond_the_limit_is_refused() {
    let zeros = "0".repeat(3_000_000);
    let stored = Formats::new(Zstd::new(Json)).encode(&zeros, 0).unwrap();
    assert!(stored.bytes.len() < 10_000);
    let small = Formats::new(Zstd::new(Json).limit(1_000_000));
    let error = small.decode::<String>(&stored).unwrap_err().to_string();
    assert!(error.contains("more than 1000000 bytes"), "{error}");
    // It would not be read, so it is not written either.
    let error = small.encode(&zeros, 0).unwrap_err().to_string();
    assert!(error.contains("`Zstd::limit`"), "{error}");
    let read = Formats::new(Zstd::new(Json).limit(3_000_002)).decode::<String>(&stored);
    assert_eq!(read.unwrap(), zeros);
}
