//! The programs of the scenario, started by name, over real sockets.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::time::Duration;

#[path = "../../../examples/tests/listed/mod.rs"]
mod listed;

use listed::Running;

#[test]
fn the_scenario_runs_as_processes() {
    let printed = listed::program("langgraph-relay", "scenario").run(&[]);
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(
        lines[..6],
        [
            "user: 给 ada@example.com 发一封邮件: 你好",
            "assistant: 已发送给 ada@example.com。",
            "user: 列出邮件",
            "assistant: 1 封邮件: ada@example.com: 你好",
            "user: 谢谢",
            "assistant: 不客气。",
        ]
    );
    assert!(
        lines[7].contains("there is no agent `calendar`"),
        "{printed}"
    );
    assert!(lines[9].contains("there is no agent `mail`"), "{printed}");
}

/// Starts a program at a relay's address.
fn start(example: &str, address: &str) -> Running {
    let none: [&str; 0] = [];
    let program = listed::program("langgraph-relay", example);
    Running::start(program.command(&none).env("AGORA_ADDRESS", address))
}

#[test]
fn the_three_programs_talk_as_at_three_terminals() {
    let mut agora = start("agora", "127.0.0.1:0");
    let address = agora.line();
    let mut assistant = start("assistant", &address);
    // There is no mail agent yet: the assistant says so, and goes on.
    let offline = assistant.ask("列出邮件");
    assert!(offline.contains("there is no agent `mail`"), "{offline}");
    assert_eq!(assistant.ask("谢谢"), "不客气。");

    let mail = start("mail_agent", &address);
    let mut sent = String::new();
    for _ in 0..100 {
        sent = assistant.ask("给 ada@example.com 发一封邮件: 你好");
        if !sent.contains("there is no agent") {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(sent, "已发送给 ada@example.com。");
    let listed = assistant.ask("列出邮件");
    assert_eq!(listed, "1 封邮件: ada@example.com: 你好");
    // The mail agent dies in the middle of its reply, and a new one has an empty mailbox.
    let died = assistant.ask("朗读邮件");
    assert!(died.contains("there is no agent `mail`"), "{died}");
    drop(mail);
    let _mail = start("mail_agent", &address);
    for _ in 0..100 {
        if assistant.ask("列出邮件") == "0 封邮件: " || assistant.ask("列出邮件") == "0 封邮件:"
        {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("the second mail agent does not answer");
}
