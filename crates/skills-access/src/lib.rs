//! Who may connect to a listener on this machine, and how many.
//!
//! The listeners are for programs on this machine. A web page in a local browser can reach
//! them too: its requests carry an `Origin`, and a page that uses DNS rebinding carries a
//! foreign `Host`. [`AccessPolicy::check`] refuses both, and requires a bearer token where one
//! is set. The WebSocket endpoint for workers and the HTTP endpoint for MCP use the same
//! policy.
//!
//! [`Connections`] limits how many connections a listener has. [`check_token`] is the rule for
//! tokens.
//!
//! This crate reads headers and counts: no sockets, no routing, no configuration.

mod connections;
pub mod limits;
mod token;

use std::net::IpAddr;

use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, StatusCode, Uri};
use subtle::ConstantTimeEq;

pub use connections::{Connection, Connections, Work};
pub use token::{InvalidToken, check_token};

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
    #[error(
        "`Host: {0}` is neither this machine nor an allowed host; `skills serve --allow-host` allows more"
    )]
    Host(String),
    /// The request comes from a page of another site.
    #[error(
        "`Origin: {0}` is neither this machine nor an allowed origin; `skills serve --allow-origin` allows more"
    )]
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
        self.check_site(uri, headers)?;
        let Some(token) = &self.token else {
            return Ok(());
        };
        match header(headers, &AUTHORIZATION) {
            Header::Text(value) if bearer(value).is_some_and(|given| same(given, token)) => Ok(()),
            _ => Err(Refusal::Token),
        }
    }

    /// Checks where one request was sent and which page sent it, and not its token.
    pub fn check_site(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Refusal> {
        // HTTP/2 and proxies name the host in the URI. Where both do, both count.
        let in_uri = uri.authority().map(Authority::as_str);
        let in_header = match header(headers, &HOST) {
            Header::Missing => None,
            Header::Text(host) => Some(host),
            Header::Unusable => return Err(Refusal::NoHost),
        };
        let mut hosts = in_header.into_iter().chain(in_uri).peekable();
        if hosts.peek().is_none_or(|host| host.is_empty()) {
            return Err(Refusal::NoHost);
        }
        if let Some(host) = hosts.find(|host| !self.allows_host(host)) {
            return Err(Refusal::Host(host.to_owned()));
        }
        match header(headers, &ORIGIN) {
            Header::Missing => {}
            Header::Text(origin) if self.allows_origin(origin) => {}
            Header::Text(origin) => return Err(Refusal::Origin(origin.to_owned())),
            Header::Unusable => return Err(Refusal::Origin("?".to_owned())),
        }
        Ok(())
    }

    /// Whether a person who signs in gave the token.
    pub fn is_token(&self, given: &str) -> bool {
        self.token.as_ref().is_none_or(|token| same(given, token))
    }

    fn allows_host(&self, host: &str) -> bool {
        parse_authority(host).is_some_and(|authority| {
            let name = name(&authority);
            let mut allowed = self.allowed_hosts.iter();
            is_loopback(name)
                || allowed.any(|it| it.eq_ignore_ascii_case(host) || it.eq_ignore_ascii_case(name))
        })
    }

    fn allows_origin(&self, origin: &str) -> bool {
        let is_web = |scheme: &str| matches!(&*scheme.to_ascii_lowercase(), "http" | "https");
        let is_loopback_page = origin
            .split_once("://")
            .filter(|(scheme, _)| is_web(scheme))
            .and_then(|(_, rest)| parse_authority(rest))
            .is_some_and(|authority| is_loopback(name(&authority)));
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

/// A host with or without a port. Anything else is refused, such as user information, which no
/// client of ours sends, or a port that is not a number.
fn parse_authority(text: &str) -> Option<Authority> {
    let authority: Authority = text.parse().ok()?;
    let port = text.strip_prefix(authority.host())?;
    let is_port =
        |port: &str| port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok();
    (port.is_empty() || port.strip_prefix(':').is_some_and(is_port)).then_some(authority)
}

/// The host name without the brackets of an IPv6 address.
fn name(authority: &Authority) -> &str {
    authority.host().trim_matches(['[', ']'])
}

/// Whether this is a name of this machine that DNS cannot redirect.
fn is_loopback(name: &str) -> bool {
    let address = name.parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|address| address.to_canonical().is_loopback())
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
            "[0:0:0:0:0:0:0:1]",
            "[::ffff:127.0.0.1]:80",
        ] {
            check(None, &[(HOST, host)], 200);
        }
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "user@localhost",
            "user@skills.example.com",
            "localhost.",
            "localhost:",
            "localhost:http",
            "localhost:+80",
            "localhost:65536",
            "127.1",
            "2130706433",
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
        assert_eq!(check("http://evil.example/mcp"), Err(evil.clone()));
        let mut headers = HeaderMap::new();
        headers.insert(HOST, "localhost".parse().unwrap());
        let check = |uri: &'static str| policy(None).check(&Uri::from_static(uri), &headers);
        assert_eq!(check("http://127.0.0.1/mcp"), Ok(()));
        assert_eq!(check("http://evil.example/mcp"), Err(evil), "both count");
    }

    #[test]
    fn origins() {
        let host = (HOST, "127.0.0.1:49135");
        for origin in [
            "http://localhost:3000",
            "https://127.0.0.1",
            "http://[::1]:1",
            "HTTP://LOCALHOST:3000",
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
            "http://localhost/",
            "http://localhost.",
            "http://localhost:x",
            "http://user@localhost",
            "localhost",
            "http://localhost, http://evil.example",
        ] {
            check(None, &[host.clone(), (ORIGIN, origin)], 403);
        }
        let twice = (ORIGIN, "http://localhost");
        check(None, &[host, twice.clone(), twice], 403);
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
