use std::error::Error;

use {{crate}}::server;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::var("PORT").unwrap_or_else(|_| "2024".to_owned());
    let address = format!("127.0.0.1:{port}");
    println!("http://{address}");
    server()?.file("threads.db").serve(address).await?;
    Ok(())
}
