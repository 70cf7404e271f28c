//! Listings: the rows of an owner that meet conditions on columns, in an order. An index has all of these columns.

use super::cells::Cell;
use super::page::{Found, Listed, number};
use super::{Rows, RowsResult, read};

/// A kind of row that searches list: see [`listing!`].
pub(crate) trait Sorted: Listed {
    /// By what rows are sorted.
    type Order: Copy;
    /// The conditions, besides that on the owner.
    type Conditions<'a>: Conditions;

    /// The statements that count rows: those of an owner, and those of all.
    const COUNT: [&'static str; 2];

    /// Returns the statements that list ids: of the rows of an owner, and of all.
    fn ids(by: Self::Order, ascending: bool) -> [&'static str; 2];
}

/// Conditions on columns of a table.
pub(crate) trait Conditions {
    /// Returns the parameters `$2` and `$3`.
    fn parameters(&self) -> [Cell; 2];
}

/// Which rows are listed, and in which order.
pub(crate) struct Listing<'a, T: Sorted> {
    /// Those of that owner; `None`: those of all owners.
    pub(crate) owner: Option<&'a str>,
    pub(crate) of: T::Conditions<'a>,
    pub(crate) by: T::Order,
    pub(crate) ascending: bool,
    pub(crate) offset: usize,
    pub(crate) limit: usize,
}

/// Makes an order, and the statements of its listings: the table with the conditions on `$2` and `$3`, the condition
/// on the owner `$1`, and the columns that rows are sorted by.
macro_rules! listing {
    (
        $row:ident by $order:ident of $conditions:ident: $from:literal, $owned:literal,
        { $($by:ident: $column:literal),* $(,)? }
    ) => {
        /// By what they are sorted. All of it is in an index.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $order { $($by),* }

        impl $crate::rows::listing::Sorted for $row {
            type Order = $order;
            type Conditions<'a> = $conditions<'a>;

            const COUNT: [&'static str; 2] = $crate::rows::listing::owned_or_all!(
                "SELECT count(*) FROM ", $from, $owned, ""
            );

            fn ids(by: $order, ascending: bool) -> [&'static str; 2] {
                match (by, ascending) {$(
                    ($order::$by, true) => $crate::rows::listing::owned_or_all!(
                        "SELECT id FROM ", $from, $owned,
                        concat!(" ORDER BY ", $column, ", id LIMIT $4 OFFSET $5")
                    ),
                    ($order::$by, false) => $crate::rows::listing::owned_or_all!(
                        "SELECT id FROM ", $from, $owned,
                        concat!(" ORDER BY ", $column, " DESC, id DESC LIMIT $4 OFFSET $5")
                    ),
                )*}
            }
        }
    };
}
pub(super) use listing;

macro_rules! owned_or_all {
    ($select:literal, $from:literal, $owned:literal, $rest:expr) => {
        [
            concat!($select, $from, " AND ", $owned, $rest),
            concat!($select, $from, " AND CAST($1 AS TEXT) IS NULL", $rest),
        ]
    };
}
pub(super) use owned_or_all;

impl<T: Sorted> Listing<'_, T> {
    /// Returns that of a pair of statements which is for its owner, or for all.
    fn one_of(&self, [owned, all]: [&'static str; 2]) -> &'static str {
        if self.owner.is_some() { owned } else { all }
    }
}

impl Rows {
    async fn listed_ids<T: Sorted>(&self, of: &Listing<'_, T>) -> RowsResult<Vec<String>> {
        let sql = of.one_of(T::ids(of.by, of.ascending));
        let [second, third] = of.of.parameters();
        let (limit, offset) = (number(of.limit), number(of.offset));
        let statement = read!(sql, of.owner, second, third, limit, offset);
        let lines = self.db.rows(statement).await?;
        Ok(lines.iter().map(|line| line.text(0).to_owned()).collect())
    }

    /// Returns how many rows a listing has, on all of its pages.
    pub(crate) async fn count<T: Sorted>(&self, of: &Listing<'_, T>) -> RowsResult<usize> {
        let [second, third] = of.of.parameters();
        let statement = read!(of.one_of(T::COUNT), of.owner, second, third);
        let count = self.db.row(statement).await?.map_or(0, |line| line.int(0));
        Ok(usize::try_from(count).unwrap_or_default())
    }

    /// Returns the page of a listing.
    pub(crate) async fn listed<T: Sorted>(&self, of: &Listing<'_, T>) -> RowsResult<Found<T>> {
        Ok(Found {
            page: self.page(&self.listed_ids(of).await?).await?,
            total: self.count(of).await?,
        })
    }

    /// Returns the page of those rows of a listing that `wants` wants: of these ids, or of all.
    pub(crate) async fn wanted<T: Sorted>(
        &self,
        of: Listing<'_, T>,
        ids: Option<&[String]>,
        wants: impl Fn(&T) -> bool,
    ) -> RowsResult<Found<T>> {
        let page = (of.offset, of.limit);
        let all = Listing {
            offset: 0,
            limit: usize::MAX,
            ..of
        };
        let mut listed = self.listed_ids(&all).await?;
        if let Some(ids) = ids {
            listed.retain(|id| ids.contains(id));
        }
        self.wanted_of(&listed, page, wants).await
    }
}
