//! The events of a run.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_LOCATION, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Method, Response};

use crate::event::Reader;
use crate::routes::runs;
use crate::{Client, ClientError, NewRun, ServerEvent};

/// How often a stream comes again in vain before it gives up.
const ATTEMPTS: u32 = 5;

/// The events of a run, one after the other.
///
/// If the connection breaks, the stream comes again where it stopped, when events have ids: with
/// [`NewRun::resumable`].
#[derive(Debug)]
pub struct RunStream {
    client: Client,
    answer: Response,
    reader: Reader,
    /// Where the stream comes again.
    place: Option<String>,
    run: Option<String>,
    last: Option<String>,
    failures: u32,
    has_ended: bool,
}

impl RunStream {
    pub(crate) async fn start(
        client: Client,
        thread: Option<&str>,
        run: &NewRun,
    ) -> Result<Self, ClientError> {
        let path = format!("{}/stream", runs(thread));
        let body = run.json();
        let sent = client.send(Method::POST, &path, accept(None), Some(&body));
        let answer = sent.await?;
        Ok(Self::of(client, answer))
    }

    pub(crate) async fn join(
        client: Client,
        path: String,
        last: Option<String>,
    ) -> Result<Self, ClientError> {
        let headers = accept(last.as_deref());
        let answer = client.send(Method::GET, &path, headers, None).await?;
        let mut stream = Self::of(client, answer);
        stream.place = Some(path);
        stream.last = last;
        Ok(stream)
    }

    fn of(client: Client, answer: Response) -> Self {
        let header = |name| Some(answer.headers().get(name)?.to_str().ok()?.to_owned());
        let run = header(CONTENT_LOCATION);
        let run = run.and_then(|place| Some(place.rsplit_once('/')?.1.to_owned()));
        Self {
            place: header(LOCATION),
            run,
            client,
            answer,
            reader: Reader::default(),
            last: None,
            failures: 0,
            has_ended: false,
        }
    }

    /// Returns the id of the run, if the server has told it.
    pub fn run_id(&self) -> Option<&str> {
        self.run.as_deref()
    }

    /// Returns the id of the last event.
    pub fn last_event_id(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// Returns the next event; `None` at the end of the run.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, except while the stream comes again: then it may have to do so once more.
    pub async fn next(&mut self) -> Option<Result<ServerEvent, ClientError>> {
        loop {
            if let Some(event) = self.reader.next() {
                self.failures = 0;
                return Some(match event {
                    Ok(event) => {
                        self.last = event.id.clone().or(self.last.take());
                        Ok(event)
                    }
                    Err(error) => Err(ClientError::Unreadable(Box::new(error))),
                });
            }
            if self.has_ended {
                return None;
            }
            match self.answer.chunk().await {
                Ok(Some(bytes)) if self.reader.push(&bytes) => {}
                Ok(Some(_)) => {
                    self.has_ended = true;
                    let error = "an event of the stream is too large";
                    return Some(Err(ClientError::Unreadable(error.into())));
                }
                Ok(None) => self.has_ended = true,
                Err(error) => {
                    if let Err(error) = self.again(error.into()).await {
                        self.has_ended = true;
                        return Some(Err(error));
                    }
                }
            }
        }
    }

    /// Comes again behind the last event, or fails with what broke the connection.
    async fn again(&mut self, mut broken: ClientError) -> Result<(), ClientError> {
        let (Some(place), Some(last)) = (self.place.clone(), self.last.clone()) else {
            return Err(broken);
        };
        while self.failures < ATTEMPTS {
            tokio::time::sleep(Duration::from_millis(100 << self.failures)).await;
            self.failures += 1;
            let headers = accept(Some(&last));
            match self.client.send(Method::GET, &place, headers, None).await {
                Ok(answer) => {
                    self.answer = answer;
                    self.reader = Reader::default();
                    return Ok(());
                }
                Err(
                    error @ ClientError::Refused {
                        status: 400..500, ..
                    },
                ) => return Err(error),
                Err(error) => broken = error,
            }
        }
        Err(broken)
    }
}

fn accept(last: Option<&str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
        headers.insert("last-event-id", last);
    }
    headers
}
