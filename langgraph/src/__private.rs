//! What expansions call. Not part of the public API: it changes without notice.
