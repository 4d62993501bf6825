//! Getting a connection and, when it is lost, the next one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use thiserror::Error;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::header::AUTHORIZATION;
use tokio_tungstenite::tungstenite::http::{HeaderValue, Uri};
use tokio_tungstenite::tungstenite::{self, ClientRequestBuilder};
use tokio_tungstenite::{WebSocketStream, client_async_with_config};
use uuid::Uuid;

use super::side::WorkerSide;
use super::{ClientOptions, Event, Inner};
use crate::link::{Link, run, socket_config};
use crate::message::Message;
use crate::queue::queue;

/// How long one attempt to connect may take.
const ATTEMPT: Duration = Duration::from_secs(10);
/// A connection that lasted this long starts the pauses over.
const LASTED: Duration = Duration::from_secs(5);

/// An engine's address that cannot be used.
#[derive(Debug, Error)]
pub enum BadAddress {
    /// Not an address at all.
    #[error("`{0}` is not an address such as ws://127.0.0.1:49134")]
    NotAnAddress(String),
    /// A scheme other than `ws`.
    #[error("`{0}` is not a ws:// address")]
    NotWs(String),
    /// The token cannot be sent in a header.
    #[error("the token holds characters a header cannot carry")]
    Token,
}

/// Where an engine is and what to show it.
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
    ) -> Result<WebSocketStream<TcpStream>, tungstenite::Error> {
        let mut request = ClientRequestBuilder::new(self.uri.clone()).into_client_request()?;
        if let Some(token) = &self.token {
            request.headers_mut().insert(AUTHORIZATION, token.clone());
        }
        let opening = async {
            let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
            // Messages are small and wait for each other: never hold one back.
            stream.set_nodelay(true)?;
            let config = socket_config(options.max_message_bytes);
            let (socket, _) = client_async_with_config(request, stream, Some(config)).await?;
            Ok(socket)
        };
        match timeout(ATTEMPT, opening).await {
            Ok(opened) => opened,
            Err(late) => Err(tungstenite::Error::Io(late.into())),
        }
    }
}

/// Connects, serves, connects again, until told to stop.
pub(super) async fn keep_connected(inner: Arc<Inner>, address: Address) {
    let mut pauses = Pauses::new(inner.options.reconnect);
    let mut stop = inner.stop.subscribe();
    let mut turned_away = None;
    while !*stop.borrow() {
        let opened = tokio::select! {
            opened = address.open(&inner.options) => opened,
            _ = stop.wait_for(|stop| *stop) => break,
        };
        match opened {
            Ok(socket) => {
                turned_away = None;
                let since = Instant::now();
                let (outbox, queue) = queue(inner.options.queue);
                if let Some((previous_worker_id, reattach_token)) = inner.previous() {
                    // Before anything else is said, or it comes too late.
                    let known = Message::Reattach {
                        previous_worker_id,
                        reattach_token,
                    };
                    let _open = outbox.push(known);
                }
                let link = Link::socket(socket, queue, inner.options.heartbeat);
                serve(&inner, link, WorkerSide::new(&inner, outbox)).await;
                if since.elapsed() >= LASTED {
                    pauses.start_over();
                }
            }
            Err(error) => {
                let url = &address.uri;
                tracing::debug!(%url, %error, "cannot connect to the engine");
                if let tungstenite::Error::Http(answer) = &error {
                    let status = answer.status().as_u16();
                    if turned_away.replace(status) != Some(status) {
                        inner.tell(Event::ConnectionRefused { status });
                    }
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(pauses.next()) => {}
            _ = stop.wait_for(|stop| *stop) => break,
        }
    }
    inner.closed();
}

/// Serves the one connection there is inside this process.
pub(super) async fn stay_attached(inner: Arc<Inner>, link: Link, side: WorkerSide) {
    serve(&inner, link, side).await;
    inner.closed();
}

async fn serve(inner: &Inner, link: Link, mut side: WorkerSide) {
    let ended = run(link, &mut side).await;
    // Handlers still running have nobody to answer to.
    drop(side);
    inner.disconnected(&ended.to_string());
}

/// Pauses that grow to a limit and are never quite the same, so that many
/// workers do not come back all at once.
struct Pauses {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Pauses {
    fn new((first, longest): (Duration, Duration)) -> Self {
        Self {
            first,
            longest,
            next: first,
        }
    }

    fn start_over(&mut self) {
        self.next = self.first;
    }

    fn next(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.longest);
        let chance = f64::from(Uuid::new_v4().as_fields().0) / f64::from(u32::MAX);
        pause.mul_f64(0.5 + chance / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_limit_and_start_over() {
        let ms = Duration::from_millis;
        let mut pauses = Pauses::new((ms(100), ms(350)));
        for most in [100, 200, 350, 350] {
            let pause = pauses.next();
            assert!(
                pause <= ms(most) && pause >= ms(most) / 2,
                "{pause:?} for {most} ms"
            );
        }
        pauses.start_over();
        assert!(pauses.next() <= ms(100));
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
