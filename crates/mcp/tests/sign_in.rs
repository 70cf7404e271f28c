//! Signing in at a server as GitLab's: it names its authorization server, programs register themselves
//! there, a person lets them in, and the token has the scope `mcp`.
#![cfg(feature = "auth")]
#![allow(clippy::unwrap_used)] // in what several tests share

mod support;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use langgraph_mcp::{Http, McpClient, McpError, SignIn};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// What the authorization server has seen.
#[derive(Default)]
struct Seen {
    registered: Mutex<Vec<Value>>,
    /// The challenge of the code that was given out.
    challenge: Mutex<String>,
    tokens: Mutex<Vec<BTreeMap<String, String>>>,
}

fn query(text: &str) -> BTreeMap<String, String> {
    let url = format!("http://x/?{text}");
    let url = reqwest::Url::parse(&url).unwrap();
    url.query_pairs().into_owned().collect()
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn base64_url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..=chunk.len() {
            let index = (bits >> (18 - 6 * place)) & 63;
            text.push(char::from(LETTERS[index as usize]));
        }
    }
    text
}

/// GitLab, in front of the MCP server at `upstream`.
async fn gitlab(upstream: String) -> (String, Arc<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let seen = Arc::new(Seen::default());
    let (here, kept) = (origin.clone(), Arc::clone(&seen));
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(serve(
                stream,
                here.clone(),
                upstream.clone(),
                Arc::clone(&kept),
            ));
        }
    });
    (origin, seen)
}

/// A request: all of it, its head, and its body.
async fn read(stream: &mut TcpStream) -> Option<(Vec<u8>, String, String)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.unwrap_or(0);
        if count == 0 {
            return None;
        }
        bytes.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let is_length = name.eq_ignore_ascii_case("content-length");
            is_length.then(|| value.trim().parse::<usize>().unwrap())
        });
        if body.len() >= length.unwrap_or(0) {
            return Some((bytes, head.to_owned(), body.to_owned()));
        }
    }
}

async fn serve(mut stream: TcpStream, origin: String, upstream: String, seen: Arc<Seen>) {
    let Some((bytes, head, body)) = read(&mut stream).await else {
        return;
    };
    let path = head
        .split_whitespace()
        .nth(1)
        .unwrap_or_default()
        .to_owned();
    let (path, asked) = path.split_once('?').unwrap_or((&path, ""));
    let json = |value: Value| {
        answer(
            "200 OK",
            "content-type: application/json\r\n",
            &value.to_string(),
        )
    };
    let said = match path {
        "/mcp"
            if head
                .to_lowercase()
                .contains("authorization: bearer token-of-ada") =>
        {
            let mut server = TcpStream::connect(upstream).await.unwrap();
            server.write_all(&bytes).await.unwrap();
            let _ = copy_bidirectional(&mut stream, &mut server).await;
            return;
        }
        "/mcp" => {
            let challenge = format!(
                "www-authenticate: Bearer resource_metadata=\"{origin}/.well-known/oauth-protected-resource/mcp\", scope=\"mcp\"\r\n"
            );
            answer("401 Unauthorized", &challenge, "")
        }
        "/.well-known/oauth-protected-resource/mcp" => json(json!({
            "resource": format!("{origin}/mcp"),
            "authorization_servers": [origin],
            "scopes_supported": ["mcp"],
        })),
        "/.well-known/oauth-authorization-server" => json(json!({
            "issuer": origin,
            "authorization_endpoint": format!("{origin}/oauth/authorize"),
            "token_endpoint": format!("{origin}/oauth/token"),
            "registration_endpoint": format!("{origin}/oauth/register"),
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "scopes_supported": ["mcp"],
            "token_endpoint_auth_methods_supported": ["none"],
        })),
        "/oauth/register" => {
            let mut registered: Value = serde_json::from_str(&body).unwrap();
            seen.registered.lock().unwrap().push(registered.clone());
            registered["client_id"] = json!("client-1");
            answer(
                "201 Created",
                "content-type: application/json\r\n",
                &registered.to_string(),
            )
        }
        "/oauth/authorize" => {
            let asked = query(asked);
            assert_eq!(
                (&*asked["scope"], &*asked["code_challenge_method"]),
                ("mcp", "S256")
            );
            seen.challenge
                .lock()
                .unwrap()
                .clone_from(&asked["code_challenge"]);
            let back = format!(
                "location: {}?code=code-1&state={}&iss={origin}\r\n",
                asked["redirect_uri"], asked["state"]
            );
            answer("302 Found", &back, "")
        }
        "/oauth/token" => {
            let form = query(&body);
            let verifier = hmac_sha256::Hash::hash(form["code_verifier"].as_bytes());
            assert_eq!(base64_url(&verifier), *seen.challenge.lock().unwrap());
            seen.tokens.lock().unwrap().push(form);
            json(json!({
                "access_token": "token-of-ada", "token_type": "Bearer", "expires_in": 7200,
                "refresh_token": "r", "scope": "mcp",
            }))
        }
        _ => answer("404 Not Found", "", ""),
    };
    let _ = stream.write_all(said.as_bytes()).await;
}

/// A person whose browser follows the address, and what comes of it.
fn lets_it_in(address: &str) {
    let address = address.to_owned();
    tokio::spawn(async move { reqwest::get(address).await.unwrap() });
}

#[tokio::test]
async fn a_person_signs_in_as_gitlab_wants_it() {
    let (upstream, _) = support::start().await;
    let upstream = upstream
        .trim_start_matches("http://")
        .trim_end_matches("/mcp");
    let (origin, seen) = gitlab(upstream.to_owned()).await;
    let address = format!("{origin}/mcp");

    let refused = McpClient::connect(Http::new(&address)).await.unwrap_err();
    assert!(matches!(refused, McpError::Connect { .. }), "{refused}");

    let sign_in = SignIn::new(&address).scope("mcp").name("the refund desk");
    let signed_in = sign_in.run(lets_it_in).await.unwrap();
    assert!(!format!("{signed_in:?}").contains("token-of-ada"));
    let client = McpClient::connect(signed_in).await.unwrap();
    let tools = client.tools().await.unwrap();
    assert!(tools.get("add").is_some());

    let registered = &seen.registered.lock().unwrap()[0];
    assert_eq!(registered["client_name"], "the refund desk");
    let back = registered["redirect_uris"][0].as_str().unwrap();
    assert!(
        back.starts_with("http://127.0.0.1:") && back.ends_with("/callback"),
        "{back}"
    );
    let form = &seen.tokens.lock().unwrap()[0];
    assert_eq!(
        (&*form["code"], &*form["client_id"]),
        ("code-1", "client-1")
    );
    assert_eq!(form["redirect_uri"], back);
}

#[tokio::test]
async fn a_registered_client_does_not_register_again_and_no_sign_in_waits_for_ever() {
    let (origin, seen) = gitlab(String::new()).await;
    let sign_in = || SignIn::new(format!("{origin}/mcp")).scope("mcp");
    let known = sign_in().client_id("known-1");
    known.run(lets_it_in).await.unwrap();
    assert!(seen.registered.lock().unwrap().is_empty());
    assert_eq!(seen.tokens.lock().unwrap()[0]["client_id"], "known-1");

    let short = sign_in().limit(Duration::from_millis(300));
    let error = short.run(|_| ()).await.unwrap_err();
    assert!(matches!(error, McpError::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_an_error() {
    let error = SignIn::new("http://127.0.0.1:9/mcp").run(|_| ()).await;
    assert!(matches!(error, Err(McpError::SignIn { .. })));
}
