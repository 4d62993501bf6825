//! The access policy as HTTP responses.

use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use skills_access::AccessPolicy;

/// Checks one request; the error is the response that refuses it.
pub fn check_access(
    policy: &AccessPolicy,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Box<Response>> {
    policy.check(uri, headers).map_err(|refusal| {
        let mut response = (refusal.status(), refusal.to_string()).into_response();
        if refusal.status() == StatusCode::UNAUTHORIZED {
            let realm = header::HeaderValue::from_static(r#"Bearer realm="skills""#);
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, realm);
        }
        Box::new(response)
    })
}
