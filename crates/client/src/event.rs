//! Server-sent events.

use serde_json::Value;

/// An event of a stream.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServerEvent {
    /// Its name: a stream mode, with `|node:task` for each subgraph around it.
    pub event: String,
    /// Its content.
    pub data: Value,
    /// Its id, if the run is resumable.
    pub id: Option<String>,
}

/// The largest event, in bytes: a server that never ends one does not fill the memory.
const LARGEST: usize = 64 << 20;

/// Cuts bytes into events.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    bytes: Vec<u8>,
    /// How many of them hold no end of an event.
    searched: usize,
}

impl Reader {
    /// Takes more bytes. Returns false if an event is larger than any may be.
    #[must_use]
    pub(crate) fn push(&mut self, bytes: &[u8]) -> bool {
        self.bytes.extend_from_slice(bytes);
        self.bytes.len() <= LARGEST
    }

    /// Returns true if an event has begun and not ended.
    pub(crate) fn has_part(&self) -> bool {
        !self.bytes.trim_ascii().is_empty()
    }

    /// Returns the next whole event. Comments are skipped.
    pub(crate) fn next(&mut self) -> Option<Result<ServerEvent, serde_json::Error>> {
        loop {
            let (end, length) = self.end()?;
            let frame: Vec<u8> = self.bytes.drain(..end + length).collect();
            let text = String::from_utf8_lossy(&frame);
            let (mut event, mut id) = ("message".to_owned(), None);
            let mut data: Option<String> = None;
            for line in text.lines() {
                let (field, value) = line.split_once(':').unwrap_or((line, ""));
                let value = value.strip_prefix(' ').unwrap_or(value);
                match field {
                    "event" => value.clone_into(&mut event),
                    "id" => id = Some(value.to_owned()),
                    "data" => match &mut data {
                        Some(data) => {
                            data.push('\n');
                            data.push_str(value);
                        }
                        None => data = Some(value.to_owned()),
                    },
                    _ => {}
                }
            }
            let Some(data) = data else { continue };
            let data = if data.is_empty() { "null" } else { &data };
            return Some(serde_json::from_str(data).map(|data| ServerEvent { event, data, id }));
        }
    }

    /// Returns where the first event ends, and the length of its end.
    fn end(&mut self) -> Option<(usize, usize)> {
        let ends = [&b"\r\n\r\n"[..], b"\n\n", b"\r\r"];
        let from = self.searched;
        let new = self.bytes.get(from..).unwrap_or_default();
        let found = ends.iter().filter_map(|end| {
            let at = new.windows(end.len()).position(|bytes| bytes == *end)?;
            Some((from + at, end.len()))
        });
        let found = found.min();
        // The longest end may have begun.
        self.searched = match found {
            Some(_) => 0,
            None => self.bytes.len().saturating_sub(3),
        };
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_cut_wherever_the_bytes_are() {
        let text = ": heartbeat\r\n\r\nevent: values\r\ndata: {\"a\":\ndata: 1}\r\nid: 7-1\r\n\r\n\
                    event: end\n\ndata: 2\n\n";
        for size in [1, 2, 5, 1000] {
            let mut reader = Reader::default();
            let mut events = Vec::new();
            for part in text.as_bytes().chunks(size) {
                assert!(reader.push(part));
                while let Some(event) = reader.next() {
                    events.push(event.unwrap());
                }
            }
            assert_eq!(events.len(), 2, "{size}: {events:?}");
            assert_eq!(
                (&*events[0].event, &events[0].data["a"]),
                ("values", &1.into())
            );
            assert_eq!(events[0].id.as_deref(), Some("7-1"));
            assert_eq!(events[1].data, 2);
        }
    }

    #[test]
    fn an_event_without_an_end_is_bounded() {
        let mut reader = Reader::default();
        let part = vec![b'x'; 1 << 20];
        let mut taken = 0;
        while reader.push(&part) {
            assert!(reader.next().is_none());
            taken += part.len();
        }
        assert_eq!(taken, LARGEST);
    }
}
