//! The limits of a format.

/// What a format cannot restore, so that it is refused before it is written.
///
/// Without this check, a value that changes in storage is noticed only when a thread continues,
/// which is too late. [`check`](Self::check) finds it when it is stored, and says where in the
/// value it is. It writes nothing.
///
/// # Examples
///
/// ```
/// use langgraph::checkpoint::Limits;
///
/// #[derive(serde::Serialize)]
/// struct Sample {
///     scores: Vec<f64>,
/// }
///
/// let sample = Sample { scores: vec![0.5, f64::NAN] };
/// let refused = Limits::JSON.check(&sample).unwrap_err();
/// assert_eq!(refused.path(), Some("scores[1]"));
/// assert!(Limits::new("MessagePack").check(&sample).is_ok());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is a question of its own
pub struct Limits {
    pub(crate) format: &'static str,
    pub(crate) finite: bool,
    pub(crate) text_keys: bool,
    pub(crate) narrow: bool,
    pub(crate) null_is_none: bool,
    pub(crate) human_readable: bool,
    pub(crate) depth: usize,
    /// There is no other format to recommend.
    pub(crate) fixed: bool,
}

impl Limits {
    /// The limits of JSON: finite numbers of 64 bits, maps with text keys, 127 nested values, and
    /// `null` is read as `None`.
    pub const JSON: Self = Self::new("JSON")
        .finite_numbers()
        .text_keys()
        .narrow_integers()
        .null_is_none()
        .depth(127);

    /// Creates the limits of a format that restores everything.
    pub const fn new(format: &'static str) -> Self {
        Self {
            format,
            finite: false,
            text_keys: false,
            narrow: false,
            null_is_none: false,
            human_readable: true,
            depth: usize::MAX,
            fixed: false,
        }
    }

    /// The format holds no NaN and no infinity.
    #[must_use]
    pub const fn finite_numbers(mut self) -> Self {
        self.finite = true;
        self
    }

    /// The keys of its maps are strings, characters or names of variants.
    #[must_use]
    pub const fn text_keys(mut self) -> Self {
        self.text_keys = true;
        self
    }

    /// Its integers have 64 bits.
    #[must_use]
    pub const fn narrow_integers(mut self) -> Self {
        self.narrow = true;
        self
    }

    /// The format writes `None` and `()` alike, so `Some(None)` and `Some(())` are read as `None`.
    #[must_use]
    pub const fn null_is_none(mut self) -> Self {
        self.null_is_none = true;
        self
    }

    /// Types with two forms are written in the one for machines: the serializer is not [human
    /// readable](serde::Serializer::is_human_readable).
    #[must_use]
    pub const fn binary(mut self) -> Self {
        self.human_readable = false;
        self
    }

    /// The format reads at most so many nested values.
    #[must_use]
    pub const fn depth(mut self, depth: usize) -> Self {
        self.depth = depth;
        self
    }

    /// There is no other format to use, so a refusal does not recommend one.
    #[must_use]
    pub const fn fixed(mut self) -> Self {
        self.fixed = true;
        self
    }
}
