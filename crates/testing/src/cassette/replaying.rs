//! Recorded exchanges that answer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use langgraph::message::MessageChunk;
use langgraph_agent::{ChatRequest, ChatResponse, ModelError, ModelErrorKind};

use super::difference::difference;
use super::{CassetteError, CassetteFile, Exchange, ModelName, RECORD};

/// Answers with recorded exchanges.
pub(super) struct Replaying {
    file: CassetteFile,
    exchanges: Vec<Exchange>,
    /// For each exchange, whether it was replayed.
    used: Mutex<Vec<bool>>,
}

impl Replaying {
    pub(super) fn new(file: CassetteFile) -> Result<Self, CassetteError> {
        let exchanges = file.read()?;
        Ok(Self::of(file, exchanges))
    }

    /// Answers with exchanges that were read from `file`.
    pub(super) fn of(file: CassetteFile, exchanges: Vec<Exchange>) -> Self {
        Self {
            used: Mutex::new(vec![false; exchanges.len()]),
            exchanges,
            file,
        }
    }

    pub(super) fn exchanges(&self) -> &[Exchange] {
        &self.exchanges
    }

    /// Returns the name of the recorded model.
    pub(super) fn model(&self) -> ModelName {
        let first = self.exchanges.first();
        first.map_or_else(ModelName::default, |first| first.model.clone())
    }

    /// Returns the next answer to `request`, which is looked up as `clean`.
    pub(super) fn response(
        &self,
        request: &ChatRequest,
        clean: &ChatRequest,
    ) -> Result<ChatResponse, ModelError> {
        let exchange = self.find(clean)?;
        request.charge_again(&exchange.refused);
        if exchange.left_early {
            return Err(self.unread(&exchange));
        }
        exchange.answer.into_result()
    }

    /// Returns the chunks of the next answer to `request`, which is looked up as `clean`, and an error at the place
    /// where its reader left, or where the model failed.
    pub(super) fn chunks(
        &self,
        request: &ChatRequest,
        clean: &ChatRequest,
    ) -> Vec<Result<MessageChunk, ModelError>> {
        let exchange = match self.find(clean) {
            Ok(exchange) => exchange,
            Err(error) => return vec![Err(error)],
        };
        request.charge_again(&exchange.refused);
        let unread = exchange.left_early.then(|| Err(self.unread(&exchange)));
        let (chunks, failure) = exchange.into_chunks();
        let chunks = chunks.into_iter().map(Ok);
        chunks.chain(failure.map(Err)).chain(unread).collect()
    }

    /// Returns the next answer to a request that is looked up as `clean`, if it was known without a call.
    pub(super) fn cached_answer(&self, clean: &ChatRequest) -> Option<ChatResponse> {
        let digest = clean.digest();
        let mut used = self.used();
        let (exchange, used) = self.of_digest(&digest, &mut used).next()?;
        if !exchange.answer.is_cached() {
            return None;
        }
        *used = true;
        exchange.answer.clone().into_result().ok()
    }

    /// Returns the exchanges of a digest that are not replayed yet, with their marks.
    fn of_digest<'a>(
        &'a self,
        digest: &'a str,
        used: &'a mut [bool],
    ) -> impl Iterator<Item = (&'a Exchange, &'a mut bool)> {
        let exchanges = self.exchanges.iter().zip(used);
        exchanges.filter(move |(exchange, used)| exchange.digest == digest && !**used)
    }

    /// The error of a reader that reads further than the one of the recording.
    fn unread(&self, exchange: &Exchange) -> ModelError {
        let (path, chunks) = (self.file.path().display(), exchange.chunks.len());
        let text = format!(
            "`{path}` has only the first {chunks} chunks of this answer, whose reader left early; record it again with \
             {RECORD}=1"
        );
        ModelError::new(ModelErrorKind::InvalidRequest, text)
    }

    /// Returns the next exchange with this request.
    fn find(&self, request: &ChatRequest) -> Result<Exchange, ModelError> {
        let digest = request.digest();
        let mut used = self.used();
        if let Some((exchange, used)) = self.of_digest(&digest, &mut used).next() {
            *used = true;
            return Ok(exchange.clone());
        }
        let known = self.exchanges.iter();
        let known = known.filter(|exchange| exchange.digest == digest).count();
        let path = self.file.path().display();
        let text = if known > 0 {
            format!(
                "`{path}` has {known} answers to this request, and all are replayed; record it again"
            )
        } else {
            let requests = self.exchanges.iter().map(|exchange| &exchange.request);
            let nearest = difference(requests, request);
            format!("`{path}` has no answer to this request; record it with {RECORD}=1\n{nearest}")
        };
        Err(ModelError::new(ModelErrorKind::InvalidRequest, text))
    }

    pub(super) fn finish(&self) -> Result<(), CassetteError> {
        match self.used().iter().filter(|used| !**used).count() {
            0 => Ok(()),
            unused => Err(CassetteError::Unused {
                path: self.file.path().to_owned(),
                unused,
            }),
        }
    }

    fn used(&self) -> MutexGuard<'_, Vec<bool>> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
