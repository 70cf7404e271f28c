//! A model whose exchanges are recorded.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::stream::{self, StreamExt as _};
use langgraph::message::{MessageAccumulator, MessageChunk};
use langgraph_agent::{
    Bill, ChatModel, ChatRequest, ChatResponse, ModelError, ModelErrorKind, ModelFailure,
    ModelStream,
};

use super::exchange::{Exchange, ModelName, Recorded};
use super::{CassetteError, CassetteFile};

/// Records the exchanges of a model.
pub(super) struct Recording {
    file: CassetteFile,
    /// The content of the file before this recording.
    earlier: Option<Vec<u8>>,
    model: Box<dyn ChatModel>,
    /// In the order of the requests; without those whose reader has left before an answer.
    exchanges: Mutex<Vec<Option<Exchange>>>,
    /// True if the last call has failed: the file is not written until a later one succeeds, or the recording is
    /// finished.
    ends_in_failure: AtomicBool,
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
            ends_in_failure: AtomicBool::new(false),
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
        let mut exchange = Exchange::new(model, clean, Recorded::of(&answer));
        exchange.refused = bill.costs();
        self.keep(place, exchange).map_err(unkept)?;
        answer
    }

    /// Returns the answer that the model knows without a call, and records it: a replay knows it at the same place.
    pub(super) async fn cached_answer(
        &self,
        request: &ChatRequest,
        clean: impl FnOnce() -> ChatRequest,
        model: &ModelName,
    ) -> Option<ChatResponse> {
        let mut response = self.model.cached_answer(request).await?;
        response.metadata.cached = true;
        let exchange = Exchange::new(model, clean(), Recorded::Response(response.clone()));
        self.keep_unread(self.place(), exchange);
        Some(response)
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

    /// Writes the failures at the end, and takes an error of the file that no reader has got.
    pub(super) fn finish(&self) -> Result<(), CassetteError> {
        let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = unread.take() {
            return Err(error);
        }
        if self.ends_in_failure.load(Ordering::Relaxed) {
            self.write(&self.exchanges())?;
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

    /// Keeps an exchange, and writes the file. If the model has failed, it puts the earlier file back: the program may
    /// end here, and a wrong key must not cost a good recording.
    fn keep(&self, Place(place): Place, exchange: Exchange) -> Result<(), CassetteError> {
        let mut exchanges = self.exchanges();
        let failed = exchange.answer.is_failure();
        let written = exchanges.iter().any(Option::is_some);
        if let Some(kept) = exchanges.get_mut(place) {
            *kept = Some(exchange);
        }
        if !failed {
            return self.write(&exchanges);
        }
        let is_earlier = self.ends_in_failure.swap(true, Ordering::Relaxed);
        if let Some(earlier) = &self.earlier
            && written
            && !is_earlier
        {
            // The error of the model is more important.
            let _ = self.file.replace(earlier);
        }
        Ok(())
    }

    /// As [`keep`](Self::keep), where no caller reads the error: [`finish`](Self::finish) returns it.
    fn keep_unread(&self, place: Place, exchange: Exchange) {
        if let Err(error) = self.keep(place, exchange) {
            let mut unread = self.unread.lock().unwrap_or_else(PoisonError::into_inner);
            unread.get_or_insert(error);
        }
    }

    fn write(&self, exchanges: &[Option<Exchange>]) -> Result<(), CassetteError> {
        let recorded: Vec<&Exchange> = exchanges.iter().flatten().collect();
        self.file.write(&recorded)?;
        self.ends_in_failure.store(false, Ordering::Relaxed);
        Ok(())
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
            Some(Err(error)) => {
                let failure = Recorded::Failure(ModelFailure::of(&error));
                // The error of the model is more important.
                let _ = self.end(failure);
                Some(Err(error))
            }
            // A stream that ends without its last chunk has failed, which its caller finds out.
            None => self.end(Recorded::of(&self.response())).err().map(Err),
        }
    }

    /// Records what has come to its end.
    fn end(&mut self, answer: Recorded) -> Result<(), ModelError> {
        let Some(request) = self.open.take() else {
            return Ok(());
        };
        let exchange = self.exchange(request, answer);
        self.recording.keep(self.place, exchange).map_err(unkept)
    }

    fn response(&self) -> Result<ChatResponse, ModelError> {
        ChatResponse::from_chunks(self.chunks.iter().cloned().collect())
    }

    fn exchange(&mut self, request: ChatRequest, answer: Recorded) -> Exchange {
        let mut exchange = Exchange::new(self.model, request, answer);
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
        let mut exchange = self.exchange(request, Recorded::Response(response));
        exchange.left_early = left_early;
        self.recording.keep_unread(self.place, exchange);
    }
}

/// The error of an answer that cannot be recorded.
fn unkept(error: CassetteError) -> ModelError {
    ModelError::new(ModelErrorKind::InvalidRequest, error.to_string()).with_source(error)
}
