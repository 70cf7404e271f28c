//! The events of a run, for adapters to other protocols: they read what any client reads.

use axum::response::Response;
use futures_util::stream::{self, Stream, StreamExt};
use serde_json::{Value, json};

/// An event of a stream.
#[derive(Debug)]
pub(super) struct Told {
    /// The stream mode, without the namespace.
    pub(super) mode: String,
    /// True if it is of the graph itself, not of one inside.
    pub(super) is_root: bool,
    pub(super) data: Value,
}

/// Reads the events of a response, as they come.
pub(super) fn events(response: Response) -> impl Stream<Item = Told> + Send + 'static {
    let bytes = response.into_body().into_data_stream();
    let start = (Box::pin(bytes), Vec::new());
    let batches = stream::unfold(start, |(mut bytes, mut buffer)| async move {
        let Ok(chunk) = bytes.next().await? else {
            return Some((stream::iter(vec![broken_off()]), (bytes, buffer)));
        };
        buffer.extend_from_slice(&chunk);
        let frames = std::iter::from_fn(|| next(&mut buffer));
        let told: Vec<Told> = frames.filter_map(|frame| read(&frame)).collect();
        Some((stream::iter(told), (bytes, buffer)))
    });
    batches.flatten()
}

/// What is told of a run that goes on elsewhere, where these protocols cannot follow it.
fn broken_off() -> Told {
    Told {
        mode: "error".to_owned(),
        is_root: true,
        data: json!({"error": "Unavailable", "message": "the server stops; try again"}),
    }
}

/// Takes the next whole frame off the buffer.
fn next(buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    const END: &[u8] = b"\r\n\r\n";
    let end = buffer.windows(END.len()).position(|bytes| bytes == END)?;
    Some(buffer.drain(..end + END.len()).collect())
}

/// Reads a frame. Heartbeats are frames without an event.
fn read(frame: &[u8]) -> Option<Told> {
    let text = String::from_utf8_lossy(frame);
    let field = |name: &str| text.split("\r\n").find_map(|line| line.strip_prefix(name));
    let event = field("event: ")?;
    let (mode, around) = event.split_once('|').unwrap_or((event, ""));
    let data = field("data: ").and_then(|data| serde_json::from_str(data).ok());
    Some(Told {
        mode: mode.to_owned(),
        is_root: around.is_empty(),
        data: data.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_taken_whole() {
        let mut buffer =
            b"event: tasks|a:1\r\ndata: {\"n\":1}\r\nid: 3\r\n\r\n: heartbeat\r\n\r\nevent: va"
                .to_vec();
        let told = read(&next(&mut buffer).unwrap()).unwrap();
        assert_eq!((told.mode.as_str(), told.is_root), ("tasks", false));
        assert_eq!(told.data["n"], 1);
        assert!(read(&next(&mut buffer).unwrap()).is_none());
        assert!(next(&mut buffer).is_none());
        assert_eq!(buffer, b"event: va");
    }
}
