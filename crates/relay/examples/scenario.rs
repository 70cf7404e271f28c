//! Relay, mail agent and assistant as three processes, and a user who asks five questions: send,
//! list, small talk, an agent that is offline, and one that dies in the middle of its reply.
//! Run it with `cargo run -p langgraph-relay --example scenario`, also with one question after `--`.

mod office;

use std::process::Stdio;
use std::time::Duration;

use langgraph_relay::RelayClient;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

type Failure = Box<dyn std::error::Error>;

const QUESTIONS: [&str; 5] = [
    "给 ada@example.com 发一封邮件: 你好",
    "列出邮件",
    "谢谢",
    "今天的日程",
    "朗读邮件",
];

/// Starts this program again, in another role.
fn start(role: &[&str]) -> Result<Child, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("--role").args(role).stdout(Stdio::piped());
    Ok(command.kill_on_drop(true).spawn()?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["--role", "agora"] => office::agora("127.0.0.1:0").await,
        ["--role", "mail_agent", address] => office::mail_agent(address).await,
        ["--role", "assistant", address, question] => {
            office::assistant(address, Some((*question).to_owned())).await
        }
        [question] => scenario(&[question]).await,
        _ => scenario(&QUESTIONS).await,
    }
}

async fn scenario(questions: &[&str]) -> Result<(), Failure> {
    let mut agora = start(&["agora"])?;
    let output = agora.stdout.take().ok_or("the relay has no output")?;
    let address = BufReader::new(output).lines().next_line().await?;
    let address = address.ok_or("the relay did not start")?;
    let _mail = start(&["mail_agent", &address])?;
    wait_for_mail(&address).await?;
    for question in questions {
        println!("user: {question}");
        let assistant = start(&["assistant", &address, question])?;
        let output = assistant.wait_with_output().await?;
        print!("assistant: {}", String::from_utf8_lossy(&output.stdout));
    }
    Ok(())
}

async fn wait_for_mail(address: &str) -> Result<(), Failure> {
    let relay = RelayClient::builder(office::url(address), "observer");
    let relay = relay.connect().await?;
    for _ in 0..400 {
        if relay.agents().await?.iter().any(|agent| agent.id == "mail") {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    Err("the mail agent did not register".into())
}
