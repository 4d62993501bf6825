//! The fields of a query and of a form.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use futures_util::StreamExt;
use skills_core::Error;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::{FORM_TIMEOUT, MAX_FORM_BYTES, MAX_FORMS_BYTES};
use crate::problem::Problem;

/// Names with their values, in the order in which they were sent.
#[derive(Debug, Default)]
pub struct Fields {
    fields: Vec<(String, String)>,
    /// The part of the budget of all forms that this one uses.
    _bytes: Option<OwnedSemaphorePermit>,
}

/// The bytes that forms in progress may use.
pub struct FormBudget(Arc<Semaphore>);

impl Default for FormBudget {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(MAX_FORMS_BYTES)))
    }
}

/// The query of an address with these fields.
pub fn query<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(fields).finish()
}

impl Fields {
    /// The fields of an address.
    pub fn of_query(uri: &Uri) -> Self {
        Self::parse(uri.query().unwrap_or_default().as_bytes(), None)
    }

    /// The fields of a form.
    pub async fn of_form(budget: &FormBudget, body: Body) -> Result<Self, Response> {
        let read = tokio::time::timeout(FORM_TIMEOUT, read(budget, body)).await;
        let late = || {
            let problem = format!("did not arrive within {} s", FORM_TIMEOUT.as_secs());
            (StatusCode::REQUEST_TIMEOUT, problem)
        };
        let (status, problem) = match read.unwrap_or_else(|_| Err(late())) {
            Ok((bytes, permit)) => return Ok(Self::parse(&bytes, permit)),
            Err(refused) => refused,
        };
        let hint = "go back: the browser still has what you typed";
        let error = Error::invalid_hint("the form", problem, hint);
        let problem = Problem {
            status,
            ..error.into()
        };
        Err(problem.into_plain())
    }

    fn parse(bytes: &[u8], permit: Option<OwnedSemaphorePermit>) -> Self {
        Self {
            fields: form_urlencoded::parse(bytes).into_owned().collect(),
            _bytes: permit,
        }
    }

    /// Every field, in the order in which they were sent.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str)> {
        let fields = self.fields.iter();
        fields.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of a field, or an empty text.
    pub fn text(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }

    /// The value of a field, if there is one that is not empty.
    pub fn find(&self, name: &str) -> Option<&str> {
        let mut named = self.fields.iter().filter(|(it, _)| it == name);
        let value = named.next().map(|(_, value)| value.as_str());
        value.filter(|value| !value.is_empty())
    }

    /// The text of a field of several lines. Browsers send `\r\n` at the end of each line.
    pub fn lines(&self, name: &str) -> String {
        self.text(name).replace("\r\n", "\n").replace('\r', "\n")
    }
}

async fn read(
    budget: &FormBudget,
    body: Body,
) -> Result<(Vec<u8>, Option<OwnedSemaphorePermit>), (StatusCode, String)> {
    let (mut bytes, mut counted) = (Vec::new(), None::<OwnedSemaphorePermit>);
    let mut is_too_long = false;
    let mut chunks = body.into_data_stream();
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|error| (StatusCode::BAD_REQUEST, error.to_string()))?;
        if is_too_long || bytes.len() + chunk.len() > MAX_FORM_BYTES {
            // The rest is read and dropped: a browser that is still sending does not see a response.
            (is_too_long, bytes, counted) = (true, Vec::new(), None);
            continue;
        }
        let permit = u32::try_from(chunk.len()).ok().and_then(|bytes| {
            let budget = Arc::clone(&budget.0);
            budget.try_acquire_many_owned(bytes).ok()
        });
        let permit = permit.ok_or_else(|| {
            let problem = "cannot be read: too many large forms arrive at the same time";
            (StatusCode::SERVICE_UNAVAILABLE, problem.to_owned())
        })?;
        match &mut counted {
            Some(counted) => counted.merge(permit),
            None => counted = Some(permit),
        }
        bytes.extend_from_slice(&chunk);
    }
    if is_too_long {
        let problem = format!("is longer than {MAX_FORM_BYTES} bytes");
        return Err((StatusCode::PAYLOAD_TOO_LARGE, problem));
    }
    Ok((bytes, counted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn forms_have_a_size_and_share_a_budget() {
        let budget = FormBudget::default();
        let form = || Body::from(format!("text={}", "x".repeat(MAX_FORM_BYTES - 5)));
        let long = Body::from("x".repeat(MAX_FORM_BYTES + 1));
        let refused = Fields::of_form(&budget, long).await.unwrap_err();
        assert_eq!(refused.status(), StatusCode::PAYLOAD_TOO_LARGE);
        let mut held = Vec::new();
        for _ in 0..MAX_FORMS_BYTES / MAX_FORM_BYTES {
            held.push(Fields::of_form(&budget, form()).await.unwrap());
        }
        let refused = Fields::of_form(&budget, form()).await.unwrap_err();
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        held.pop();
        assert!(Fields::of_form(&budget, form()).await.is_ok());
    }

    #[tokio::test]
    async fn lines_end_as_in_files() {
        let form = Body::from("text=a%0D%0Ab%0Dc%0A&empty=&text=second");
        let fields = Fields::of_form(&FormBudget::default(), form).await.unwrap();
        assert_eq!(fields.lines("text"), "a\nb\nc\n");
        assert_eq!((fields.find("empty"), fields.text("absent")), (None, ""));
    }
}
