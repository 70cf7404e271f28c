//! Filters as conditions.

use langgraph_store::{FieldPath, Filter, StoreError, Test};

/// How a database spells truth.
#[derive(Clone, Copy, Debug)]
pub struct Truth {
    /// What always holds.
    pub yes: &'static str,
    /// What never holds.
    pub no: &'static str,
}

/// A filter as a condition that is never null; `field` makes the condition of one field, which may
/// be null.
///
/// # Errors
///
/// Those of `field`; [`StoreError::Unsupported`] for a kind of filter that is not known here.
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
