//! Why a socket failed, in words for an operator.

use std::io;

use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::error::{CapacityError, ProtocolError};

/// What went wrong, without the words of the library and of the standard library.
pub(crate) fn problem(error: &Error) -> String {
    match error {
        Error::ConnectionClosed | Error::AlreadyClosed => "the connection is closed".into(),
        Error::Io(error) => io_problem(error),
        Error::Capacity(CapacityError::MessageTooLong { size, max_size }) => {
            format!("a message of {size} bytes; at most {max_size} are accepted")
        }
        Error::Capacity(CapacityError::TooManyHeaders) | Error::HttpFormat(_) => {
            "the HTTP request is not valid".into()
        }
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {
            "the other end disappeared".into()
        }
        Error::Protocol(ProtocolError::HandshakeIncomplete) => {
            "the connection closed during the handshake".into()
        }
        Error::Protocol(_) => "the other end does not follow the WebSocket protocol".into(),
        Error::WriteBufferFull(_) => "the other end stopped reading".into(),
        Error::Utf8(_) => "a text message is not UTF-8".into(),
        Error::AttackAttempt => "the handshake is too large".into(),
        Error::Url(_) => "the address is not valid".into(),
        Error::Tls(_) => "a secure connection could not be made".into(),
        Error::Http(response) => {
            let body = response.body().as_deref().unwrap_or_default();
            let body = String::from_utf8_lossy(body);
            let status = response.status().as_u16();
            match body.trim() {
                "" => format!("HTTP {status}"),
                reason => format!("HTTP {status}: {reason}"),
            }
        }
    }
}

/// The system's words, without the number that the standard library adds.
pub(crate) fn io_problem(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use tokio_tungstenite::tungstenite::http::Response;

    use super::*;

    #[test]
    fn problems_have_no_words_of_a_library() {
        let refused = io::Error::from_raw_os_error(if cfg!(windows) { 10061 } else { 111 });
        assert!(!problem(&Error::Io(refused)).contains("os error"));
        let reset = Error::Protocol(ProtocolError::ResetWithoutClosingHandshake);
        assert_eq!(problem(&reset), "the other end disappeared");
        let mut response = Response::new(Some(b"the host is not allowed\n".to_vec()));
        *response.status_mut() = 403.try_into().unwrap();
        let refused = problem(&Error::Http(Box::new(response)));
        assert_eq!(refused, "HTTP 403: the host is not allowed");
    }
}
