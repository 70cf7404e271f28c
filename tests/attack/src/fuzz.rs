//! Hostile input to every decoder: it answers or refuses, quickly, and never ends the process.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use langgraph::checkpoint::{CheckpointId, Encoded, Format, Formats, Json, ListOptions};
use langgraph::message::{Message, MessageChunk};
use langgraph_codecs::{Encrypted, Key, MessagePack, Zstd};
use langgraph_remote::{AgentId, Frame, StreamAssembler};
use langgraph_sql::rows::{Row, RowKind, StateRows, decode};
use langgraph_sql::{Listed, LogName, OwnerRow};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::graphs::{build, finish, over};
use crate::kill::name;
use crate::report::{Report, caught};
use crate::storage::Storage;
use crate::{Effort, block_on};

/// An input that takes longer is a finding.
const LONG: Duration = Duration::from_secs(2);

/// Inputs grow up to this size, now and then.
const LARGE: usize = 64 * 1024;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(f64),
    Group { name: String, of: Vec<Shape> },
}

/// A value with something of everything.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Rich {
    text: String,
    number: i64,
    large: u64,
    small: i8,
    real: f64,
    yes: bool,
    maybe: Option<u32>,
    list: Vec<Option<String>>,
    map: BTreeMap<String, Vec<u16>>,
    pair: (char, u8),
    shape: Shape,
    messages: Vec<Message>,
    json: serde_json::Value,
    at: Option<CheckpointId>,
}

fn rich(random: &mut fastrand::Rng) -> Rich {
    let word = |random: &mut fastrand::Rng| -> String {
        let length = random.usize(..12);
        std::iter::repeat_with(|| random.char(..))
            .take(length)
            .collect()
    };
    Rich {
        text: word(random),
        number: random.i64(..),
        large: random.u64(..),
        small: random.i8(..),
        real: random.f64() * 1e10,
        yes: random.bool(),
        maybe: random.bool().then(|| random.u32(..)),
        list: (0..random.usize(..4))
            .map(|_| random.bool().then(|| word(random)))
            .collect(),
        map: (0..random.usize(..4))
            .map(|_| (word(random), vec![random.u16(..); random.usize(..3)]))
            .collect(),
        pair: (random.char(..), random.u8(..)),
        shape: Shape::Group {
            name: word(random),
            of: vec![Shape::Point, Shape::Circle(random.f64())],
        },
        messages: vec![
            Message::user(word(random)),
            Message::assistant(word(random)).with_id(word(random)),
        ],
        json: serde_json::json!({"a": [1, null, {"b": word(random)}], "c": 0.5}),
        at: random.bool().then(|| CheckpointId::after(None)),
    }
}

/// Takes an input, and fails if it is decoded to something that cannot be.
type Decoder = Box<dyn Fn(&[u8]) -> Result<bool, String>>;

pub(crate) fn attack(effort: Effort) -> Report {
    let mut report = Report::default();
    let inputs = effort.of(20_000, 10_000_000);
    let mut random = fastrand::Rng::with_seed(effort.seed);
    let values: Vec<_> = (0..40).map(|_| rich(&mut random)).collect();
    for (name, seeds, decoder) in decoders(&values) {
        report.add(fuzz(name, &seeds, &decoder, inputs, effort.seed));
    }
    report
}

fn encoded(format: &impl Format, values: &[Rich]) -> Vec<Vec<u8>> {
    let encode = |value: &Rich| format.encode(value).expect("it is encoded");
    values.iter().map(encode).collect()
}

/// A decoder of values: what is read can be written, and is then the same.
fn values<T: DeserializeOwned + Serialize>(formats: Formats, tag: &'static str) -> Decoder {
    Box::new(move |bytes| {
        let stored = Encoded::new(tag, 0, bytes.to_vec());
        let Ok(value) = formats.decode::<T>(&stored) else {
            return Ok(false);
        };
        let again = formats
            .encode(&value, 0)
            .map_err(|error| format!("what was read cannot be written: {error}"))?;
        let value: T = formats
            .decode(&again)
            .map_err(|error| format!("what was read and written cannot be read: {error}"))?;
        let third = formats
            .encode(&value, 0)
            .map_err(|error| error.to_string())?;
        // What is encrypted differs each time.
        if third.bytes != again.bytes && !tag.starts_with("aead") {
            return Err("it is another value when it is read again".to_owned());
        }
        Ok(true)
    })
}

fn decoders(all: &[Rich]) -> Vec<(&'static str, Vec<Vec<u8>>, Decoder)> {
    let key = || Key::new("k", &[7; 32]);
    let encrypted = || Encrypted::new(Zstd::new(MessagePack), key());
    let zstd = || Zstd::new(Json).limit(8 * 1024 * 1024);
    let rows = stored();
    let texts = |kinds: &[u8]| -> Vec<Vec<u8>> {
        let of = rows.iter().filter(|(kind, ..)| kinds.contains(kind));
        of.map(|(_, text, _)| text.clone().into_bytes()).collect()
    };
    let frames: Vec<_> = FRAMES.iter().map(|text| text.as_bytes().to_vec()).collect();
    let messages = all.iter().flat_map(|value| &value.messages);
    let messages = messages.map(|message| serde_json::to_vec(message).expect("it is JSON"));
    vec![
        (
            "JSON values",
            encoded(&Json, all),
            values::<Rich>(Formats::default(), "json"),
        ),
        (
            "MessagePack values",
            encoded(&MessagePack, all),
            values::<Rich>(Formats::new(MessagePack), "messagepack"),
        ),
        (
            "Zstd values",
            encoded(&zstd(), all),
            values::<Rich>(Formats::new(zstd()), "zstd+json"),
        ),
        (
            "encrypted values",
            encoded(&encrypted(), all),
            values::<Rich>(Formats::new(encrypted()), "aead+zstd+messagepack"),
        ),
        ("rows", texts(&[0, 1, 2, 3, 4, 5]), Box::new(read_rows)),
        ("rows one by one", texts(&[0, 2, 3, 5]), Box::new(read_past)),
        (
            "owners and names",
            vec![
                br#"{"graph":"g","state":{"name":"S","version":1,"fields":[["a","i64"]]}}"#
                    .to_vec(),
                br#"["inside:01a204ed-23d9-74c1-abd7-f87fda7898e0:0:0","x"]"#.to_vec(),
                br#"{"user":"Ada","tags":["a","b"],"n":1.5}"#.to_vec(),
                b"01a204ed-23d9-74c1-abd7-f87fda7898e0".to_vec(),
            ],
            Box::new(read_names),
        ),
        ("frames", frames, Box::new(read_frame)),
        (
            "messages",
            messages.collect(),
            Box::new(|bytes| {
                let _ = serde_json::from_slice::<MessageChunk>(bytes);
                let Ok(message) = serde_json::from_slice::<Message>(bytes) else {
                    return Ok(false);
                };
                let text = serde_json::to_vec(&message).map_err(|error| error.to_string())?;
                match serde_json::from_slice::<Message>(&text) {
                    Ok(again) if again == message => Ok(true),
                    other => Err(format!("{message:?} becomes {other:?}")),
                }
            }),
        ),
    ]
}

const FRAMES: [&str; 6] = [
    r#"{"type":"message","from":"a","to":"b","request_id":"r","payload":{"x":[1,2]}}"#,
    r#"{"type":"reply_chunk","from":"a","request_id":"r","stream_id":"s","seq":3,"payload":"text"}"#,
    r#"{"type":"reply_end","from":"a","request_id":"r","stream_id":"s","payload":null}"#,
    r#"{"type":"reply_error","from":"a","request_id":"r","code":"timeout","message":"late"}"#,
    r#"{"type":"reply_interrupt","from":"a","request_id":"r","payload":[{"id":"i","key":"k","payload":1}]}"#,
    r#"{"type":"message_cancel","from":"a","request_id":"r","conversation":"c","timeout_ms":5}"#,
];

/// The kinds, texts and values of rows that graphs have stored.
fn stored() -> Vec<(u8, String, Vec<u8>)> {
    let folder = tempfile::tempdir().expect("there is room for files");
    let path = folder.path().join("threads.db");
    block_on(async {
        let saver = Storage::Sqlite(path.clone())
            .open()
            .await
            .expect("it opens");
        for seed in 0..8 {
            let graph = over(&build(seed, &std::sync::Arc::default()), saver.clone());
            let durability = langgraph::checkpoint::Durability::Sync;
            let ended = finish(&graph, &name(seed), durability, None).await;
            ended.expect("the thread ends");
        }
    });
    let connection = rusqlite::Connection::open(path).expect("the file opens");
    let sql = "SELECT kind, text, coalesce(payload, '') FROM thread_rows";
    let mut statement = connection.prepare(sql).expect("the query fits");
    let rows = statement.query_map([], |row| {
        let payload = row.get_ref(2)?;
        let payload = payload.as_bytes().unwrap_or_default().to_vec();
        Ok((row.get(0)?, row.get(1)?, payload))
    });
    let rows = rows.expect("the table is read");
    rows.collect::<Result<_, _>>().expect("the rows are read")
}

/// The input as rows: its first bytes choose their kinds.
fn rows_of(bytes: &[u8]) -> Vec<Row> {
    let id = CheckpointId::from_bytes([1; 16]);
    let text = String::from_utf8_lossy(bytes);
    let kinds = [
        0,
        bytes.first().copied().unwrap_or(0) % 5,
        bytes.len() as u8 % 5,
    ];
    let parts = text.split("\n\n").chain(["{}"]);
    let rows = kinds.iter().zip(parts).map(|(kind, text)| {
        let kind = RowKind::from_number(*kind).unwrap_or(RowKind::Task);
        let payload =
            (!bytes.len().is_multiple_of(3)).then(|| Encoded::new("json", 0, bytes.to_vec()));
        Row::new(id, kind, text, payload)
    });
    rows.collect()
}

fn read_rows(bytes: &[u8]) -> Result<bool, String> {
    Ok(decode(rows_of(bytes)).is_ok())
}

fn read_past(bytes: &[u8]) -> Result<bool, String> {
    let mut state = StateRows::new();
    let mut seen = 0;
    for row in rows_of(bytes) {
        if state.row(row, &mut |_| seen += 1).is_err() {
            return Ok(false);
        }
    }
    Ok(state.finish().is_ok())
}

fn read_names(bytes: &[u8]) -> Result<bool, String> {
    let text = String::from_utf8_lossy(bytes);
    let owner = OwnerRow::read(Some(OwnerRow::key_of(&text)), Some(&text)).is_ok();
    let keys = LogName::keys("t", [text.clone().into_owned()]).is_ok();
    let id = text.parse::<CheckpointId>().is_ok();
    let listed = Listed {
        id: CheckpointId::from_bytes([1; 16]),
        step: 1,
        source: "loop",
        metadata: Some(&text),
    };
    let wanted = listed.is_wanted(&ListOptions::new().metadata("user", "Ada"));
    Ok(owner || keys || id || wanted.is_ok())
}

fn read_frame(bytes: &[u8]) -> Result<bool, String> {
    let text = String::from_utf8_lossy(bytes);
    let Ok(frame) = Frame::from_json(&text) else {
        return Ok(false);
    };
    let written = frame.to_json().map_err(|error| error.to_string())?;
    Frame::from_json(&written).map_err(|error| format!("{written}: {error}"))?;
    if let Ok(envelope) = frame.into_envelope(&AgentId::new("me")) {
        let mut assembler = StreamAssembler::new();
        let _ = assembler.push(envelope.clone());
        let _ = assembler.push(envelope);
        let _ = assembler.finish();
    }
    Ok(true)
}

fn fuzz(name: &str, seeds: &[Vec<u8>], decoder: &Decoder, inputs: u64, seed: u64) -> Report {
    let mut report = Report {
        cases: inputs,
        ..Report::default()
    };
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut taken, mut input) = (0_u64, Vec::new());
    let began = Instant::now();
    for number in 0..inputs {
        mutate(seeds, &mut input, &mut random);
        let started = Instant::now();
        let decoded = caught(|| decoder(&input)).and_then(|decoded| decoded);
        match decoded {
            Ok(was_taken) => taken += u64::from(was_taken),
            Err(what) => report.finding(format!(
                "{name}, input {number} ({:?}): {what}",
                String::from_utf8_lossy(&input[..input.len().min(200)])
            )),
        }
        if started.elapsed() > LONG {
            report.finding(format!(
                "{name}, input {number} took {:?}",
                started.elapsed()
            ));
        }
        if report.findings.len() > 20 {
            break;
        }
    }
    report.say(format!(
        "{inputs} {name} ({taken} decoded, {:.0} a second)",
        inputs as f64 / began.elapsed().as_secs_f64()
    ));
    report
}

/// Texts that parsers stumble over.
const HARD: [&str; 24] = [
    "[",
    "{",
    "]",
    "}",
    "\"",
    "\\u0000",
    "\\ud800",
    "null",
    "NaN",
    "1e999",
    "-1e999",
    "99999999999999999999999",
    "-9223372036854775808",
    "18446744073709551615",
    "1e-400",
    "{}",
    "[]",
    "\"\":",
    ",",
    "[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":",
    "\u{feff}",
    "\n\n",
    "0x10",
];

/// Writes the next input: a seed with some changes.
fn mutate(seeds: &[Vec<u8>], input: &mut Vec<u8>, random: &mut fastrand::Rng) {
    input.clear();
    input.extend_from_slice(&seeds[random.usize(..seeds.len())]);
    for _ in 0..=random.u8(..4) {
        let at = random.usize(..=input.len());
        let end = (at + random.usize(..24)).min(input.len());
        match random.u8(..12) {
            0 | 1 if at < input.len() => input[at] ^= 1 << random.u8(..8),
            2 if at < input.len() => input[at] = random.u8(..),
            3 => input.truncate(at),
            4 => drop(input.drain(at..end)),
            5 => {
                let part = input[at..end].to_vec();
                let to = random.usize(..=input.len());
                input.splice(to..to, part);
            }
            6 => {
                let other = &seeds[random.usize(..seeds.len())];
                let from = random.usize(..=other.len());
                let to = (from + random.usize(..40)).min(other.len());
                input.splice(at..end, other[from..to].iter().copied());
            }
            7 | 8 => {
                let hard = HARD[random.usize(..HARD.len())];
                input.splice(at..end, hard.bytes());
            }
            9 if random.u8(..40) == 0 => {
                // Deep, or long.
                let hard = HARD[random.usize(..HARD.len())].repeat(random.usize(1..2_000));
                input.splice(at..at, hard.bytes());
            }
            10 if at < input.len() => {
                // Lengths of MessagePack, and of frames.
                let value =
                    [0xdb, 0xdd, 0xdf, 0xc6, 0xc9, 0xff, 0x7f, 0x80, 0x00][random.usize(..9)];
                input[at] = value;
            }
            _ => {
                // A digit more, or another one.
                if let Some(digit) = input[at..].iter().position(u8::is_ascii_digit) {
                    input.insert(at + digit, b'0' + random.u8(..10));
                }
            }
        }
    }
    input.truncate(LARGE);
}
