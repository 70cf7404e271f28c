//! Statements in the words of one database.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// The texts of statements in the words of a database. Each is translated once.
pub(super) struct Translations {
    translate: fn(&str) -> String,
    known: LazyLock<RwLock<HashMap<&'static str, Arc<str>>>>,
}

impl Translations {
    pub(super) const fn new(translate: fn(&str) -> String) -> Self {
        Self {
            translate,
            known: LazyLock::new(RwLock::default),
        }
    }

    /// Returns the text of a statement in the words of the database.
    pub(super) fn of(&self, sql: &'static str) -> Arc<str> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = known.get(sql) {
            return Arc::clone(text);
        }
        drop(known);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let text = known
            .entry(sql)
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
        for _ in 0..2 {
            assert_eq!(&*translations.of("SELECT 1"), "select 1");
        }
        assert_eq!(CALLS.load(Ordering::Relaxed), 1);
    }
}
