//! A file with the tables of a server, which is made once: most seeds begin with a copy.

use std::path::Path;
use std::sync::LazyLock;

use langgraph_server::Server;

use crate::memory_folder;

/// In one of so many seeds, the servers make the tables themselves.
const MADE_BY_SERVERS: u64 = 8;

/// The content of a file that a server has opened and closed. It has no rows but the secret of the server.
static TEMPLATE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let folder = memory_folder();
    let file = folder.path().join("server.db");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let served = runtime.block_on(Server::new().file(&file).start());
    drop(served.unwrap());
    // The last connection moves the write-ahead log into the file.
    drop(runtime);
    std::fs::read(file).unwrap()
});

/// Puts the file of a seed in its place, or leaves that to its servers.
pub(crate) fn prepare(file: &Path, seed: u64) {
    if !seed.is_multiple_of(MADE_BY_SERVERS) {
        std::fs::write(file, &*TEMPLATE).unwrap();
    }
}
