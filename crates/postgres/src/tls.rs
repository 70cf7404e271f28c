//! Encrypted connections.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::PostgresError;

/// Connects to servers whose certificate is signed by one of `roots`, a PEM file, or by a root that
/// the operating system trusts.
pub(crate) fn connector(roots: Option<&Path>) -> Result<MakeRustlsConnect, PostgresError> {
    let trusted = match roots {
        Some(file) => from_file(file)?,
        None => from_system()?,
    };
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| PostgresError::Connect(Box::new(error)))?
        .with_root_certificates(trusted)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn from_file(file: &Path) -> Result<RootCertStore, PostgresError> {
    let refused = |reason: String| PostgresError::Certificates {
        place: file.display().to_string(),
        reason,
    };
    let mut roots = RootCertStore::empty();
    let certificates =
        CertificateDer::pem_file_iter(file).map_err(|error| refused(error.to_string()))?;
    for certificate in certificates {
        let certificate = certificate.map_err(|error| refused(error.to_string()))?;
        roots
            .add(certificate)
            .map_err(|error| refused(error.to_string()))?;
    }
    if roots.is_empty() {
        return Err(refused("there is none in it".to_owned()));
    }
    Ok(roots)
}

fn from_system() -> Result<RootCertStore, PostgresError> {
    let loaded = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Some systems have certificates that cannot be read; the others are enough.
    roots.add_parsable_certificates(loaded.certs);
    if roots.is_empty() {
        let reasons: Vec<_> = loaded.errors.iter().map(ToString::to_string).collect();
        return Err(PostgresError::Certificates {
            place: "the operating system".to_owned(),
            reason: match &*reasons {
                [] => "it trusts none".to_owned(),
                _ => reasons.join("; "),
            },
        });
    }
    Ok(roots)
}
