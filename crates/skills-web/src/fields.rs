//! The fields of a query and of a form.

use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::Uri;
use axum::response::Response;
use skills_core::Error;

use crate::problem::Problem;

/// The most bytes of a form. A body of the largest size fits even if every byte is escaped.
const MAX_FORM_BYTES: usize = 2 * 1024 * 1024;
/// How long a form may take to arrive.
const FORM_TIMEOUT: Duration = Duration::from_secs(30);

/// Names with their values, in the order in which they were sent.
#[derive(Debug, Default)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// The fields of an address.
    pub fn of_query(uri: &Uri) -> Self {
        Self::parse(uri.query().unwrap_or_default().as_bytes())
    }

    /// The fields of a form.
    pub async fn of_form(body: Body) -> Result<Self, Response> {
        let read = tokio::time::timeout(FORM_TIMEOUT, to_bytes(body, MAX_FORM_BYTES)).await;
        let problem = match read {
            Ok(Ok(bytes)) => return Ok(Self::parse(&bytes)),
            Ok(Err(_)) => format!("is longer than {MAX_FORM_BYTES} bytes"),
            Err(_) => format!("did not arrive within {} s", FORM_TIMEOUT.as_secs()),
        };
        let hint = "go back: the browser still has what you typed";
        Err(Problem::from(Error::invalid_hint("the form", problem, hint)).into_plain())
    }

    fn parse(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// The value of a field, or an empty text.
    pub fn text(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }

    /// The value of a field, if there is one that is not empty.
    pub fn find(&self, name: &str) -> Option<&str> {
        let mut named = self.0.iter().filter(|(it, _)| it == name);
        let value = named.next().map(|(_, value)| value.as_str());
        value.filter(|value| !value.is_empty())
    }
}
