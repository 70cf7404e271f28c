//! Reads a page into a folder that stays: `read-page <page> <project> <folder>`, for a script that goes on there.

use std::error::Error;
use std::path::Path;

use langgraph_page_tests::Reader;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [page, project, folder] = arguments.as_slice() else {
        return Err("usage: read-page <page> <project> <folder>".into());
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()?;
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(2).ok_or("no target folder")?;
    let text = std::fs::read_to_string(root.join(page))?;
    let mut reader = Reader::new(Path::new(folder), project, &root, target)?;
    let (files, commands) = reader.read(&text)?;
    println!("{page}: {files} files, {commands} commands");
    Ok(())
}
