//! `/sign-in`: the token, once, for a cookie.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::Response;
use maud::{DOCTYPE, html};

use crate::Web;
use crate::access::{signed_in_cookie, signed_out_cookie};
use crate::fields::Fields;
use crate::layout::head;
use crate::response::{html as page, see_other};

/// Where the form is.
pub const PATH: &str = "/sign-in";

/// The form.
pub async fn show(State(web): State<Arc<Web>>, uri: Uri) -> Response {
    let fields = Fields::of_query(&uri);
    ask(&web, StatusCode::OK, fields.text("next"), None)
}

/// Checks the token.
pub async fn sign_in(
    State(web): State<Arc<Web>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Response> {
    let fields = Fields::of_form(&web.forms, body).await?;
    let next = inside(fields.text("next"));
    if !web.options.access.is_token(fields.text("token").trim()) {
        let problem = "This is not the token of this server.";
        return Ok(ask(&web, StatusCode::UNAUTHORIZED, next, Some(problem)));
    }
    Ok(with_cookie(
        see_other(next),
        &signed_in_cookie(&web, &headers),
    ))
}

/// Forgets the cookie.
pub async fn sign_out(headers: HeaderMap) -> Response {
    with_cookie(see_other("/"), &signed_out_cookie(&headers))
}

fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// The form instead of a page, which `next` names.
pub fn ask(web: &Web, status: StatusCode, next: &str, problem: Option<&str>) -> Response {
    let is_needed = web.options.access.token.is_some();
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            (head("Sign in"))
            body.sign-in {
                main #main {
                    h1 { "Sign in" }
                    @if is_needed {
                        p { "This server requires its token: the value of " code { "--token" } " or " code { "SKILLS_TOKEN" } " that it was started with." }
                    } @else {
                        p { "This server has no token: " a href="/" { "go to the skills" } "." }
                    }
                    @if let Some(problem) = problem {
                        p.problem role="alert" #problem { (problem) }
                    }
                    form method="post" action=(PATH) {
                        input type="hidden" name="next" value=(inside(next));
                        label for="token" { "Token" }
                        input #token type="password" name="token" required autofocus
                            autocomplete="current-password"
                            aria-describedby=[problem.map(|_| "problem")];
                        button type="submit" { "Sign in" }
                    }
                }
            }
        }
    };
    page(status, markup)
}

/// An address of this server, or else the first page.
fn inside(next: &str) -> &str {
    let mut bytes = next.bytes();
    let is_path = bytes.next() == Some(b'/') && !matches!(bytes.next(), Some(b'/' | b'\\'));
    let is_plain = next.bytes().all(|b| b.is_ascii_graphic());
    if is_path && is_plain { next } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_one_of_this_server() {
        for next in ["/", "/skills/a?view=source"] {
            assert_eq!(inside(next), next);
        }
        for next in [
            "",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "/a\r\nb",
            "x",
        ] {
            assert_eq!(inside(next), "/", "for {next:?}");
        }
    }
}
