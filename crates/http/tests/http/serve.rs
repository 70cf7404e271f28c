//! Slow and silent clients lose their connections, and others are served.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Buf, Bytes, Frame, SizeHint};
use hyper::{Request, Response, StatusCode};
use tokio::net::{TcpListener, TcpStream};
use tower_service::Service;

use crate::slow_clients::{are_closed, closed, sent};

const LARGE: usize = 64 << 20;

/// Answers with the length of the body, with many bytes at `/large`, and late at `/late`. Written by hand, as a router
/// would be built for all tests of this crate, also for those that need none.
#[derive(Clone)]
struct Handler;

impl<B: Body + Send + 'static> Service<Request<B>> for Handler
where
    B::Data: Send,
{
    type Response = Response<Whole>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        Box::pin(async { Ok(respond(request).await) })
    }
}

/// A body in one piece.
struct Whole(Bytes);

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let whole = std::mem::take(&mut self.0);
        Poll::Ready((!whole.is_empty()).then(|| Ok(Frame::data(whole))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.len() as u64)
    }
}

async fn respond<B: Body>(request: Request<B>) -> Response<Whole> {
    let path = request.uri().path().to_owned();
    if path == "/large" {
        return Response::new(Whole(vec![b'x'; LARGE].into()));
    }
    if path == "/late" {
        tokio::time::sleep(Duration::from_millis(500)).await;
        return Response::new(Whole("whole".into()));
    }
    if let Ok(length) = length(request.into_body()).await {
        return Response::new(Whole(length.to_string().into()));
    }
    let mut response = Response::new(Whole(Bytes::new()));
    *response.status_mut() = StatusCode::REQUEST_TIMEOUT;
    response
}

async fn length<B: Body>(body: B) -> Result<usize, B::Error> {
    let mut body = pin!(body);
    let mut length = 0;
    while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
        length += frame?.data_ref().map_or(0, Buf::remaining);
    }
    Ok(length)
}

async fn started(timeout: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let until = std::future::pending();
    tokio::spawn(langgraph_http::serve(listener, Handler, timeout, until));
    address
}

const WHOLE: &str = "POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\nbody";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_and_silent_clients_are_closed_and_others_served() {
    are_closed(started(Duration::from_secs(1)).await, "/").await;
}

#[tokio::test]
async fn half_a_body_is_an_error_of_the_body() {
    let address = started(Duration::from_millis(300)).await;
    let half = WHOLE.replace("length: 4", "length: 9");
    let text = closed(sent(address, &half).await).await;
    assert!(text.starts_with("HTTP/1.1 408"), "{text}");
    // A whole one is answered, and then its connection is silent.
    let text = closed(sent(address, WHOLE).await).await;
    assert!(text.ends_with("\r\n\r\n4"), "{text}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_reads_nothing_loses_its_response() {
    let address = started(Duration::from_millis(300)).await;
    let stream = sent(address, "GET /large HTTP/1.1\r\nhost: x\r\n\r\n").await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let bytes = closed(stream).await.len();
    assert!(bytes < LARGE, "the server has waited");
}

#[tokio::test]
async fn a_server_that_stops_sends_the_response_in_flight() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let until = async { drop(stopped.await) };
    let timeout = Duration::from_secs(60);
    let served = tokio::spawn(langgraph_http::serve(listener, Handler, timeout, until));
    let late = WHOLE.replace("POST /", "POST /late");
    let client = sent(address, &late).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    stop.send(()).unwrap();
    assert!(closed(client).await.ends_with("\r\n\r\nwhole"));
    served.await.unwrap();
    TcpStream::connect(address).await.unwrap_err();
}
