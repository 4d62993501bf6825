//! Connects to an engine, and reconnects when the connection is lost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::client::Response;
use tokio_tungstenite::tungstenite::http::header::AUTHORIZATION;
use tokio_tungstenite::tungstenite::http::{HeaderValue, Uri};
use tokio_tungstenite::tungstenite::{self, ClientRequestBuilder};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use uuid::Uuid;

use super::protocol::WorkerProtocol;
use super::{ClientOptions, Event, Inner};
use crate::link::{CAPABILITIES, Monitored, TCP_NODELAY, problem, run_socket, socket_config};
use crate::lock::lock;
use crate::message::Message;
use crate::queue::{Budget, queue};

/// How long one attempt to connect may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A connection that lasted this long resets the pauses.
const STABLE_AFTER: Duration = Duration::from_secs(5);

/// An unusable engine address.
#[derive(Debug, Error)]
pub enum BadAddress {
    /// Not a URL with a host.
    #[error("`{0}` is not an address such as ws://127.0.0.1:49134")]
    NotAnAddress(String),
    /// A scheme other than `ws`.
    #[error("`{0}` is not a ws:// address")]
    NotWs(String),
    /// The token is not a valid header value.
    #[error("the token has characters that are not allowed in a header")]
    Token,
}

/// The address of an engine, and the token to present.
#[derive(Clone, Debug)]
pub(super) struct Address {
    uri: Uri,
    host: String,
    port: u16,
    token: Option<HeaderValue>,
}

impl Address {
    pub(super) fn parse(url: &str, options: &ClientOptions) -> Result<Self, BadAddress> {
        let bad = || BadAddress::NotAnAddress(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| bad())?;
        if uri.scheme_str() != Some("ws") {
            return Err(BadAddress::NotWs(url.to_owned()));
        }
        let host = uri
            .host()
            .ok_or_else(bad)?
            .trim_matches(['[', ']'])
            .to_owned();
        let port = uri.port_u16().unwrap_or(80);
        let token = match &options.token {
            None => None,
            Some(token) => {
                let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
                    .map_err(|_| BadAddress::Token)?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        Ok(Self {
            uri,
            host,
            port,
            token,
        })
    }

    async fn open(
        &self,
        options: &ClientOptions,
    ) -> Result<WebSocketStream<Monitored>, tungstenite::Error> {
        let mut request = ClientRequestBuilder::new(self.uri.clone()).into_client_request()?;
        if let Some(token) = &self.token {
            request.headers_mut().insert(AUTHORIZATION, token.clone());
        }
        let opening = async {
            let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
            // Messages are small, and peers wait for them: do not delay them.
            stream.set_nodelay(true)?;
            let stream = Monitored::new(stream);
            // Engines send a message in one frame.
            let max_bytes = options.max_message_bytes;
            let config = socket_config(max_bytes, max_bytes);
            let (mut socket, response) =
                client_async_with_config(request, stream, Some(config)).await?;
            if !has_nodelay(&response) {
                socket.get_mut().acknowledge_at_once();
            }
            Ok(socket)
        };
        match timeout(CONNECT_TIMEOUT, opening).await {
            Ok(opened) => opened,
            Err(late) => Err(tungstenite::Error::Io(late.into())),
        }
    }
}

/// Whether the engine sends small messages without delay. Engines before 0.25 do not.
fn has_nodelay(response: &Response) -> bool {
    let capabilities = response.headers().get_all(CAPABILITIES).iter();
    let mut listed = capabilities.filter_map(|listed| listed.to_str().ok());
    listed.any(|listed| listed.split(',').any(|one| one.trim() == TCP_NODELAY))
}

/// Connects, serves the connection, and reconnects, until the client stops.
pub(super) async fn keep_connected(inner: Arc<Inner>, address: Address) {
    let mut backoff = Backoff::new(inner.options.reconnect);
    let mut stop = inner.stop.subscribe();
    let mut refused = None;
    while !*stop.borrow() {
        let opened = tokio::select! {
            opened = address.open(&inner.options) => opened,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        match opened {
            Ok(socket) => {
                refused = None;
                let since = Instant::now();
                let budget = Budget::new(usize::MAX);
                let (outbox, queue) = queue(inner.options.queue, &budget);
                if let Some(reattach) = lock(&inner.previous).clone() {
                    // The engine expects it before any other message.
                    let _ = outbox.push(Message::Reattach(reattach));
                }
                let protocol = WorkerProtocol::new(&inner, outbox);
                let mut receiver = protocol.clone();
                let heartbeat = inner.options.heartbeat;
                protocol
                    .serve(run_socket(socket, queue, heartbeat, &mut receiver))
                    .await;
                if since.elapsed() >= STABLE_AFTER {
                    backoff.reset();
                }
            }
            Err(error) => {
                let url = &address.uri;
                tracing::debug!(%url, %error, "cannot connect to the engine");
                if let tungstenite::Error::Http(response) = &error {
                    let status = response.status().as_u16();
                    if refused.replace(status) != Some(status) {
                        inner.publish(Event::ConnectionRefused { status });
                    }
                } else {
                    let cause = problem(&error);
                    inner.publish(Event::Unreachable { cause });
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(backoff.next()) => {}
            _ = stop.wait_for(|stop| *stop) => break,
        }
    }
    inner.closed();
}

/// Pauses that double up to a limit, with jitter, so that many workers do not reconnect at the
/// same time.
struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    fn new((first, longest): (Duration, Duration)) -> Self {
        Self {
            first,
            longest,
            next: first,
        }
    }

    fn reset(&mut self) {
        self.next = self.first;
    }

    fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        let random = f64::from(Uuid::new_v4().as_fields().0) / f64::from(u32::MAX);
        pause.mul_f64(0.5 + random / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_limit_until_reset() {
        let ms = Duration::from_millis;
        let mut backoff = Backoff::new((ms(100), ms(350)));
        for most in [100, 200, 350, 350] {
            let pause = backoff.next();
            assert!(
                pause <= ms(most) && pause >= ms(most) / 2,
                "{pause:?} for {most} ms"
            );
        }
        backoff.reset();
        assert!(backoff.next() <= ms(100));
    }

    #[track_caller]
    fn check(url: &str, expected: &str) {
        let got = match Address::parse(url, &ClientOptions::default()) {
            Ok(address) => format!("{} {}", address.host, address.port),
            Err(error) => error.to_string(),
        };
        assert_eq!(got, expected, "for {url:?}");
    }

    #[test]
    fn addresses() {
        check("ws://127.0.0.1:49134", "127.0.0.1 49134");
        check("ws://[::1]:7/x?y", "::1 7");
        check("ws://engine", "engine 80");
        check("wss://engine", "`wss://engine` is not a ws:// address");
        check(
            "no address",
            "`no address` is not an address such as ws://127.0.0.1:49134",
        );
    }
}
