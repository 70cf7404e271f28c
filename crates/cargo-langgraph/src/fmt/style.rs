//! Line width and indentation, as the configuration of rustfmt sets them.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The settings of rustfmt that matter for a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Style {
    /// The width of a line, in characters.
    pub max_width: usize,
    /// The width of one level of indentation.
    pub tab_spaces: usize,
    /// Whether a level is a tab.
    pub hard_tabs: bool,
}

/// The error of reading `rustfmt.toml`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StyleError {
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// The file is not valid.
    #[error("{}: {reason}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

langgraph_topology::debug_is_message!(StyleError);

impl Default for Style {
    fn default() -> Self {
        Self {
            max_width: 100,
            tab_spaces: 4,
            hard_tabs: false,
        }
    }
}

impl Style {
    /// Reads the settings for `file`: those of the nearest `rustfmt.toml` or `.rustfmt.toml` in its
    /// folder or one above, or the defaults.
    ///
    /// # Errors
    ///
    /// Fails if the nearest file cannot be read, or holds other than numbers and truth values for
    /// the settings.
    pub fn of(file: &Path) -> Result<Self, StyleError> {
        let absolute = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        for folder in absolute.ancestors().skip(1) {
            for name in ["rustfmt.toml", ".rustfmt.toml"] {
                let path = folder.join(name);
                if path.is_file() {
                    return Self::read(path);
                }
            }
        }
        Ok(Self::default())
    }

    fn read(path: PathBuf) -> Result<Self, StyleError> {
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(source) => return Err(StyleError::Read { path, source }),
        };
        let invalid = |reason: String| StyleError::Invalid {
            path: path.clone(),
            reason,
        };
        let table: toml::Table = text
            .parse()
            .map_err(|error: toml::de::Error| invalid(error.message().to_owned()))?;
        let number = |key: &str, otherwise: usize| match table.get(key) {
            None => Ok(otherwise),
            Some(value) => value
                .as_integer()
                .and_then(|number| usize::try_from(number).ok())
                .ok_or_else(|| {
                    invalid(format!(
                        "`{key}` must be a whole number, found a {}",
                        value.type_str()
                    ))
                }),
        };
        let default = Self::default();
        Ok(Self {
            max_width: number("max_width", default.max_width)?,
            tab_spaces: number("tab_spaces", default.tab_spaces)?,
            hard_tabs: match table.get("hard_tabs") {
                None => false,
                Some(value) => value.as_bool().ok_or_else(|| {
                    let found = value.type_str();
                    invalid(format!(
                        "`hard_tabs` must be `true` or `false`, found a {found}"
                    ))
                })?,
            },
        })
    }

    /// Returns the text that begins a line at `level`.
    pub(super) fn indent(&self, level: usize) -> String {
        if self.hard_tabs {
            "\t".repeat(level)
        } else {
            " ".repeat(self.tab_spaces * level)
        }
    }

    /// Returns the width of `text` on a line.
    pub(super) fn width(&self, text: &str) -> usize {
        let wide = |c| if c == '\t' { self.tab_spaces } else { 1 };
        text.chars().map(wide).sum()
    }
}
