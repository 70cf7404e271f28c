//! A model whose exchanges are recorded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::stream::{self, StreamExt as _};
use langgraph::message::{MessageAccumulator, MessageChunk};
use langgraph_agent::{
    Bill, ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind, ModelStream,
};

use super::{CassetteError, CassetteFile, Exchange, ModelName};

/// Records the exchanges of a model.
pub(super) struct Recording {
    file: CassetteFile,
    /// The content of the file before this recording.
    earlier: Option<Vec<u8>>,
    model: Box<dyn ChatModel>,
    /// In the order of the requests; without those that have no answer yet, or got none.
    exchanges: Mutex<Vec<Option<Exchange>>>,
    /// True if the file has the earlier content, because the last call has failed.
    is_earlier: AtomicBool,
    /// The first error of the file that no reader has got.
    unread: Mutex<Option<CassetteError>>,
}

/// The place of a request among the others: requests that are made at once can be answered in another order.
#[derive(Clone, Copy)]
struct Place(usize);

/// A streamed answer on its way through. It is recorded at its end, or when its reader leaves.
struct Streamed<'a> {
    recording: &'a Recording,
    model: &'a ModelName,
    place: Place,
    stream: ModelStream<'a>,
    /// The request, until the answer is recorded or has failed.
    open: Option<ChatRequest>,
    chunks: Vec<MessageChunk>,
    /// What the answers have cost that the model refuses.
    bill: Bill,
}

impl Recording {
    pub(super) fn new(
        file: CassetteFile,
        model: Box<dyn ChatModel>,
    ) -> Result<Self, CassetteError> {
        let earlier = file.before_recording()?;
        Ok(Self {
            file,
            earlier,
            model,
            exchanges: Mutex::default(),
            is_earlier: AtomicBool::new(false),
            unread: Mutex::default(),
        })
    }

    pub(super) async fn generate(
        &self,
        request: &ChatRequest,
        clean: ChatRequest,
        model: &ModelName,
    ) -> Result<ChatResponse, ModelError> {
        let (request, bill) = request.with_bill();
        let place = self.place();
        let answer = self.model.generate(request).await;
        let response = self.noted(answer)?;
        let mut exchange = Exchange::new(model, clean, response.clone());
        exchange.refused = bill.costs();
        self.keep(place, exchange).map_err(unkept)?;
        Ok(response)
    }

    pub(super) fn stream<'a>(
        &'a self,
        request: &ChatRequest,
        clean: ChatRequest,
        model: &'a ModelName,
    ) -> ModelStream<'a> {
        let (request, bill) = request.with_bill();
        let streamed = Streamed {
            recording: self,
            model,
            place: self.place(),
            stream: self.model.stream(request),
            open: Some(clean),
            chunks: Vec::new(),
            bill,
        };
        Box::pin(stream::unfold(streamed, async |mut streamed| {
            let chunk = streamed.next().await?;
            Some((chunk, streamed))
        }))
    }

    /// Takes an error of the file that no reader has got, since it had left. Fails also if the file is not this
    /// recording.
    pub(super) fn finish(&self) -> Result<(), CassetteError> {
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = unread.take() {
            return Err(error);
        }
        if self.is_earlier.load(Ordering::Relaxed) {
            let path = self.file.path().to_owned();
            return Err(CassetteError::Earlier { path });
        }
        Ok(())
    }

    fn exchanges(&self) -> MutexGuard<'_, Vec<Option<Exchange>>> {
        self.exchanges
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn place(&self) -> Place {
        let mut exchanges = self.exchanges();
        exchanges.push(None);
        Place(exchanges.len() - 1)
    }

    fn keep(&self, Place(place): Place, exchange: Exchange) -> Result<(), CassetteError> {
        let mut exchanges = self.exchanges();
        if let Some(kept) = exchanges.get_mut(place) {
            *kept = Some(exchange);
        }
        let recorded: Vec<&Exchange> = exchanges.iter().flatten().collect();
        self.file.write(&recorded)?;
        self.is_earlier.store(false, Ordering::Relaxed);
        Ok(())
    }

    /// Puts the earlier file back if the model has failed.
    fn noted<T>(&self, answer: Result<T, ModelError>) -> Result<T, ModelError> {
        answer.inspect_err(|_| {
            let exchanges = self.exchanges();
            let Some(earlier) = &self.earlier else {
                return;
            };
            self.is_earlier.store(true, Ordering::Relaxed);
            if exchanges.iter().any(Option::is_some) {
                // The error of the model is more important.
                let _ = self.file.replace(earlier);
            }
        })
    }
}

impl Streamed<'_> {
    async fn next(&mut self) -> Option<Result<MessageChunk, ModelError>> {
        // Nothing follows an error.
        self.open.as_ref()?;
        match self.stream.next().await {
            Some(Ok(chunk)) => {
                self.chunks.push(chunk.clone());
                Some(Ok(chunk))
            }
            Some(error) => {
                self.open = None;
                Some(self.recording.noted(error))
            }
            None => self.end().err().map(Err),
        }
    }

    /// Records an answer that has come to its end.
    fn end(&mut self) -> Result<(), ModelError> {
        let Some(request) = self.open.take() else {
            return Ok(());
        };
        let Ok(response) = self.recording.noted(self.response()) else {
            return Ok(());
        };
        let exchange = self.exchange(request, response);
        self.recording.keep(self.place, exchange).map_err(unkept)
    }

    fn response(&self) -> Result<ChatResponse, ModelError> {
        ChatResponse::from_chunks(self.chunks.iter().cloned().collect())
    }

    fn exchange(&mut self, request: ChatRequest, response: ChatResponse) -> Exchange {
        let mut exchange = Exchange::new(self.model, request, response);
        exchange.chunks = std::mem::take(&mut self.chunks);
        exchange.refused = self.bill.costs();
        exchange
    }
}

impl Drop for Streamed<'_> {
    /// Records what a reader has read that leaves before the end. Of an answer without a chunk there is nothing to
    /// replay.
    fn drop(&mut self) {
        let Some(request) = self.open.take().filter(|_| !self.chunks.is_empty()) else {
            return;
        };
        // Many readers leave at the chunk that says why the message ends.
        let whole = self.response().ok();
        let left_early = whole.is_none();
        let read: MessageAccumulator = self.chunks.iter().cloned().collect();
        let response = whole.unwrap_or_else(|| ChatResponse::new(read.finish()));
        let mut exchange = self.exchange(request, response);
        exchange.left_early = left_early;
        if let Err(error) = self.recording.keep(self.place, exchange) {
            let unread = &self.recording.unread;
            let mut unread = unread.lock().unwrap_or_else(PoisonError::into_inner);
            unread.get_or_insert(error);
        }
    }
}

/// The error of an answer that cannot be recorded.
fn unkept(error: CassetteError) -> ModelError {
    ModelError::new(ModelErrorKind::InvalidRequest, error.to_string()).with_source(error)
}
