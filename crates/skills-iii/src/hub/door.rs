//! Who may come in.
//!
//! The hub is for programs on this machine. A web page in a browser on this
//! machine is not one of them: its requests carry an `Origin`, and one that got
//! here through a forged name carries a foreign `Host`. Whoever speaks HTTP and asks
//! for no WebSocket took the wrong door, and is told so.

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use tokio::io::{AsyncWriteExt, copy, sink};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::handshake::server::{ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::header::{AUTHORIZATION, HOST, ORIGIN};
use tokio_tungstenite::tungstenite::http::uri::Authority;
use tokio_tungstenite::tungstenite::http::{HeaderValue, StatusCode, Uri};

use super::HubOptions;

/// How long whoever took the wrong door may go on talking.
const LINGER: Duration = Duration::from_secs(1);

const WRONG_DOOR: &str = "This is a WebSocket endpoint, where workers of an iii engine connect.\n";

/// What a socket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A worker.
    Worker,
    /// Telemetry of an SDK, which nobody here wants.
    Telemetry,
}

/// Looks at a handshake; answers what the socket is for, or a refusal.
#[expect(
    clippy::result_large_err,
    reason = "the library wants the refusal whole"
)]
pub(super) fn admit(request: &Request, options: &HubOptions) -> Result<Purpose, ErrorResponse> {
    let header = |name| request.headers().get(name).map(HeaderValue::to_str);
    match header(HOST) {
        Some(Ok(host)) if host_is_ours(host, &options.allowed_hosts) => {}
        _ => {
            return Err(refusal(
                StatusCode::FORBIDDEN,
                "this Host is not served here",
            ));
        }
    }
    match header(ORIGIN) {
        None => {}
        Some(Ok(origin)) if origin_is_ours(origin, &options.allowed_hosts) => {}
        Some(_) => return Err(refusal(StatusCode::FORBIDDEN, "this Origin is not let in")),
    }
    if let Some(token) = &options.token {
        let shown = header(AUTHORIZATION).and_then(Result::ok).and_then(bearer);
        if !shown.is_some_and(|shown| same(shown, token)) {
            return Err(refusal(
                StatusCode::UNAUTHORIZED,
                "a bearer token is required",
            ));
        }
    }
    match request.uri().path() {
        "/" | "" => Ok(Purpose::Worker),
        "/otel" => Ok(Purpose::Telemetry),
        _ => Err(refusal(StatusCode::NOT_FOUND, "workers connect at /")),
    }
}

/// Tells SDKs that this end does not hold small messages back, so that they
/// stop doing so as well.
pub(super) fn welcome(mut response: Response) -> Response {
    let quick = HeaderValue::from_static("tcp-nodelay");
    response.headers_mut().insert("x-iii-capabilities", quick);
    response
}

/// Whether a handshake failed because it is a request of plain HTTP.
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

/// Answers a request of plain HTTP.
pub(super) async fn explain(stream: &mut TcpStream) -> io::Result<()> {
    let length = WRONG_DOOR.len();
    let answer = format!(
        "HTTP/1.1 426 Upgrade Required\r\n\
         Upgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\n\
         Connection: close\r\n\
         Content-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {length}\r\n\r\n{WRONG_DOOR}"
    );
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await?;
    // A socket that is closed with something unread may take the answer along: the rest
    // of the request is heard out.
    let heard = tokio::time::timeout(LINGER, copy(stream, &mut sink())).await;
    heard.map_or(Ok(()), |heard| heard.map(drop))
}

fn host_is_ours(host: &str, allowed: &[String]) -> bool {
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    name_is_ours(authority.host(), allowed)
}

fn origin_is_ours(origin: &str, allowed: &[String]) -> bool {
    let Ok(uri) = origin.parse::<Uri>() else {
        return false;
    };
    // An origin has a scheme; `null`, which is anybody's, has none.
    uri.scheme().is_some() && uri.host().is_some_and(|host| name_is_ours(host, allowed))
}

fn name_is_ours(name: &str, allowed: &[String]) -> bool {
    let name = name.trim_matches(['[', ']']);
    let loopback = name
        .parse::<IpAddr>()
        .is_ok_and(|address| address.is_loopback());
    loopback
        || name.eq_ignore_ascii_case("localhost")
        || allowed
            .iter()
            .any(|allowed| allowed.eq_ignore_ascii_case(name))
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Compares without telling by the time it takes where two tokens differ.
fn same(shown: &str, token: &str) -> bool {
    let (shown, token) = (shown.as_bytes(), token.as_bytes());
    let differ = shown
        .iter()
        .zip(token)
        .fold(0, |differ, (a, b)| differ | (a ^ b));
    std::hint::black_box(differ) == 0 && shown.len() == token.len()
}

fn refusal(status: StatusCode, why: &str) -> ErrorResponse {
    let mut response = ErrorResponse::new(Some(why.to_owned()));
    *response.status_mut() = status;
    response
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::hub::MemoryState;

    #[track_caller]
    fn check(path: &str, headers: &[(&str, &str)], expected: &str) {
        let mut options = HubOptions::new(Arc::new(MemoryState::default()));
        options.allowed_hosts = vec!["skills.internal".to_owned()];
        if headers.iter().any(|(name, _)| *name == "authorization") {
            options.token = Some("secret".to_owned());
        }
        let mut request = Request::builder().uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let got = match admit(&request.body(()).unwrap(), &options) {
            Ok(purpose) => format!("{purpose:?}"),
            Err(refusal) => refusal.status().as_u16().to_string(),
        };
        assert_eq!(got, expected, "for {path} with {headers:?}");
    }

    #[test]
    fn who_is_let_in() {
        let ours = ("host", "127.0.0.1:49134");
        check("/", &[ours], "Worker");
        check("/?x=1", &[("host", "localhost")], "Worker");
        check("/", &[("host", "[::1]:49134")], "Worker");
        check("/otel", &[ours], "Telemetry");
        check("/elsewhere", &[ours], "404");
        check("/", &[], "403");
        check("/", &[("host", "evil.example:49134")], "403");
        check("/", &[("host", "127.0.0.1.evil.example")], "403");
        check("/", &[("host", "skills.internal:49134")], "Worker");
        check("/", &[ours, ("origin", "http://localhost:3000")], "Worker");
        check("/", &[ours, ("origin", "https://evil.example")], "403");
        check(
            "/",
            &[ours, ("origin", "http://localhost.evil.example")],
            "403",
        );
        check("/", &[ours, ("origin", "null")], "403");
        check("/", &[ours, ("authorization", "Bearer secret")], "Worker");
        check("/", &[ours, ("authorization", "bearer secret")], "Worker");
        check("/", &[ours, ("authorization", "Bearer secre")], "401");
        check("/", &[ours, ("authorization", "Bearer secrets")], "401");
        check("/", &[ours, ("authorization", "Basic secret")], "401");
    }
}
