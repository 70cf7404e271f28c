//! The id of a frame.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The id of a frame in the stream of a run: the run, and the number of the frame in it, as
/// `run:number`.
///
/// It stays the same however often a frame is sent. A client sends it back as `Last-Event-ID`.
///
/// # Examples
///
/// ```
/// use langgraph_http::FrameId;
///
/// let id: FrameId = "0192f4:12".parse()?;
/// assert_eq!((id.run(), id.number()), ("0192f4", 12));
/// assert_eq!(id.to_string(), "0192f4:12");
/// assert!("12".parse::<FrameId>().is_err());
/// # Ok::<_, langgraph_http::InvalidFrameId>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FrameId {
    run: Arc<str>,
    number: u64,
}

impl FrameId {
    pub(crate) fn new(run: &Arc<str>, number: u64) -> Self {
        Self {
            run: Arc::clone(run),
            number,
        }
    }

    /// Returns the id of the run.
    pub fn run(&self) -> &str {
        &self.run
    }

    /// Returns the number of the frame, from 0.
    pub fn number(&self) -> u64 {
        self.number
    }
}

impl fmt::Display for FrameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.run, self.number)
    }
}

/// A text is no id of a frame.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no id of an event: expected the id of a run, a colon and a number")]
pub struct InvalidFrameId(String);

impl FromStr for FrameId {
    type Err = InvalidFrameId;

    fn from_str(text: &str) -> Result<Self, InvalidFrameId> {
        let invalid = || InvalidFrameId(text.to_owned());
        let (run, number) = text.rsplit_once(':').ok_or_else(invalid)?;
        Ok(Self {
            run: run.into(),
            number: number.parse().map_err(|_| invalid())?,
        })
    }
}

langgraph::debug_is_message!(InvalidFrameId);
