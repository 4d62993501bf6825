//! Who may come in: a web page somewhere must not reach this machine's registry through a browser,
//! and where a token is required only those who know it may ask.

use std::hint::black_box;

use axum::http::uri::Authority;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

/// The names and the token that open it.
pub struct Door {
    hosts: Vec<String>,
    origins: Vec<String>,
    token: Option<String>,
}

impl Door {
    /// Open to this machine, and to the named hosts and origins.
    pub fn new(hosts: Vec<String>, origins: Vec<String>, token: Option<String>) -> Self {
        Self {
            hosts,
            origins,
            token,
        }
    }

    /// Refuses whoever may not come in.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Box<Response>> {
        let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
        let host = text(header::HOST).or_else(|| uri.authority().map(Authority::as_str));
        if let Some(host) = host
            && !self.knows_host(host)
        {
            return Err(forbidden("Host", host, "an allowed host").into());
        }
        if let Some(origin) = text(header::ORIGIN)
            && !self.knows_origin(origin)
        {
            return Err(forbidden("Origin", origin, "an allowed origin").into());
        }
        let Some(token) = &self.token else {
            return Ok(());
        };
        let given = text(header::AUTHORIZATION).and_then(bearer);
        if given.is_some_and(|given| same(given.as_bytes(), token.as_bytes())) {
            return Ok(());
        }
        let how = [(header::WWW_AUTHENTICATE, r#"Bearer realm="skills""#)];
        let message = "this server requires its token: send `Authorization: Bearer <token>`";
        Err(Box::new(
            (StatusCode::UNAUTHORIZED, how, message).into_response(),
        ))
    }

    fn knows_host(&self, authority: &str) -> bool {
        let named = |host: &String| {
            host.eq_ignore_ascii_case(authority) || host.eq_ignore_ascii_case(name(authority))
        };
        is_loopback(authority) || self.hosts.iter().any(named)
    }

    fn knows_origin(&self, origin: &str) -> bool {
        let (scheme, authority) = origin.split_once("://").unwrap_or_default();
        let is_web = matches!(scheme, "http" | "https");
        (is_web && is_loopback(authority))
            || self
                .origins
                .iter()
                .any(|known| known.eq_ignore_ascii_case(origin))
    }
}

fn forbidden(header: &str, given: &str, what: &str) -> Response {
    let message = format!("`{header}: {given}` is neither this machine nor {what}");
    (StatusCode::FORBIDDEN, message).into_response()
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Takes as long for a token that is nearly right as for one that is not.
fn same(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).map(|(one, other)| one ^ other);
    one.len() == other.len() && black_box(differences.fold(0, |all, one| black_box(all | one))) == 0
}

/// The name in `name[:port]`.
fn name(authority: &str) -> &str {
    match authority.strip_prefix('[') {
        Some(v6) => v6.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    }
}

/// Whether `host[:port]` is this machine by a name nobody else can point elsewhere.
fn is_loopback(authority: &str) -> bool {
    let host = name(authority);
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(door: &Door, name: &header::HeaderName, value: &str, expected: u16) {
        let mut headers = HeaderMap::new();
        headers.insert(name.clone(), value.parse().unwrap());
        let got = door.check(&Uri::from_static("/mcp"), &headers);
        let got = got.map_or_else(|refused| refused.status().as_u16(), |()| 200);
        assert_eq!(got, expected, "for {name}: {value}");
    }

    #[test]
    fn this_machine_and_the_named_ones() {
        let hosts = vec!["skills.example.com".to_owned(), "[fd00::1]:80".to_owned()];
        let origins = vec!["https://app.example.com".to_owned()];
        let door = Door::new(hosts, origins, None);
        for host in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:9",
            "127.9.9.9",
            "[::1]:80",
            "[::1]",
        ] {
            check(&door, &header::HOST, host, 200);
        }
        check(&door, &header::HOST, "Skills.example.com:8080", 200);
        check(&door, &header::HOST, "[fd00::1]:80", 200);
        for host in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "0.0.0.0",
            "[fd00::2]",
        ] {
            check(&door, &header::HOST, host, 403);
        }
        for origin in [
            "http://localhost:3000",
            "https://127.0.0.1",
            "http://[::1]:1",
            "https://app.example.com",
        ] {
            check(&door, &header::ORIGIN, origin, 200);
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
            check(&door, &header::ORIGIN, origin, 403);
        }
    }

    #[test]
    fn the_token_and_no_other() {
        let door = Door::new(Vec::new(), Vec::new(), Some("secret".to_owned()));
        check(&door, &header::AUTHORIZATION, "Bearer secret", 200);
        check(&door, &header::AUTHORIZATION, "bearer secret", 200);
        for given in [
            "Bearer secre",
            "Bearer secrets",
            "Bearer Secret",
            "Bearer",
            "Basic secret",
            "secret",
            "",
        ] {
            check(&door, &header::AUTHORIZATION, given, 401);
        }
    }
}
