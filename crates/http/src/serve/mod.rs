//! A listener that closes the connections of slow and silent clients.

mod request_body;

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::time::Duration;

use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_io_timeout::TimeoutStream;
use tower_service::Service;

pub use request_body::RequestBody;

/// How long a server that stops waits for responses that are being sent.
const LAST_RESPONSES: Duration = Duration::from_secs(5);

/// How long it waits before it accepts again, if it cannot: too many files are open, say.
const ACCEPT_AGAIN: Duration = Duration::from_millis(200);

/// Serves HTTP/1.1, also upgrades of it, until `until` ends; responses that are being sent then have
/// another five seconds.
///
/// A client has `timeout` for the head of a request, also for that of the next one, for each part of
/// its body, and to take each part of a response. After that its connection is closed. So clients
/// that are silent or slow hold neither connections nor memory. While a handler works, no time runs.
///
/// # Cancel safety
///
/// Dropping the future closes all connections.
///
/// # Examples
///
/// ```no_run
/// use std::time::Duration;
///
/// # async fn run<R>(router: R) -> Result<(), std::io::Error>
/// # where
/// #     R: tower_service::Service<
/// #             http::Request<langgraph_http::RequestBody>,
/// #             Response = http::Response<String>,
/// #             Error = std::convert::Infallible,
/// #         > + Clone + Send + 'static,
/// #     R::Future: Send,
/// # {
/// let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
/// let timeout = Duration::from_secs(60);
/// langgraph_http::serve(listener, router, timeout, std::future::pending()).await;
/// # Ok(())
/// # }
/// ```
pub async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    timeout: Duration,
    until: impl Future<Output = ()>,
) where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let closing = watch::Sender::new(());
    // Dropping it closes the connections.
    let mut connections = JoinSet::new();
    tokio::pin!(until);
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(%error, "failed to accept a connection");
                    tokio::time::sleep(ACCEPT_AGAIN).await;
                    continue;
                }
            },
            Some(_) = connections.join_next() => continue,
            () = &mut until => break,
        };
        connections.spawn(connection(
            stream,
            service.clone(),
            timeout,
            closing.subscribe(),
        ));
    }
    drop(listener);
    drop(closing);
    let ended = async { while connections.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(LAST_RESPONSES, ended).await;
}

/// Serves one connection until it ends, or until the response that is being sent when `closes` ends.
async fn connection<S, B>(
    stream: TcpStream,
    service: S,
    timeout: Duration,
    mut closes: watch::Receiver<()>,
) where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>
        + Clone
        + Send
        + 'static,
    S::Future: Send,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    // Without it, an event waits until the one before it is acknowledged.
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(timeout));
    let service = service_fn(move |request: Request<Incoming>| {
        let request = request.map(|body| RequestBody::new(body, timeout));
        call(service.clone(), request)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new());
    builder.header_read_timeout(timeout);
    let connection = builder.serve_connection(TokioIo::new(Box::pin(stream)), service);
    let mut connection = std::pin::pin!(connection.with_upgrades());
    let served = tokio::select! {
        served = &mut connection => served,
        _ = closes.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection ended");
    }
}

async fn call<S, B>(
    mut service: S,
    request: Request<RequestBody>,
) -> Result<Response<B>, Infallible>
where
    S: Service<Request<RequestBody>, Response = Response<B>, Error = Infallible>,
{
    std::future::poll_fn(|cx| service.poll_ready(cx)).await?;
    service.call(request).await
}
