//! An assistant at the terminal, one of whose nodes is the mail agent in another process.
//! It needs the relay. Run it with `cargo run -p langgraph-relay --example assistant`, and write
//! `给 ada@example.com 发一封邮件: 你好`, `列出邮件`, `谢谢`, `今天的日程` or `朗读邮件`.

mod office;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let question = std::env::args().nth(1);
    office::assistant(&office::address(), question).await
}
