//! TLS, by `rustls`.

use std::io;
use std::sync::Arc;

use async_trait::async_trait;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio::net::TcpListener;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::wire::{Accepted, Listen, Wire};

/// A listener whose connections are encrypted: give it to [`Relay::serve`](crate::Relay::serve).
///
/// # Examples
///
/// ```no_run
/// use langgraph_relay::{Relay, RelayOptions, TlsListener};
/// use tokio::net::TcpListener;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let listener = TcpListener::bind("0.0.0.0:7077").await?;
/// let listener = TlsListener::new(
///     listener,
///     &std::fs::read("certificate.pem")?,
///     &std::fs::read("key.pem")?,
/// )?;
/// Relay::new(RelayOptions::default()).serve(listener).await?;
/// # Ok(())
/// # }
/// ```
pub struct TlsListener {
    listener: TcpListener,
    acceptor: TlsAcceptor,
}

impl TlsListener {
    /// Creates a listener with a chain of certificates and the key of the first, both as PEM.
    ///
    /// # Errors
    ///
    /// If the certificates or the key cannot be used.
    pub fn new(listener: TcpListener, certificates: &[u8], key: &[u8]) -> io::Result<Self> {
        let certificates: Vec<CertificateDer<'static>> =
            CertificateDer::pem_slice_iter(certificates)
                .collect::<Result<_, _>>()
                .map_err(invalid)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(invalid)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(invalid)?
            .with_no_client_auth()
            .with_single_cert(certificates, key)
            .map_err(invalid)?;
        Ok(Self {
            listener,
            acceptor: TlsAcceptor::from(Arc::new(config)),
        })
    }
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

#[async_trait]
impl Listen for TlsListener {
    async fn accept(&mut self) -> io::Result<Accepted> {
        let (stream, _) = self.listener.accept().await?;
        let _ = stream.set_nodelay(true);
        let handshake = self.acceptor.accept(stream);
        // Not here: a client that takes its time must not hold the others up.
        Ok(Box::pin(async move {
            let stream = handshake.await?;
            Ok(Box::new(stream) as Box<dyn Wire>)
        }))
    }
}

impl std::fmt::Debug for TlsListener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TlsListener")
            .field("listener", &self.listener)
            .finish_non_exhaustive()
    }
}

/// Makes the client's side: it trusts these certificates (PEM), or those of the machine if there are
/// none.
pub(crate) fn connector(roots: &[Vec<u8>]) -> io::Result<TlsConnector> {
    let mut store = RootCertStore::empty();
    for pem in roots {
        for certificate in CertificateDer::pem_slice_iter(pem) {
            store.add(certificate.map_err(invalid)?).map_err(invalid)?;
        }
    }
    if roots.is_empty() {
        store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(invalid)?
        .with_root_certificates(store)
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

pub(crate) async fn encrypt(
    connector: &TlsConnector,
    host: &str,
    wire: Box<dyn Wire>,
) -> io::Result<Box<dyn Wire>> {
    let name = ServerName::try_from(host.to_owned()).map_err(invalid)?;
    let stream = connector.connect(name, wire).await?;
    Ok(Box::new(stream))
}
