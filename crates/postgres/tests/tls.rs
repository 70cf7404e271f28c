//! Encrypted connections: to whom, and to whom not.
#![cfg(feature = "rustls")]
#![allow(clippy::unwrap_used)] // in what several tests share

mod support;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use langgraph::checkpoint::Administration as _;
use langgraph::prelude::*;
use langgraph_postgres::{Database, Options, PostgresError, PostgresSaver};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use support::{Schema, url};

/// What a client asks first when it wants encryption.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

/// Stands before the server and speaks TLS, with a certificate for one host name.
struct Front {
    port: u16,
    authority: String,
    encrypted: Arc<AtomicUsize>,
    folder: TempDir,
}

impl Front {
    async fn for_host(name: &str) -> Self {
        let mut authority = CertificateParams::default();
        authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap());
        let authority = authority.unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new([name.to_owned()]).unwrap();
        let certificate = certificate.signed_by(&key, &authority).unwrap();
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let encrypted = Arc::new(AtomicUsize::new(0));
        let acceptor = TlsAcceptor::from(Arc::new(config));
        tokio::spawn(serve(listener, acceptor, Arc::clone(&encrypted)));
        Self {
            port,
            authority: authority.pem(),
            encrypted,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// The database behind it, by this host name and in this way.
    fn url(&self, host: &str, mode: &str) -> String {
        let behind: tokio_postgres::Config = url().parse().unwrap();
        let user = behind.get_user().unwrap();
        let password = behind.get_password().map(String::from_utf8_lossy);
        let password = password.map_or_else(String::new, |word| format!(":{word}"));
        let database = behind.get_dbname().unwrap_or(user);
        format!(
            "postgres://{user}{password}@{host}:{}/{database}?sslmode={mode}",
            self.port
        )
    }

    /// A file of certificates.
    fn file(&self, text: &str) -> PathBuf {
        let file = self.folder.path().join("roots.pem");
        std::fs::write(&file, text).unwrap();
        file
    }

    fn trusted(&self, schema: &Schema) -> Options {
        schema
            .options()
            .root_certificates(self.file(&self.authority))
    }
}

async fn serve(listener: TcpListener, acceptor: TlsAcceptor, encrypted: Arc<AtomicUsize>) {
    let behind: tokio_postgres::Config = url().parse().unwrap();
    let host = match &behind.get_hosts()[0] {
        tokio_postgres::config::Host::Tcp(host) => host.clone(),
        other @ tokio_postgres::config::Host::Unix(_) => {
            unreachable!("the tests' server listens on {other:?}")
        }
    };
    let port = behind.get_ports().first().copied().unwrap_or(5432);
    loop {
        let (mut client, _) = listener.accept().await.unwrap();
        let (acceptor, encrypted, host) = (acceptor.clone(), Arc::clone(&encrypted), host.clone());
        tokio::spawn(async move {
            let mut server = TcpStream::connect((&*host, port)).await.unwrap();
            let mut first = [0; 8];
            client.read_exact(&mut first).await.unwrap();
            if first == SSL_REQUEST {
                client.write_all(b"S").await.unwrap();
                // A client that does not trust this ends it here.
                let Ok(mut client) = acceptor.accept(client).await else {
                    return;
                };
                encrypted.fetch_add(1, Ordering::Relaxed);
                let _ = copy_bidirectional(&mut client, &mut server).await;
            } else {
                server.write_all(&first).await.unwrap();
                let _ = copy_bidirectional(&mut client, &mut server).await;
            }
        });
    }
}

/// The error with what is under it.
fn with_sources(error: &dyn std::error::Error) -> String {
    let source = error.source().map(with_sources).unwrap_or_default();
    format!("{error}: {source}")
}

async fn refused(url: &str, options: Options) -> String {
    with_sources(&Database::connect_with(url, options).await.unwrap_err())
}

#[tokio::test]
async fn a_thread_goes_through_an_encrypted_connection() {
    let (front, schema) = (Front::for_host("localhost").await, Schema::new());
    for (connected, mode) in ["require", "verify-full"].into_iter().enumerate() {
        let url = front.url("localhost", mode);
        let database = Database::connect_with(&url, front.trusted(&schema)).await;
        let saver = Arc::new(PostgresSaver::new(database.unwrap()));
        let mut graph = StateGraph::<i64>::new();
        graph
            .add_node("increment", |n: &i64| n + 1)
            .add_sequence(&["increment"]);
        let graph = graph.compile().unwrap().checkpointer(Arc::clone(&saver));
        assert_eq!(
            graph.run(1).thread(mode).await.unwrap().finished().unwrap(),
            2
        );
        assert_eq!(saver.usage(mode).await.unwrap().logs, 1);
        assert!(front.encrypted.load(Ordering::Relaxed) > connected);
    }
}

#[tokio::test]
async fn a_connection_that_need_not_be_encrypted_is_not() {
    let (front, schema) = (Front::for_host("localhost").await, Schema::new());
    for mode in ["prefer", "disable"] {
        let url = front.url("localhost", mode);
        Database::connect_with(&url, schema.options())
            .await
            .unwrap();
    }
    assert_eq!(front.encrypted.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_server_of_another_name_is_refused() {
    let (front, schema) = (Front::for_host("db.example.org").await, Schema::new());
    let url = front.url("localhost", "require");
    let error = refused(&url, front.trusted(&schema)).await;
    assert!(error.contains("not valid for name"), "{error}");
    assert_eq!(front.encrypted.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_server_without_a_trusted_certificate_is_refused() {
    let (front, other) = (
        Front::for_host("localhost").await,
        Front::for_host("localhost").await,
    );
    let schema = Schema::new();
    let url = front.url("localhost", "require");
    let error = refused(&url, other.trusted(&schema)).await;
    assert!(error.contains("invalid peer certificate"), "{error}");
}

#[tokio::test]
async fn certificates_that_cannot_be_read_are_named() {
    let (front, schema) = (Front::for_host("localhost").await, Schema::new());
    let url = front.url("localhost", "require");
    let no_certificate = "-----BEGIN CERTIFICATE-----\nbm9uZQ==\n-----END CERTIFICATE-----\n";
    for text in ["", "no certificate", no_certificate] {
        let file = front.file(text);
        let options = schema.options().root_certificates(&file);
        let error = Database::connect_with(&url, options).await.unwrap_err();
        assert!(
            matches!(error, PostgresError::Certificates { .. }),
            "{error}"
        );
        assert!(
            error.to_string().contains(&*file.to_string_lossy()),
            "{error}"
        );
    }
    let missing = schema.options().root_certificates("/no/such/file.pem");
    let error = refused(&url, missing).await;
    assert!(error.contains("/no/such/file.pem"), "{error}");
}
