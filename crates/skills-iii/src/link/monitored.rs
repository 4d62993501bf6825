//! A socket that records what happens on it, byte by byte: a large message that moves slowly is
//! progress.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::heartbeat::Activity;

#[derive(Debug)]
pub(crate) struct Monitored {
    stream: TcpStream,
    activity: Arc<Activity>,
    acknowledges_at_once: bool,
}

impl Monitored {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            activity: Arc::default(),
            acknowledges_at_once: false,
        }
    }

    /// Acknowledges from now on what is read as soon as it is read. The other end has Nagle's
    /// algorithm on: it keeps a second small message back until the first one is acknowledged, and
    /// by default that happens with the next message of this end, or 40 ms later.
    pub(crate) fn acknowledge_at_once(&mut self) {
        self.acknowledges_at_once = true;
    }

    /// The system falls back to delayed acknowledgements by itself, so it is told after every read.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn acknowledge(&self) {
        // A socket that does not support it works all the same.
        let _ = self.stream.set_quickack(true);
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    #[expect(clippy::unused_self, reason = "other systems have no such setting")]
    fn acknowledge(&self) {}

    pub(super) fn activity(&self) -> Arc<Activity> {
        Arc::clone(&self.activity)
    }

    fn record_write(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match &written {
            Poll::Ready(Ok(_)) => self.activity.wrote(),
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.activity.blocked(),
        }
        written
    }
}

impl AsyncRead for Monitored {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() {
            self.activity.received();
            if self.acknowledges_at_once {
                self.acknowledge();
            }
        }
        read
    }
}

impl AsyncWrite for Monitored {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.record_write(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.record_write(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
