//! Accepts HTTP connections and limits what each of them, and all together, may use.

use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::Request;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use skills_access::{Connection, Connections, Work};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::write_timeout::WriteTimeout;
use crate::limits::{
    HTTP_HEAD_TIMEOUT, HTTP_WRITE_TIMEOUT, MAX_HTTP_HEAD_BYTES, MAX_HTTP_RESPONSES_BYTES,
    MAX_HTTP_SMALL_BYTES,
};

/// The pause after a connection could not be accepted.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(50);

const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\n\
    Retry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Serves HTTP on `listener` until `stop`, then lets requests in progress finish.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    connections: Arc<Connections>,
    stop: CancellationToken,
) {
    let unsent = Arc::new(Semaphore::new(MAX_HTTP_RESPONSES_BYTES));
    let mut tasks = JoinSet::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let Some(connection) = connections.admit().await else {
                        tracing::warn!("refused an HTTP connection: too many are in use");
                        // Whether it arrives does not matter.
                        let _ = stream.try_write(TOO_MANY);
                        continue;
                    };
                    let (router, unsent) = (router.clone(), Arc::clone(&unsent));
                    tasks.spawn(serve_connection(stream, router, connection, unsent, stop.clone()));
                }
                Err(error) => {
                    // Most likely out of file handles, which is temporary.
                    tracing::warn!(%error, "cannot accept an HTTP connection");
                    tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
                }
            },
            Some(_) = tasks.join_next() => {}
        }
    }
    drop(listener);
    while tasks.join_next().await.is_some() {}
}

async fn serve_connection(
    stream: TcpStream,
    router: Router,
    connection: Connection,
    unsent: Arc<Semaphore>,
    stop: CancellationToken,
) {
    // A response takes several writes; Nagle's algorithm would delay all but the first.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let connection = Arc::new(connection);
    let place = Arc::clone(&connection);
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |request: Request<Incoming>| {
        let (work, unsent) = (place.work(), Arc::clone(&unsent));
        let response = router.call(request);
        async move {
            let response = response.await?;
            Ok::<_, Infallible>(response.map(|body| ResponseBody {
                body,
                unsent,
                _work: work,
            }))
        }
    });
    let stream = TokioIo::new(WriteTimeout::new(stream, HTTP_WRITE_TIMEOUT));
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HTTP_HEAD_TIMEOUT)
        .max_buf_size(MAX_HTTP_HEAD_BYTES)
        .serve_connection(stream, service);
    tokio::pin!(serving);
    let mut stopping = false;
    loop {
        tokio::select! {
            ended = serving.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "an HTTP connection ended");
                }
                return;
            }
            () = connection.replaced() => return,
            () = stop.cancelled(), if !stopping => {
                stopping = true;
                serving.as_mut().graceful_shutdown();
            }
        }
    }
}

/// The body of a response. Its connection works until it is sent, and its larger parts count as
/// unsent until then.
struct ResponseBody {
    body: Body,
    unsent: Arc<Semaphore>,
    _work: Work,
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        Poll::Ready(
            frame.map(|frame| match frame.map_err(io::Error::other)?.into_data() {
                Ok(data) => Ok(Frame::data(count_unsent(&self.unsent, data)?)),
                Err(trailers) => Ok(trailers),
            }),
        )
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Bytes that hold their part of the budget until they are sent.
struct Counted {
    data: Bytes,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}

fn count_unsent(unsent: &Arc<Semaphore>, data: Bytes) -> io::Result<Bytes> {
    if data.len() <= MAX_HTTP_SMALL_BYTES {
        return Ok(data);
    }
    let permit = u32::try_from(data.len()).ok().and_then(|bytes| {
        let unsent = Arc::clone(unsent);
        unsent.try_acquire_many_owned(bytes).ok()
    });
    let Some(permit) = permit else {
        tracing::warn!("closed an HTTP connection: too many responses wait for their clients");
        return Err(io::Error::other(
            "too many responses wait for their clients",
        ));
    };
    Ok(Bytes::from_owner(Counted {
        data,
        _permit: permit,
    }))
}
