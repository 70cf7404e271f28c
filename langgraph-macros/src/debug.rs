//! Debugging aids: prints expansions and times.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use proc_macro2::TokenStream;
use quote::quote;

/// Prints an expansion if `LANGGRAPH_MACROS_DEBUG` is set, formatted if `rustfmt` exists.
pub(crate) fn print(expansion: &TokenStream) {
    if std::env::var_os("LANGGRAPH_MACROS_DEBUG").is_some() {
        let text = text(expansion);
        eprintln!("{}", formatted(&text).unwrap_or(text));
    }
}

/// Prints how long a macro took if `LANGGRAPH_MACROS_TIME` is set, for `tests/build_cost.py`.
pub(crate) fn timed<T>(name: &str, expand: impl FnOnce() -> T) -> T {
    if std::env::var_os("LANGGRAPH_MACROS_TIME").is_none() {
        return expand();
    }
    let (start, worked) = (Instant::now(), time_on_processor());
    let output = expand();
    let spent = time_on_processor()
        .zip(worked)
        .and_then(|(end, start)| end.checked_sub(start))
        .unwrap_or_else(|| start.elapsed());
    eprintln!("{name} took {} us", spent.as_micros());
    output
}

/// Returns the CPU time of this thread, if Linux reports it: on a busy machine the wall clock also
/// counts other work.
fn time_on_processor() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = text.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// Returns the expansion as a file: items as they are, an expression as the body of a function.
fn text(expansion: &TokenStream) -> String {
    match syn::parse2::<syn::File>(expansion.clone()) {
        Ok(_) => expansion.to_string(),
        Err(_) => quote!(fn expansion() { #expansion }).to_string(),
    }
}

fn formatted(text: &str) -> Option<String> {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    rustfmt.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = rustfmt.wait_with_output().ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8(output.stdout).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_and_an_item_are_both_shown() {
        assert_eq!(text(&quote!({ 1 })), "fn expansion () { { 1 } }");
        assert_eq!(
            text(&quote!(
                struct A;
            )),
            "struct A ;"
        );
    }
}
