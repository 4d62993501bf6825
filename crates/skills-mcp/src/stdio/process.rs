//! This process's standard input and output, such that neither keeps the process alive.
//!
//! On Linux pipes are read as they are. Everything else (sockets, which is what Node gives its
//! children; files; terminals; other systems) goes through two threads of its own: the runtime would
//! wait for a read that never returns, while a plain thread ends with the process.

use std::io::{self, Read, Write};
use std::thread;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// What fits between a thread and the server.
const BUFFER: usize = 64 << 10;

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Input, output, and the moment when all that went into the output is out.
pub fn streams() -> (Input, Output, impl Future<Output = ()>) {
    let (done, written) = oneshot::channel();
    let written = async {
        // Dropped or sent: either way nothing more will be written.
        let _ = written.await;
    };
    if are_pipes() {
        let (input, output) = rmcp::transport::stdio_pipes();
        drop(done);
        return (Box::new(input), Box::new(output), written);
    }
    (Box::new(read()), Box::new(write(done)), written)
}

#[cfg(target_os = "linux")]
fn are_pipes() -> bool {
    use std::os::unix::fs::FileTypeExt;
    ["/proc/self/fd/0", "/proc/self/fd/1"]
        .iter()
        .all(|path| std::fs::metadata(path).is_ok_and(|metadata| metadata.file_type().is_fifo()))
}

#[cfg(not(target_os = "linux"))]
fn are_pipes() -> bool {
    false
}

fn read() -> DuplexStream {
    let (mut ours, theirs) = tokio::io::duplex(BUFFER);
    let runtime = Handle::current();
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        let mut bytes = vec![0; BUFFER];
        loop {
            match input.read(&mut bytes) {
                Ok(0) => return,
                Ok(count) => {
                    if runtime.block_on(ours.write_all(&bytes[..count])).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    tracing::warn!(%error, "standard input cannot be read");
                    return;
                }
            }
        }
    });
    theirs
}

fn write(done: oneshot::Sender<()>) -> DuplexStream {
    let (mut ours, theirs) = tokio::io::duplex(BUFFER);
    let runtime = Handle::current();
    thread::spawn(move || {
        let mut output = io::stdout().lock();
        let mut bytes = vec![0; BUFFER];
        while let Ok(count @ 1..) = runtime.block_on(ours.read(&mut bytes)) {
            let out = output.write_all(&bytes[..count]);
            if out.and_then(|()| output.flush()).is_err() {
                break;
            }
        }
        let _ = done.send(());
    });
    theirs
}
