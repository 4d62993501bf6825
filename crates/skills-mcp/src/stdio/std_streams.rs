//! Standard input and output of this process, opened so that neither keeps the process alive.
//!
//! On Linux, pipes are polled. Everything else (sockets, which Node gives to its child processes;
//! files; terminals; other systems) goes through two plain threads: the runtime would wait at
//! shutdown for a blocking read that never returns, while a plain thread ends with the process.

use std::io::{self, Read, Write};
use std::thread;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Bytes between a thread and the server.
const BUFFER: usize = 64 << 10;

type Input = Box<dyn AsyncRead + Send + Unpin>;
type Output = Box<dyn AsyncWrite + Send + Unpin>;

/// Input, output, and a future that completes when the output is shut down and written.
pub fn open() -> (Input, Output, impl Future<Output = ()>) {
    let (done, written) = oneshot::channel();
    let written = async {
        // An error means that the sender was dropped: nothing more will be written.
        let _ = written.await;
    };
    if are_pipes() {
        let (input, output) = rmcp::transport::stdio_pipes();
        drop(done);
        return (Box::new(input), Box::new(output), written);
    }
    (
        Box::new(read_on_thread()),
        Box::new(write_on_thread(done)),
        written,
    )
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

fn read_on_thread() -> DuplexStream {
    let (mut thread_end, server_end) = tokio::io::duplex(BUFFER);
    let runtime = Handle::current();
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        let mut bytes = vec![0; BUFFER];
        loop {
            match input.read(&mut bytes) {
                Ok(0) => return,
                Ok(count) => {
                    let passed = runtime.block_on(thread_end.write_all(&bytes[..count]));
                    if passed.is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot read standard input");
                    return;
                }
            }
        }
    });
    server_end
}

fn write_on_thread(done: oneshot::Sender<()>) -> DuplexStream {
    let (mut thread_end, server_end) = tokio::io::duplex(BUFFER);
    let runtime = Handle::current();
    thread::spawn(move || {
        let mut output = io::stdout().lock();
        let mut bytes = vec![0; BUFFER];
        while let Ok(count @ 1..) = runtime.block_on(thread_end.read(&mut bytes)) {
            let written = output.write_all(&bytes[..count]);
            if written.and_then(|()| output.flush()).is_err() {
                break;
            }
        }
        let _ = done.send(());
    });
    server_end
}
