//! Who may connect to a listener on this machine.
//!
//! The listeners are for programs on this machine. A web page in a local browser can reach
//! them too: its requests carry an `Origin`, and a page that uses DNS rebinding carries a
//! foreign `Host`. [`AccessPolicy::check`] refuses both, and requires a bearer token where one
//! is set. The WebSocket endpoint for workers and the HTTP endpoint for MCP use the same
//! policy.
//!
//! This crate reads headers and nothing else: no sockets, no routing, no configuration.

use std::net::IpAddr;

use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, StatusCode, Uri};
use subtle::ConstantTimeEq;

/// The hosts, origins and token that are accepted.
#[derive(Clone, Debug, Default)]
pub struct AccessPolicy {
    /// Host names of this server, besides loopback names and addresses.
    pub allowed_hosts: Vec<String>,
    /// Origins whose pages may connect, such as `https://app.example.com`, besides pages
    /// served from a loopback address.
    pub allowed_origins: Vec<String>,
    /// Required of every request as `Authorization: Bearer ...`.
    pub token: Option<String>,
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The request has no usable `Host`.
    #[error("the request must name its host in one `Host` header")]
    NoHost,
    /// The request was sent to another host.
    #[error("`Host: {0}` is neither this machine nor an allowed host")]
    Host(String),
    /// The request comes from a page of another site.
    #[error("`Origin: {0}` is neither this machine nor an allowed origin")]
    Origin(String),
    /// The token is missing or wrong.
    #[error("this server requires its token: send `Authorization: Bearer <token>`")]
    Token,
}

impl Refusal {
    /// The HTTP status of the refusal.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::NoHost | Self::Host(_) | Self::Origin(_) => StatusCode::FORBIDDEN,
            Self::Token => StatusCode::UNAUTHORIZED,
        }
    }
}

impl AccessPolicy {
    /// Checks one request by its URI and headers.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        // HTTP/2 names the host in the URI instead of a header.
        let host = match header(headers, &HOST) {
            Header::Missing => uri.authority().map(Authority::as_str).unwrap_or_default(),
            Header::Text(host) => host,
            Header::Unusable => "",
        };
        if host.is_empty() {
            return Err(Refusal::NoHost);
        }
        if !self.allows_host(host) {
            return Err(Refusal::Host(host.to_owned()));
        }
        match header(headers, &ORIGIN) {
            Header::Missing => {}
            Header::Text(origin) if self.allows_origin(origin) => {}
            Header::Text(origin) => return Err(Refusal::Origin(origin.to_owned())),
            Header::Unusable => return Err(Refusal::Origin("?".to_owned())),
        }
        let Some(token) = &self.token else {
            return Ok(());
        };
        match header(headers, &AUTHORIZATION) {
            Header::Text(value) if bearer(value).is_some_and(|given| same(given, token)) => Ok(()),
            _ => Err(Refusal::Token),
        }
    }

    fn allows_host(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else {
            return false;
        };
        is_loopback(&authority)
            || self.allowed_hosts.iter().any(|allowed| {
                allowed.eq_ignore_ascii_case(host) || allowed.eq_ignore_ascii_case(name(&authority))
            })
    }

    fn allows_origin(&self, origin: &str) -> bool {
        let is_loopback_page = origin
            .split_once("://")
            .filter(|(scheme, _)| matches!(*scheme, "http" | "https"))
            .and_then(|(_, rest)| rest.parse::<Authority>().ok())
            .is_some_and(|authority| is_loopback(&authority));
        let mut allowed = self.allowed_origins.iter();
        is_loopback_page || allowed.any(|allowed| allowed.eq_ignore_ascii_case(origin))
    }
}

enum Header<'a> {
    Missing,
    Text(&'a str),
    /// Sent twice, or not text.
    Unusable,
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Header<'a> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Header::Missing,
        (Some(value), None) => value.to_str().map_or(Header::Unusable, Header::Text),
        (Some(_), Some(_)) => Header::Unusable,
    }
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn same(given: &str, token: &str) -> bool {
    given.as_bytes().ct_eq(token.as_bytes()).into()
}

/// The host name without the brackets of an IPv6 address.
fn name(authority: &Authority) -> &str {
    authority.host().trim_matches(['[', ']'])
}

/// Whether the host is this machine under a name that DNS cannot redirect. User information
/// before the host is refused: no client of ours sends it.
fn is_loopback(authority: &Authority) -> bool {
    let name = name(authority);
    !authority.as_str().contains('@')
        && (name.eq_ignore_ascii_case("localhost")
            || name
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(token: Option<&str>) -> AccessPolicy {
        AccessPolicy {
            allowed_hosts: vec!["skills.example.com".to_owned(), "[fd00::1]:80".to_owned()],
            allowed_origins: vec!["https://app.example.com".to_owned()],
            token: token.map(str::to_owned),
        }
    }

    #[track_caller]
    fn check(token: Option<&str>, headers: &[(HeaderName, &str)], expected: u16) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value.parse().unwrap());
        }
        let got = policy(token).check(&Uri::from_static("/mcp"), &map);
        let got = got.map_or_else(|refusal| refusal.status().as_u16(), |()| 200);
        assert_eq!(got, expected, "for {headers:?}");
    }

    #[test]
    fn hosts() {
        for host in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:9",
            "127.9.9.9",
            "[::1]:80",
            "[::1]",
            "Skills.example.com:8080",
            "[fd00::1]:80",
        ] {
            check(None, &[(HOST, host)], 200);
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "user@localhost",
            "0.0.0.0",
            "[fd00::2]",
            "local host",
        ] {
            check(None, &[(HOST, host)], 403);
        }
        check(None, &[], 403);
        check(None, &[(HOST, "localhost"), (HOST, "localhost")], 403);
    }

    #[test]
    fn a_host_in_the_uri_counts_where_no_header_names_one() {
        let check =
            |uri: &'static str| policy(None).check(&Uri::from_static(uri), &HeaderMap::new());
        assert_eq!(check("http://localhost/mcp"), Ok(()));
        let evil = Refusal::Host("evil.example".to_owned());
        assert_eq!(check("http://evil.example/mcp"), Err(evil));
    }

    #[test]
    fn origins() {
        let host = (HOST, "127.0.0.1:49135");
        for origin in [
            "http://localhost:3000",
            "https://127.0.0.1",
            "http://[::1]:1",
            "https://app.example.com",
        ] {
            check(None, &[host.clone(), (ORIGIN, origin)], 200);
        }
        for origin in [
            "null",
            "",
            "http://evil.example",
            "http://localhost.evil.example",
            "https://app.example.com:1",
            "http://app.example.com",
            "file://localhost",
        ] {
            check(None, &[host.clone(), (ORIGIN, origin)], 403);
        }
    }

    #[test]
    fn tokens() {
        let host = (HOST, "localhost");
        for given in ["Bearer secret", "bearer secret"] {
            check(Some("secret"), &[host.clone(), (AUTHORIZATION, given)], 200);
        }
        for given in [
            "Bearer secre",
            "Bearer secrets",
            "Bearer Secret",
            "Bearer",
            "Basic secret",
            "secret",
            "",
        ] {
            check(Some("secret"), &[host.clone(), (AUTHORIZATION, given)], 401);
        }
        check(Some("secret"), std::slice::from_ref(&host), 401);
    }
}
