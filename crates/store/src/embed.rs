//! Embeddings for searches by meaning.

use std::error::Error;

use async_trait::async_trait;

use crate::StoreError;

/// The error of an embedder.
pub type EmbedError = Box<dyn Error + Send + Sync>;

/// An embedding model: turns texts into vectors. Texts with similar meanings get vectors of similar
/// direction. Write [`#[async_trait]`](macro@crate::async_trait) above an implementation.
///
/// # Examples
///
/// ```
/// use langgraph_store::{EmbedError, Embedder, async_trait};
///
/// /// Counts vowels: not a good model.
/// struct Vowels;
///
/// #[async_trait]
/// impl Embedder for Vowels {
///     fn dimensions(&self) -> usize {
///         5
///     }
///
///     async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
///         let count = |text: &String| {
///             ['a', 'e', 'i', 'o', 'u'].map(|vowel| text.matches(vowel).count() as f32).to_vec()
///         };
///         Ok(texts.iter().map(count).collect())
///     }
/// }
/// ```
#[async_trait]
pub trait Embedder: Send + Sync + 'static {
    /// Returns the length of its vectors.
    fn dimensions(&self) -> usize;

    /// Embeds texts to store: one vector for each text, in order.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// Embeds queries. Some models treat them differently.
    async fn embed_queries(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed(texts).await
    }
}

/// An embedder for tests and examples: texts are similar if they share words. It needs no model, and always
/// returns the same vectors.
///
/// It knows words, not their meaning: "puppy" is as far from "dog" as from "invoice", and so is "dogs". So it
/// is for tests, for programs that have to run without a network, and for searches by keyword. An application
/// that searches by meaning needs an embedding model: that of a provider (`Model::embedder` in
/// `langgraph-genai`), or a small one in the program, behind [`Embedder`].
///
/// # Examples
///
/// ```
/// use langgraph_store::{Embedder, HashingEmbedder, similarity};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
/// let texts = ["dog", "a dog", "puppy"].map(str::to_owned);
/// let vectors = HashingEmbedder::new(256).embed(&texts).await?;
/// assert!(similarity(&vectors[0], &vectors[1]) > 0.5); // a word in common
/// assert_eq!(similarity(&vectors[0], &vectors[2]), 0.0); // a meaning in common
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HashingEmbedder {
    dimensions: usize,
}

impl HashingEmbedder {
    /// Creates an embedder with vectors of that length; at least 1. Words that collide blur the
    /// result: a few hundred dimensions are enough for short texts.
    pub const fn new(dimensions: usize) -> Self {
        Self {
            dimensions: if dimensions == 0 { 1 } else { dimensions },
        }
    }

    fn vector(self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.dimensions];
        let words = text.split(|c: char| !c.is_alphanumeric());
        for word in words.filter(|word| !word.is_empty()) {
            let place = fnv(&word.to_lowercase()) % self.dimensions as u64;
            if let Some(count) = usize::try_from(place)
                .ok()
                .and_then(|at| vector.get_mut(at))
            {
                *count += 1.0;
            }
        }
        vector
    }
}

/// FNV-1a: the same hash in every process and on every machine.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[async_trait]
impl Embedder for HashingEmbedder {
    fn dimensions(&self) -> usize {
        self.dimensions
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}

/// Returns the similarity of two vectors of length 1: the cosine of the angle between them.
///
/// # Examples
///
/// ```
/// use langgraph_store::similarity;
///
/// assert_eq!(similarity(&[1.0, 0.0], &[1.0, 0.0]), 1.0);
/// assert_eq!(similarity(&[1.0, 0.0], &[0.0, 1.0]), 0.0);
/// ```
pub fn similarity(one: &[f32], other: &[f32]) -> f32 {
    // Eight independent sums, which the compiler turns into vector instructions.
    let mut sums = [0.0_f32; 8];
    let (ones, others) = (one.chunks_exact(8), other.chunks_exact(8));
    let rest = ones.remainder().iter().zip(others.remainder());
    let rest: f32 = rest.map(|(a, b)| a * b).sum();
    for (ones, others) in ones.zip(others) {
        for (sum, (a, b)) in sums.iter_mut().zip(ones.iter().zip(others)) {
            *sum += a * b;
        }
    }
    (sums.iter().sum::<f32>() + rest).clamp(-1.0, 1.0)
}

/// Embeds texts, checks the result, and normalizes the vectors to length 1.
pub(crate) async fn embed(
    embedder: &dyn Embedder,
    texts: &[String],
    queries: bool,
) -> Result<Vec<Vec<f32>>, StoreError> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let vectors = if queries {
        embedder.embed_queries(texts)
    } else {
        embedder.embed(texts)
    };
    let mut vectors = vectors.await.map_err(StoreError::Embedding)?;
    let bad = |problem| Err(StoreError::BadEmbedding(problem));
    if vectors.len() != texts.len() {
        let (found, expected) = (vectors.len(), texts.len());
        return bad(format!("{found} vectors for {expected} texts"));
    }
    let expected = embedder.dimensions();
    for vector in &mut vectors {
        if vector.len() != expected {
            let found = vector.len();
            return bad(format!(
                "a vector of {found} dimensions, where `dimensions()` says {expected}"
            ));
        }
        if !vector.iter().all(|x| x.is_finite()) {
            return bad("a vector holds a number that is infinite or NaN".to_owned());
        }
        normalize(vector);
    }
    Ok(vectors)
}

/// Scales the vector to length 1. A zero vector stays as it is, similar to nothing.
fn normalize(vector: &mut [f32]) {
    let length = vector
        .iter()
        .map(|x| f64::from(*x).powi(2))
        .sum::<f64>()
        .sqrt();
    if length > 0.0 {
        for x in vector {
            #[allow(clippy::cast_possible_truncation)] // between -1 and 1
            let scaled = (f64::from(*x) / length) as f32;
            *x = scaled;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(usize, Vec<Vec<f32>>);

    #[async_trait]
    impl Embedder for Fixed {
        fn dimensions(&self) -> usize {
            self.0
        }

        async fn embed(&self, _: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
            Ok(self.1.clone())
        }
    }

    #[tokio::test]
    async fn answers_that_cannot_be_used_are_errors() {
        let texts = ["a".to_owned()];
        for (embedder, problem) in [
            (Fixed(1, vec![]), "0 vectors for 1 texts"),
            (
                Fixed(2, vec![vec![1.0]]),
                "a vector of 1 dimensions, where `dimensions()` says 2",
            ),
            (Fixed(1, vec![vec![f32::NAN]]), "infinite or NaN"),
            (Fixed(1, vec![vec![f32::INFINITY]]), "infinite or NaN"),
        ] {
            let error = embed(&embedder, &texts, false)
                .await
                .unwrap_err()
                .to_string();
            assert!(error.contains(problem), "{error}");
        }
    }

    #[tokio::test]
    async fn vectors_get_length_one_whatever_their_size() {
        let long = Fixed(9, vec![vec![f32::MAX; 9], vec![1e-30; 9], vec![0.0; 9]]);
        let texts = ["a", "b", "c"].map(str::to_owned);
        let vectors = embed(&long, &texts, false).await.unwrap();
        assert!((similarity(&vectors[0], &vectors[1]) - 1.0).abs() < 1e-6);
        assert!(similarity(&vectors[0], &vectors[2]).abs() < 1e-6);
    }
}
