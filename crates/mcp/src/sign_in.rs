//! Signing a person in at a server.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use rmcp::transport::auth::{AuthorizationManager, AuthorizationRequest, OAuthState};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::{Http, McpError};

/// How long a browser may take to send its request.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Signs a person in at a server that requires it, as the Model Context Protocol describes: the program
/// registers itself at the server's authorization server (or has the id of a registered client), the person
/// authorizes it in a browser on this machine, and the program gets an access token.
///
/// GitLab's server requires it, with the scope `mcp`.
///
/// Needs the feature `auth`.
///
/// # Examples
///
/// ```no_run
/// use langgraph_mcp::{McpClient, SignIn};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let signed_in = SignIn::new("https://gitlab.com/api/v4/mcp")
///     .scope("mcp")
///     .run(|address| println!("open {address}"))
///     .await?;
/// let gitlab = McpClient::connect(signed_in).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a sign-in begins when it runs"]
pub struct SignIn {
    url: String,
    name: String,
    scopes: Vec<String>,
    client: Option<String>,
    limit: Duration,
}

impl SignIn {
    /// Creates a sign-in at the server at that address.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            name: "langgraph".to_owned(),
            scopes: Vec::new(),
            client: None,
            limit: Duration::from_secs(300),
        }
    }

    /// Asks for a scope. Without one, the scopes that the server names are requested.
    pub fn scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }

    /// Sets the name that the person sees; the default is `langgraph`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the id of a client that is registered already, for a server where programs do not register
    /// themselves. Its redirect address is `http://127.0.0.1/callback`, on any port.
    pub fn client_id(mut self, id: impl Into<String>) -> Self {
        self.client = Some(id.into());
        self
    }

    /// Limits how long the person may take; the default is five minutes.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Signs the person in. `open` gets the address that the person opens in a browser.
    ///
    /// The returned server has the access token. It lasts as long as the server says; then the person
    /// signs in again.
    ///
    /// # Errors
    ///
    /// [`McpError::SignIn`] if the server does not say where to sign in, or the person does not;
    /// [`McpError::TimedOut`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future ends the attempt.
    pub async fn run(self, open: impl FnOnce(&str)) -> Result<Http, McpError> {
        let (server, limit) = (self.url.clone(), self.limit);
        let token = timeout(limit, self.token(open)).await;
        let token = token.map_err(|_| McpError::TimedOut {
            server: server.clone(),
            doing: "signing in".to_owned(),
            limit,
        })?;
        match token {
            Ok(token) => Ok(Http::new(server).bearer(token)),
            Err(source) => Err(McpError::SignIn { server, source }),
        }
    }

    async fn token(self, open: impl FnOnce(&str)) -> Result<String, Box<dyn Error + Send + Sync>> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let back = format!("http://{}", listener.local_addr()?);
        // The user names the server, which may be in a network of a company.
        let manager = AuthorizationManager::new_allowing_private_addresses(&*self.url).await?;
        let mut state = OAuthState::Unauthorized(manager);
        let mut request = AuthorizationRequest::new(format!("{back}/callback"))
            .with_scopes(self.scopes)
            .with_client_name(self.name);
        if let Some(client) = self.client {
            request = request.with_preregistered_client(client);
        }
        state.start_authorization(request).await?;
        open(&state.get_authorization_url().await?);
        let path = callback(&listener).await?;
        state.handle_callback_url(&format!("{back}{path}")).await?;
        let manager = state
            .into_authorization_manager()
            .ok_or("the server gave no token")?;
        Ok(manager.get_access_token().await?)
    }
}

/// Waits for the callback of the browser, and returns its path.
async fn callback(listener: &TcpListener) -> std::io::Result<String> {
    loop {
        let (mut browser, _) = listener.accept().await?;
        // A connection that breaks or is silent is not the callback.
        let Ok(Ok(path)) = timeout(READ_TIMEOUT, requested_path(&mut browser)).await else {
            continue;
        };
        let is_callback = path.starts_with("/callback?");
        let (status, text) = if is_callback {
            ("200 OK", "You can close this page.")
        } else {
            // A browser also asks for an icon.
            ("404 Not Found", "There is nothing here.")
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
            text.len()
        );
        // What the browser shows does not matter.
        let _ = browser.write_all(answer.as_bytes()).await;
        if is_callback {
            return Ok(path);
        }
    }
}

/// Reads the path of a browser's request.
async fn requested_path(browser: &mut TcpStream) -> std::io::Result<String> {
    let mut head = Vec::new();
    let mut buffer = [0; 2048];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") && head.len() < 64 * 1024 {
        match browser.read(&mut buffer).await? {
            0 => break,
            count => head.extend(buffer.iter().take(count)),
        }
    }
    let head = String::from_utf8_lossy(&head);
    let path = head.split_whitespace().nth(1);
    Ok(path.unwrap_or_default().to_owned())
}

impl fmt::Debug for SignIn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignIn")
            .field("name", &self.name)
            .field("scopes", &self.scopes)
            .finish_non_exhaustive()
    }
}
