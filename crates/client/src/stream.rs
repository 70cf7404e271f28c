//! The events of a run.

use reqwest::header::{ACCEPT, CONTENT_LOCATION, HeaderMap, HeaderValue, LOCATION};
use reqwest::{Method, Response};

use crate::attempts::{ATTEMPTS, pause};
use crate::event::Reader;
use crate::routes::{runs, segment};
use crate::{Client, ClientError, NewRun, ServerEvent};

/// The id that no event has: all that are stored come after it.
const FROM_THE_FIRST: &str = "-1";

/// The events of a run, one after the other.
///
/// If the connection breaks, is silent, or ends while the run goes on, the stream resumes after its last
/// event, or from the first one if none has come, when events have ids: with [`NewRun::resumable`]. Otherwise it fails: the stream of a run on a
/// thread ends without an error only after the run has ended, and [`status`](Self::status) says how.
#[derive(Debug)]
pub struct RunStream {
    client: Client,
    answer: Response,
    reader: Reader,
    /// The path at which the stream resumes.
    resume_path: Option<String>,
    /// The path of the run.
    run_path: Option<String>,
    status: Option<String>,
    last: Option<String>,
    /// All events are stored, with ids.
    is_resumable: bool,
    failures: u32,
    has_ended: bool,
}

impl RunStream {
    pub(crate) async fn start(
        client: Client,
        thread: Option<&str>,
        run: &NewRun,
    ) -> Result<Self, ClientError> {
        let path = format!("{}/stream", runs(thread)?);
        let body = run.json();
        let sent = client.open(Method::POST, &path, accept(None), Some(&body));
        let answer = sent.await?;
        let is_resumable = body["stream_resumable"] == true;
        Ok(Self {
            is_resumable,
            ..Self::of(client, answer)
        })
    }

    pub(crate) async fn join(
        client: Client,
        thread: &str,
        run: &str,
        last: Option<String>,
    ) -> Result<Self, ClientError> {
        let run_path = format!("{}/{}", runs(Some(thread))?, segment(run)?);
        let path = format!("{run_path}/stream");
        let headers = accept(last.as_deref());
        let answer = client.open(Method::GET, &path, headers, None).await?;
        let mut stream = Self::of(client, answer);
        stream.resume_path = Some(path);
        stream.run_path = Some(run_path);
        stream.last = last;
        Ok(stream)
    }

    fn of(client: Client, answer: Response) -> Self {
        let path = |name| client.path_of(answer.headers().get(name)?.to_str().ok()?);
        Self {
            resume_path: path(LOCATION),
            run_path: path(CONTENT_LOCATION),
            client,
            answer,
            reader: Reader::default(),
            status: None,
            last: None,
            is_resumable: false,
            failures: 0,
            has_ended: false,
        }
    }

    /// Returns the id of the run, if the server has sent it.
    pub fn run_id(&self) -> Option<&str> {
        Some(self.run_path.as_ref()?.rsplit_once('/')?.1)
    }

    /// Returns the id of the last event.
    pub fn last_event_id(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// Returns the status of a run on a thread, such as `success`, once the stream has ended.
    pub fn status(&self) -> Option<&str> {
        self.status.as_deref()
    }

    /// Returns the next event; `None` at the end of the run.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, except while the stream resumes: then it may have to do so once more.
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
            if let Err(error) = self.read().await {
                self.has_ended = true;
                return Some(Err(error));
            }
        }
    }

    /// Reads more bytes, or learns that the run has ended.
    async fn read(&mut self) -> Result<(), ClientError> {
        let idle = self.client.idle();
        let broken = match tokio::time::timeout(idle, self.answer.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                if self.reader.push(&bytes) {
                    return Ok(());
                }
                let error = "an event of the stream is too large";
                return Err(ClientError::Unreadable(error.into()));
            }
            Ok(Ok(None)) if self.reader.has_part() => {
                ClientError::Connection("the stream ended within an event".into())
            }
            Ok(Ok(None)) => match self.run_has_ended().await {
                Ok(true) => {
                    self.has_ended = true;
                    return Ok(());
                }
                Ok(false) => ClientError::Connection("the stream ended before its run".into()),
                Err(error) => error,
            },
            Ok(Err(error)) => error.into(),
            Err(_) => ClientError::Connection(format!("the stream was silent for {idle:?}").into()),
        };
        self.resume(broken).await
    }

    /// Asks the server whether the run has ended. The stream of a run without a thread counts as ended: such
    /// a run cannot be looked up.
    async fn run_has_ended(&mut self) -> Result<bool, ClientError> {
        let Some(path) = self.run_path.as_ref() else {
            return Ok(true);
        };
        if !path.starts_with("/threads/") {
            return Ok(true);
        }
        // A server may end the stream a moment before it stores the run's status.
        for is_last in [false, true] {
            let run = match self.client.call(Method::GET, path, None).await {
                Ok(run) => run,
                Err(error) if error.may_work_later() => return Err(error),
                // The run was deleted since, or may not be read.
                Err(ClientError::Refused { .. }) => return Ok(true),
                Err(error) => return Err(error),
            };
            let status = run["status"].as_str().unwrap_or_default();
            if !matches!(status, "pending" | "running") {
                self.status = Some(status.to_owned());
                return Ok(true);
            }
            if !is_last {
                tokio::time::sleep(pause(0)).await;
            }
        }
        Ok(false)
    }

    /// Resumes after the last event, or fails with what broke the connection.
    async fn resume(&mut self, mut broken: ClientError) -> Result<(), ClientError> {
        let from_the_first = || self.is_resumable.then(|| FROM_THE_FIRST.to_owned());
        let last = self.last.clone().or_else(from_the_first);
        let (Some(path), Some(last)) = (self.resume_path.clone(), last) else {
            return Err(broken);
        };
        while self.failures < ATTEMPTS {
            tokio::time::sleep(pause(self.failures)).await;
            self.failures += 1;
            let headers = accept(Some(&last));
            match self.client.open(Method::GET, &path, headers, None).await {
                Ok(answer) => {
                    self.answer = answer;
                    self.reader = Reader::default();
                    return Ok(());
                }
                Err(error) if error.may_work_later() => broken = error,
                Err(error) => return Err(error),
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
