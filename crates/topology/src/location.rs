//! Where a graph is written.

use std::fmt;

/// A place in a source file. Its text is what a compiler prints before a message: `src/lib.rs:12:5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceLocation {
    /// The file, as the compiler names it.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// The places of a graph that is written with `graph!`.
///
/// Two graphs that are written at different places may be equal, so places are.
///
/// # Examples
///
/// ```
/// use langgraph::prelude::*;
///
/// #[node]
/// async fn ask(_: &i64) {}
///
/// let line = line!() + 1;
/// let graph = graph! { START => ask => END };
/// let places = graph.topology().locations;
/// let ask = places.node("ask").ok_or("`ask` has a place")?;
/// assert_eq!((ask.line, ask.column), (line, 31));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Locations {
    file: &'static str,
    /// The place of the graph, then the name and the place of each node, then `>`, its name and the place of
    /// each source of an edge that is not the node's own place. It is read only for a message.
    words: &'static str,
}

impl Locations {
    /// Takes the file and the text that `graph!` has written.
    #[doc(hidden)]
    #[must_use]
    pub fn new(file: &'static str, words: &'static str) -> Self {
        Self { file, words }
    }

    /// Returns the place of the graph.
    #[must_use]
    pub fn graph(&self) -> Option<SourceLocation> {
        self.place(self.words.split(' ').next()?)
    }

    /// Returns the place where a node is named first.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<SourceLocation> {
        self.find(|word| word == name)
    }

    /// Returns the place where a node is followed by another one first, which is that of the node if it is
    /// followed there.
    #[must_use]
    pub fn source(&self, name: &str) -> Option<SourceLocation> {
        let source = self.find(|word| word.strip_prefix('>') == Some(name));
        source.or_else(|| self.node(name))
    }

    fn find(&self, is_wanted: impl Fn(&str) -> bool) -> Option<SourceLocation> {
        let mut words = self.words.split(' ');
        words.find(|word| is_wanted(word))?;
        self.place(words.next()?)
    }

    fn place(&self, word: &str) -> Option<SourceLocation> {
        let (line, column) = word.split_once(':')?;
        Some(SourceLocation {
            file: self.file,
            line: line.parse().ok()?,
            column: column.parse().ok()?,
        })
    }
}

impl PartialEq for Locations {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Locations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.graph() {
            Some(place) => fmt::Display::fmt(&place, f),
            None => f.write_str("unknown"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Locations;

    #[test]
    fn a_source_has_a_place_of_its_own_or_that_of_its_node() {
        let places = Locations::new("src/lib.rs", "3:1 ask 4:9 write 5:2 >write 6:3");
        let text = |place: Option<super::SourceLocation>| place.map(|place| place.to_string());
        assert_eq!(text(places.graph()).as_deref(), Some("src/lib.rs:3:1"));
        assert_eq!(
            text(places.node("write")).as_deref(),
            Some("src/lib.rs:5:2")
        );
        assert_eq!(
            text(places.source("write")).as_deref(),
            Some("src/lib.rs:6:3")
        );
        assert_eq!(
            text(places.source("ask")).as_deref(),
            Some("src/lib.rs:4:9")
        );
        assert_eq!(places.node("as"), None);
        assert_eq!(Locations::default().graph(), None);
    }
}
