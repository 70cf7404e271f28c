use langgraph_client::{Client, NewRun};
use serde_json::json;
use tokio::net::TcpListener;

use {{crate}}::server;

#[tokio::test]
async fn a_client_chats_on_a_thread() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(server().unwrap().serve_on(listener));

    let client = Client::new(&url).unwrap();
    let thread = client.create_thread(json!({})).await.unwrap();
    let thread = thread["thread_id"].as_str().unwrap();
    let input = json!({"messages": [{"role": "user", "content": "Hello!"}]});
    let values = client
        .wait(Some(thread), &NewRun::new("chat").input(input))
        .await
        .unwrap();
    assert_eq!(values["messages"][1]["content"], "You said: Hello!");
}
