//! Statements in the words of one database.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// A run that waits takes part in what its thread does: its time has come, or it was claimed and put back. Another delayed
/// one leaves the thread to others.
pub(super) const TAKES_PART: (&str, &str) = ("{TAKES_PART}", "(stage <> 'delayed' OR fence > 0)");

/// The texts of statements in the words of a database. Each is translated once.
pub(super) struct Translations {
    translate: fn(&str) -> String,
    known: LazyLock<RwLock<HashMap<Place, Arc<str>>>>,
}

/// Where the text of a statement is, and its length: two numbers, where a hash of the text would read all of it.
type Place = (usize, usize);

impl Translations {
    pub(super) const fn new(translate: fn(&str) -> String) -> Self {
        Self {
            translate,
            known: LazyLock::new(RwLock::default),
        }
    }

    /// Returns the text of a statement in the words of the database.
    pub(super) fn of(&self, sql: &'static str) -> Arc<str> {
        let place = (sql.as_ptr().addr(), sql.len());
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = known.get(&place) {
            return Arc::clone(text);
        }
        drop(known);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let text = known
            .entry(place)
            .or_insert_with(|| (self.translate)(sql).into());
        Arc::clone(text)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_statement_is_translated_once() {
        static CALLS: AtomicUsize = AtomicUsize::new(0);
        let translations = Translations::new(|sql| {
            CALLS.fetch_add(1, Ordering::Relaxed);
            sql.to_lowercase()
        });
        let sql = "SELECT 1";
        for _ in 0..2 {
            assert_eq!(&*translations.of(sql), "select 1");
        }
        assert_eq!(CALLS.load(Ordering::Relaxed), 1);
        // A part of the text begins in the same place.
        assert_eq!(&*translations.of(&sql[..6]), "select");
    }
}
