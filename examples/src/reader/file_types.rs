//! What people call the types of files.

/// The extensions of a type that goes by a name (`rust`), or by its extension (`rs`).
pub(super) fn extensions(name: &str) -> Option<&'static [&'static str]> {
    const NAMED: &[(&[&str], &[&str])] = &[
        (&["rust"], &["rs"]),
        (&["python"], &["py"]),
        (&["markdown"], &["md"]),
        (&["javascript"], &["js"]),
        (&["typescript"], &["ts"]),
        (&["yaml", "yml"], &["yaml", "yml"]),
        (&["text", "plain-text"], &["txt"]),
        (&["shell", "bash"], &["sh"]),
        (&["c++", "cpp"], &["cpp"]),
        (&["c#"], &["cs"]),
        (&["golang"], &["go"]),
        (&["ruby"], &["rb"]),
        (&["kotlin"], &["kt"]),
        (&["haskell"], &["hs"]),
        (&["jpeg", "jpg"], &["jpeg", "jpg"]),
    ];
    const BY_EXTENSION: &[&str] = &[
        "rs", "py", "md", "toml", "json", "txt", "js", "ts", "jsx", "tsx", "html", "css", "sh",
        "c", "h", "hpp", "java", "go", "rb", "php", "sql", "csv", "xml", "lock", "log", "pdf",
        "png", "gif", "svg", "ini", "cfg", "conf", "proto", "swift", "kt", "ipynb", "zip", "tex",
        "vue", "zig", "lua", "lean", "ex", "hs", "jsonl", "parquet", "rst", "env", "cs", "wasm",
    ];
    NAMED
        .iter()
        .find(|(names, _)| names.contains(&name))
        .map(|(_, extensions)| *extensions)
        .or_else(|| {
            BY_EXTENSION
                .iter()
                .position(|extension| *extension == name)
                .and_then(|index| BY_EXTENSION.get(index..=index))
        })
}

/// `rs` of `.rs`.
pub(super) fn dotted(text: &str) -> Option<&str> {
    let extension = text.strip_prefix('.')?;
    let is_plain = !extension.is_empty()
        && extension.len() <= 12
        && extension.chars().all(|c| c.is_ascii_alphanumeric());
    is_plain.then_some(extension)
}

/// Whether `text` looks like the name of one file: `Cargo.toml`.
pub(super) fn is_file_name(text: &str) -> bool {
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    let known = extensions(&extension.to_lowercase()).is_some();
    let plausible =
        (1..=5).contains(&extension.len()) && extension.chars().all(|c| c.is_ascii_alphabetic());
    !stem.is_empty() && (known || plausible)
}
