//! What the processes on a database share.

use uuid::Uuid;

use super::{Rows, RowsResult, read, sql};

impl Rows {
    /// Fails if the database does not answer.
    pub(crate) async fn ping(&self) -> RowsResult<()> {
        self.db.rows(read!("SELECT 1")).await.map(|_| ())
    }

    /// Returns the secret of the database, which is made at its first use. Ids that clients cannot
    /// compute are made with it.
    pub(crate) async fn secret(&self) -> RowsResult<String> {
        let made = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        let statements = vec![
            sql!(
                "INSERT INTO served_settings (name, value) VALUES ('secret', $1) \
                 ON CONFLICT DO NOTHING",
                made
            ),
            read!("SELECT value FROM served_settings WHERE name = 'secret'"),
        ];
        let answers = self.db.together(statements).await?;
        let line = answers.last().and_then(|lines| lines.first());
        Ok(line.map_or_else(String::new, |line| line.text(0).to_owned()))
    }
}
