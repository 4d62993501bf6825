//! What every response of the page has: its headers, and its compression.

use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use maud::Markup;

use crate::compress;

/// Nothing inline, nothing from elsewhere.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; \
    frame-ancestors 'none'";

/// The headers of every response that does not set them itself.
static HEADERS: [(HeaderName, &str); 7] = [
    (CONTENT_SECURITY_POLICY, CONTENT_POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    // `no-referrer` would make browsers send `Origin: null` with forms.
    (REFERRER_POLICY, "same-origin"),
    (CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// A page.
pub fn html(status: StatusCode, markup: Markup) -> Response {
    let kind = HeaderValue::from_static("text/html; charset=utf-8");
    (status, [(header::CONTENT_TYPE, kind)], markup.into_string()).into_response()
}

/// A redirect after a form, which the browser follows with GET.
pub fn see_other(location: &str) -> Response {
    match HeaderValue::from_str(location) {
        Ok(location) => (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The response to an address without a page, for programs.
pub fn plain_not_found() -> Response {
    StatusCode::NOT_FOUND.into_response()
}

/// Adds the headers and compresses.
pub async fn finish(request: Request, next: Next) -> Response {
    let accepts_gzip = compress::accepts_gzip(request.headers());
    let mut response = next.run(request).await;
    for (name, value) in &HEADERS {
        let headers = response.headers_mut();
        if !headers.contains_key(name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    if accepts_gzip {
        return compress::gzip(response).await;
    }
    response
}
