//! Filters as SQL conditions.

use langgraph_store::{FieldPath, Filter, StoreError, Test};

/// The truth values of a database.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    /// The condition that is always true.
    pub yes: &'static str,
    /// The condition that is always false.
    pub no: &'static str,
}

/// Returns a filter as a condition that is never null. `field` returns the condition of one field,
/// which may be null.
///
/// # Errors
///
/// The errors of `field`; [`StoreError::Unsupported`] for an unknown kind of filter.
pub fn condition<F>(filter: &Filter, truth: Truth, field: &mut F) -> Result<String, StoreError>
where
    F: FnMut(&FieldPath, &Test) -> Result<String, StoreError>,
{
    Ok(match filter {
        Filter::Field(path, test) => format!("coalesce({}, {})", field(path, test)?, truth.no),
        Filter::All(filters) => joined(filters, " AND ", truth.yes, truth, field)?,
        Filter::Any(filters) => joined(filters, " OR ", truth.no, truth, field)?,
        Filter::Not(filter) => format!("(NOT {})", condition(filter, truth, field)?),
        other => return Err(StoreError::Unsupported(format!("the filter {other:?}"))),
    })
}

fn joined<F>(
    filters: &[Filter],
    with: &str,
    empty: &str,
    truth: Truth,
    field: &mut F,
) -> Result<String, StoreError>
where
    F: FnMut(&FieldPath, &Test) -> Result<String, StoreError>,
{
    let conditions = filters.iter().map(|filter| condition(filter, truth, field));
    let conditions = conditions.collect::<Result<Vec<_>, _>>()?;
    Ok(if conditions.is_empty() {
        empty.to_owned()
    } else {
        format!("({})", conditions.join(with))
    })
}
