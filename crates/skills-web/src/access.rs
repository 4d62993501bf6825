//! Who may read the page, and who may write.
//!
//! The rules of the port apply: `Host`, `Origin` and token. A browser sends the token once, to
//! `/sign-in`, and a cookie after that. Whatever changes something must come from a page of this
//! very server, because a browser sends the cookie, or needs none, whichever page asks it to.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, COOKIE, HOST, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use skills_access::Refusal;
use skills_core::Digest;

use crate::pages::sign_in;
use crate::response::plain_not_found;
use crate::{Web, assets};

/// Checks a request before a page serves it.
pub async fn check(State(web): State<Arc<Web>>, request: Request, next: Next) -> Response {
    let (uri, headers, method) = (request.uri(), request.headers(), request.method());
    let path = uri.path();
    if let Err(refusal) = web.options.access.check_site(uri, headers) {
        return (refusal.status(), refusal.to_string()).into_response();
    }
    // Programs look for documents that this server does not have, and expect a plain 404.
    if path.starts_with("/.well-known/") || is_program(&request) {
        return plain_not_found();
    }
    let is_write = method != Method::GET && method != Method::HEAD;
    if is_write && !is_same_origin(headers) {
        let text = "a change must come from a page of this server: \
            the request has neither `Sec-Fetch-Site: same-origin` nor an `Origin` equal to its `Host`";
        return (StatusCode::FORBIDDEN, text).into_response();
    }
    let is_open = path.starts_with(assets::FOLDER) || path == sign_in::PATH;
    if !is_open && !is_signed_in(&web, &request) {
        return if is_page(path) && !is_write {
            let next = uri.path_and_query().map_or("/", |it| it.as_str());
            sign_in::ask(&web, StatusCode::UNAUTHORIZED, next, None)
        } else {
            (StatusCode::UNAUTHORIZED, Refusal::Token.to_string()).into_response()
        };
    }
    next.run(request).await
}

/// Whether a request for something unknown comes from a program rather than a browser.
fn is_program(request: &Request) -> bool {
    let is_known =
        is_page(request.uri().path()) || request.uri().path().starts_with(assets::FOLDER);
    let accept = request.headers().get_all(ACCEPT).iter();
    let mut accept = accept.filter_map(|value| value.to_str().ok());
    !is_known && !accept.any(|value| value.contains("text/html"))
}

/// Whether an address belongs to the page.
fn is_page(path: &str) -> bool {
    let first = path.split('/').nth(1).unwrap_or_default();
    first.is_empty() || crate::pages::FIRST_SEGMENTS.contains(&first)
}

/// Whether a page of this server sent the request.
fn is_same_origin(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text("sec-fetch-site") {
        return site == "same-origin";
    }
    let (Some(origin), Some(host)) = (text(ORIGIN.as_str()), text(HOST.as_str())) else {
        return false;
    };
    let authority = origin.split_once("://").map(|(_, authority)| authority);
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}

fn is_signed_in(web: &Web, request: &Request) -> bool {
    let (uri, headers) = (request.uri(), request.headers());
    let Some(expected) = session(web) else {
        return true;
    };
    let name = cookie_name(headers);
    let cookies = headers.get_all(COOKIE).iter();
    let mut cookies = cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='));
    // Digests are compared, so that the time of the comparison tells nothing of the cookie.
    let is_session = |value: &str| Digest::of(value.as_bytes()) == Digest::of(expected.as_bytes());
    cookies.any(|(given, value)| given == name && is_session(value))
        || web.options.access.check(uri, headers).is_ok()
}

/// The value of the cookie: it shows that the browser had the token, and is not the token.
fn session(web: &Web) -> Option<String> {
    let token = web.options.access.token.as_deref()?;
    let digest = Digest::of(format!("a session of the page\n{token}").as_bytes());
    Some(digest.to_string().replace(':', "-"))
}

/// Cookies do not distinguish ports, so the name does: two servers on one machine have two.
fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let port = host.and_then(|host| host.rsplit_once(':')?.1.parse::<u16>().ok());
    format!("skills_session_{}", port.unwrap_or(80))
}

/// The header that signs a browser in.
pub fn signed_in_cookie(web: &Web, headers: &HeaderMap) -> String {
    let (name, value) = (cookie_name(headers), session(web).unwrap_or_default());
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000")
}

/// The header that signs a browser out.
pub fn signed_out_cookie(headers: &HeaderMap) -> String {
    let name = cookie_name(headers);
    format!("{name}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[track_caller]
    fn check(given: &[(&'static str, &'static str)], expected: bool) {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_static("localhost:1"));
        for (name, value) in given {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        assert_eq!(is_same_origin(&headers), expected, "for {given:?}");
    }

    #[test]
    fn only_pages_of_this_server_may_write() {
        check(&[("sec-fetch-site", "same-origin")], true);
        check(&[("sec-fetch-site", "same-site")], false);
        check(&[("sec-fetch-site", "cross-site")], false);
        check(&[("sec-fetch-site", "none")], false);
        check(&[("origin", "http://localhost:1")], true);
        check(&[("origin", "https://LOCALHOST:1")], true);
        check(&[("origin", "http://localhost:2")], false);
        check(&[("origin", "null")], false);
        check(&[("origin", "localhost:1")], false);
        check(&[], false);
    }
}
