//! Carries out what the program is asked to do.

use std::error::Error;
use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use langgraph_server::Server;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

use crate::check::check;
use crate::command::{Command, Format};
use crate::replay::replay;
use crate::report::Report;
use crate::{Graphs, types};

/// How long runs may take to stop when the program is built anew. Those that still run go on in the new
/// program.
const DRAIN: Duration = Duration::from_millis(500);

/// The `main` of the program: `fill` adds the graphs, and the arguments say what to do with them.
///
/// See the [example of the crate](crate).
pub fn main(fill: impl AsyncFnOnce(&mut Graphs) -> Result<(), Box<dyn Error>>) -> ExitCode {
    let run = || {
        let (command, runtime) = begin()?;
        let mut graphs = Graphs::default();
        runtime.block_on(fill(&mut graphs))?;
        end(&runtime, command, graphs)
    };
    exit_code(run())
}

// What follows is not generic, and its futures are polled here: the program, which is built after every change of the
// package, has as little code as possible.

fn begin() -> Result<(Command, Runtime), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let command = Command::read(&arguments)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    Ok((command, runtime))
}

fn end(runtime: &Runtime, command: Command, graphs: Graphs) -> Result<(), Box<dyn Error>> {
    runtime.block_on(carry_out(command, graphs))
}

fn exit_code(result: Result<(), Box<dyn Error>>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn carry_out(command: Command, graphs: Graphs) -> Result<(), Box<dyn Error>> {
    match command {
        Command::Draw {
            format,
            depth,
            graph,
        } => {
            let pictures = draw(&graphs, format, depth, graph.as_deref())?;
            Ok(print(&mut io::stdout(), &pictures)?)
        }
        Command::Check { lock, file } => conclude(&check(&graphs, &lock, file.as_deref()).await?),
        Command::Test(options) => conclude(&replay(&graphs, &options).await?),
        Command::Types(language) => Ok(print(&mut io::stdout(), &types(&graphs, language))?),
        Command::Serve { address, file } => {
            let listener = listen(&address, &mut io::stdout()).await?;
            serve(graphs, listener, &file).await
        }
    }
}

/// Prints a report, and fails if something is wrong.
fn conclude(report: &Report) -> Result<(), Box<dyn Error>> {
    print(&mut io::stdout(), &report.text)?;
    match report.problems {
        0 => Ok(()),
        1 => Err("1 problem".into()),
        several => Err(format!("{several} problems").into()),
    }
}

/// Prints a text. If what reads the output has ended, as `head` does, the rest is dropped.
fn print(out: &mut impl io::Write, text: &str) -> io::Result<()> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed,
    }
}

/// Returns the pictures; with more than one graph, each below its name.
fn draw(
    graphs: &Graphs,
    format: Format,
    depth: usize,
    name: Option<&str>,
) -> Result<String, Box<dyn Error>> {
    let selected = graphs.select(name)?;
    let mut text = String::new();
    for (name, graph) in &selected {
        let drawing = graph.served().topology().draw().xray(depth);
        let (comment, picture) = match format {
            Format::Terminal => ("", drawing.terminal()),
            Format::Mermaid => ("%% ", drawing.mermaid()),
            Format::Dot => ("// ", drawing.dot()),
        };
        if selected.len() > 1 {
            let _ = writeln!(text, "{comment}{name}");
        }
        text.push_str(&picture);
    }
    Ok(text)
}

/// Takes the port of an address, and then prints the address: another program may have the port.
async fn listen(address: &str, out: &mut impl io::Write) -> Result<TcpListener, Box<dyn Error>> {
    let listener = TcpListener::bind(address)
        .await
        .map_err(|error| cannot_serve(address, &error))?;
    print(out, &format!("serving http://{}\n", listener.local_addr()?))?;
    Ok(listener)
}

/// Serves the graphs until standard input ends: the program never outlives the one that has started it.
async fn serve(graphs: Graphs, listener: TcpListener, file: &Path) -> Result<(), Box<dyn Error>> {
    let mut server = Server::new()
        .file(file)
        .drain_time(DRAIN)
        .show_node_errors();
    for (name, graph) in graphs {
        server = server.graph(name, graph.into_served());
    }
    Ok(server.serve_until(listener, input_ended()).await?)
}

fn cannot_serve(address: &str, error: &io::Error) -> String {
    // Another program has it, most often an earlier `cargo langgraph dev`.
    let hint = match error.kind() {
        io::ErrorKind::AddrInUse => "; `--port` selects another port",
        _ => "",
    };
    format!("cannot serve {address}: {error}{hint}")
}

/// Waits until standard input ends.
async fn input_ended() {
    let (sender, ended) = oneshot::channel::<()>();
    // A thread, since reading blocks. It ends with the program.
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        drop(sender);
    });
    let _ = ended.await;
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test fails by panicking

    use super::*;

    #[tokio::test]
    async fn a_port_in_use_is_reported_with_the_option_that_selects_another_one() {
        let other = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = other.local_addr().unwrap().to_string();
        let mut printed = Vec::new();
        let failed = listen(&address, &mut printed).await;
        assert!(printed.is_empty());
        let failed = failed.unwrap_err().to_string();
        assert!(
            failed.starts_with(&format!("cannot serve {address}: ")),
            "{failed}"
        );
        assert!(failed.contains("--port"), "{failed}");
    }

    #[tokio::test]
    async fn the_address_is_printed_when_the_port_is_taken() {
        let mut printed = Vec::new();
        let listener = listen("127.0.0.1:0", &mut printed).await.unwrap();
        let address = listener.local_addr().unwrap();
        let expected = format!("serving http://{address}\n");
        assert_eq!(String::from_utf8(printed).unwrap(), expected);
    }

    #[tokio::test]
    async fn an_output_that_is_cut_off_is_no_error() {
        let (reader, mut out) = io::pipe().unwrap();
        drop(reader);
        print(&mut out, "a picture\n").unwrap();
        listen("127.0.0.1:0", &mut out).await.unwrap();
    }

    #[test]
    fn an_output_that_cannot_be_written_is_an_error() {
        let mut full: &mut [u8] = &mut [0; 3];
        let failed = print(&mut full, "a picture\n").unwrap_err();
        assert_eq!(failed.kind(), io::ErrorKind::WriteZero);
    }
}
