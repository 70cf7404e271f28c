//! Names of types.

/// Returns the name of a type without the modules: `Vec<String>`.
///
/// # Examples
///
/// ```
/// use langgraph::state::short_name;
///
/// assert_eq!(short_name::<Option<std::collections::BTreeMap<String, u8>>>(), "Option<BTreeMap<String, u8>>");
/// ```
pub fn short_name<T: ?Sized>() -> String {
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let mut short = String::new();
    let mut rest = std::any::type_name::<T>();
    while !rest.is_empty() {
        let (path, behind) = rest.split_at(rest.find(|c| !is_path(c)).unwrap_or(rest.len()));
        let (between, next) = behind.split_at(behind.find(is_path).unwrap_or(behind.len()));
        short.push_str(path.rsplit("::").next().unwrap_or(path));
        short.push_str(between);
        rest = next;
    }
    short
}
