//! Addresses from users.

use langgraph_agent::{ModelError, ModelErrorKind};

/// Normalizes an address: it gets a scheme and a slash at the end, for joining paths.
pub(crate) fn normal(address: &str) -> Result<String, ModelError> {
    let address = address.trim();
    if address.is_empty() {
        return Err(invalid("the model's address is empty".to_owned()));
    }
    let mut full = if address.contains("://") {
        address.to_owned()
    } else {
        format!("http://{address}")
    };
    if !full.ends_with('/') {
        full.push('/');
    }
    let url = reqwest::Url::parse(&full)
        .map_err(|error| invalid(format!("`{address}` is not an address: {error}")))?;
    match url.scheme() {
        "http" => Ok(full),
        "https" => tls(address).map(|()| full),
        scheme => Err(invalid(format!(
            "`{address}` is not the address of a model: expected `http://` or `https://`, found `{scheme}://`"
        ))),
    }
}

/// Refuses an address that needs TLS without a TLS feature, with a better message than a failed
/// request.
pub(crate) fn tls(address: &str) -> Result<(), ModelError> {
    if cfg!(any(feature = "rustls", feature = "native-tls")) {
        return Ok(());
    }
    Err(invalid(format!(
        "`{address}` needs TLS; enable the feature `rustls` or `native-tls` of `langgraph-genai`"
    )))
}

fn invalid(text: String) -> ModelError {
    ModelError::new(ModelErrorKind::InvalidRequest, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_get_what_they_lack() {
        for (written, meant) in [
            ("127.0.0.1:11434", "http://127.0.0.1:11434/"),
            ("http://localhost:8000/v1", "http://localhost:8000/v1/"),
            ("http://localhost:8000/v1/", "http://localhost:8000/v1/"),
        ] {
            assert_eq!(normal(written).unwrap(), meant);
        }
        for wrong in ["", "ftp://x", "http://"] {
            assert!(normal(wrong).is_err(), "{wrong}");
        }
    }

    #[cfg(not(any(feature = "rustls", feature = "native-tls")))]
    #[test]
    fn an_address_that_needs_tls_names_the_features() {
        let error = normal("https://example.org/v1").unwrap_err();
        assert!(error.to_string().contains("`rustls` or `native-tls`"));
    }
}
