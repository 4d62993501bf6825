//! The opening handshake of a socket: which endpoint it asks for, and whether it may connect.
//!
//! Who may connect is decided by [`AccessPolicy`]; a plain HTTP request is answered with a hint
//! that this port expects WebSocket clients.

use std::io;
use std::time::Duration;

use skills_access::AccessPolicy;
use tokio::io::{AsyncWriteExt, copy, sink};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::{HeaderValue, StatusCode};

use crate::link::{CAPABILITIES, TCP_NODELAY};

/// How long the rest of a plain HTTP request is read before the socket is closed.
const LINGER_TIMEOUT: Duration = Duration::from_secs(1);

const NOT_A_WEBSOCKET: &str =
    "This is a WebSocket endpoint, where workers of an iii engine connect.\n";

/// What a socket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// A worker connects.
    Worker,
    /// An SDK sends telemetry, which is read and discarded.
    Telemetry,
}

/// Checks a handshake request; returns the endpoint it asks for, or a refusal.
#[expect(
    clippy::result_large_err,
    reason = "tungstenite takes the refusal as a whole response"
)]
pub(super) fn check(request: &Request, access: &AccessPolicy) -> Result<Endpoint, ErrorResponse> {
    access
        .check(request.uri(), request.headers())
        .map_err(|refused| refusal(refused.status(), &refused.to_string()))?;
    match request.uri().path() {
        "/" | "" => Ok(Endpoint::Worker),
        "/otel" => Ok(Endpoint::Telemetry),
        _ => Err(refusal(StatusCode::NOT_FOUND, "workers connect at /")),
    }
}

/// Announces that this end does not delay small messages; SDKs then do not either.
pub(super) fn add_capabilities(mut response: Response) -> Response {
    let nodelay = HeaderValue::from_static(TCP_NODELAY);
    response.headers_mut().insert(CAPABILITIES, nodelay);
    response
}

/// Whether a handshake failed because the request is plain HTTP.
pub(super) fn is_plain_http(error: &Error) -> bool {
    use ProtocolError::{
        MissingConnectionUpgradeHeader, MissingSecWebSocketKey, MissingSecWebSocketVersionHeader,
        MissingUpgradeWebSocketHeader, WrongHttpMethod, WrongHttpVersion,
    };
    matches!(
        error,
        Error::Protocol(
            MissingConnectionUpgradeHeader
                | MissingSecWebSocketKey
                | MissingSecWebSocketVersionHeader
                | MissingUpgradeWebSocketHeader
                | WrongHttpMethod
                | WrongHttpVersion
        )
    )
}

/// Responds to a plain HTTP request.
pub(super) async fn answer_plain_http(stream: &mut TcpStream) -> io::Result<()> {
    let length = NOT_A_WEBSOCKET.len();
    let answer = format!(
        "HTTP/1.1 426 Upgrade Required\r\n\
         Upgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\n\
         Connection: close\r\n\
         Content-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {length}\r\n\r\n{NOT_A_WEBSOCKET}"
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    // Closing a socket with unread data may discard the response, so the request is read to its
    // end.
    let drained = tokio::time::timeout(LINGER_TIMEOUT, copy(stream, &mut sink())).await;
    drained.map_or(Ok(()), |drained| drained.map(drop))
}

fn refusal(status: StatusCode, reason: &str) -> ErrorResponse {
    let mut response = ErrorResponse::new(Some(reason.to_owned()));
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_path(path: &str, host: &str, expected: &str) {
        let request = Request::builder().uri(path).header("host", host);
        let access = AccessPolicy::default();
        let got = match check(&request.body(()).unwrap(), &access) {
            Ok(endpoint) => format!("{endpoint:?}"),
            Err(refusal) => refusal.status().as_u16().to_string(),
        };
        assert_eq!(got, expected, "for {path} on {host}");
    }

    #[test]
    fn endpoints() {
        check_path("/", "127.0.0.1:49134", "Worker");
        check_path("/?x=1", "localhost", "Worker");
        check_path("/otel", "[::1]:49134", "Telemetry");
        check_path("/elsewhere", "localhost", "404");
        check_path("/", "evil.example:49134", "403");
    }
}
