//! The rows of a saver of bytes as a file.

use langgraph::checkpoint::{Encoded, Formats, Head, RunStatus, ThreadKey};
use langgraph_sql::rows::{Row, RowKind};
use serde::{Deserialize, Serialize};

use super::Fallible;
use crate::{ByteSaver, KeptLog};

#[derive(Serialize, Deserialize)]
struct LogLine {
    thread: String,
    namespace: Vec<String>,
    head: String,
    version: u64,
    running: bool,
    rows: Vec<RowLine>,
}

#[derive(Serialize, Deserialize)]
struct RowLine {
    checkpoint: String,
    kind: u8,
    text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    payload: Option<PayloadLine>,
}

#[derive(Serialize, Deserialize)]
struct PayloadLine {
    format: String,
    version: u32,
    /// The bytes as they are, if they are text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The bytes in base 16, if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

/// Everything that the saver keeps, one line for each log.
pub fn dump(saver: &ByteSaver) -> Fallible<String> {
    let mut text = String::new();
    for log in saver.dump() {
        text += &serde_json::to_string(&log_line(log))?;
        text.push('\n');
    }
    Ok(text)
}

/// A saver that keeps what was dumped.
pub fn restore(text: &str, formats: Formats) -> Fallible<ByteSaver> {
    let saver = ByteSaver::new(formats);
    for line in text.lines() {
        let line: LogLine = serde_json::from_str(line)?;
        let rows = line.rows.into_iter().map(row);
        saver.restore(KeptLog {
            key: ThreadKey {
                thread: line.thread,
                namespace: line.namespace,
            },
            head: Head::new(line.head.parse()?, line.version),
            // Older logs say only whether a run was under way.
            status: if line.running {
                RunStatus::Running
            } else {
                RunStatus::Done
            },
            rows: rows.collect::<Fallible<_>>()?,
        })?;
    }
    Ok(saver)
}

fn log_line(log: KeptLog) -> LogLine {
    let rows = log.rows.into_iter().map(|row| RowLine {
        checkpoint: row.checkpoint.to_string(),
        kind: row.kind as u8,
        text: row.text,
        payload: row.payload.map(|payload| {
            let text = std::str::from_utf8(&payload.bytes).ok().map(str::to_owned);
            let hex = || payload.bytes.iter().map(|byte| format!("{byte:02x}"));
            PayloadLine {
                format: payload.format.to_string(),
                version: payload.version,
                hex: text.is_none().then(|| hex().collect()),
                text,
            }
        }),
    });
    LogLine {
        thread: log.key.thread,
        namespace: log.key.namespace,
        head: log.head.id.to_string(),
        version: log.head.version,
        running: log.status.is_running(),
        rows: rows.collect(),
    }
}

fn row(line: RowLine) -> Fallible<Row> {
    let payload = line.payload.map(|payload| {
        let bytes = match (payload.text, payload.hex) {
            (Some(text), _) => text.into_bytes(),
            (None, hex) => unhex(&hex.unwrap_or_default())?,
        };
        Fallible::Ok(Encoded::new(payload.format, payload.version, bytes))
    });
    let kind = RowKind::from_number(line.kind).ok_or("a row of no known kind")?;
    let checkpoint = line.checkpoint.parse()?;
    Ok(Row::new(checkpoint, kind, line.text, payload.transpose()?))
}

fn unhex(text: &str) -> Fallible<Vec<u8>> {
    let digits = text.as_bytes().chunks(2).map(|pair| {
        let pair = std::str::from_utf8(pair)?;
        Fallible::Ok(u8::from_str_radix(pair, 16)?)
    });
    digits.collect()
}
