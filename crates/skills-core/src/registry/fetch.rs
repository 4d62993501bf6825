//! Reading several addresses into one text.

use std::collections::HashSet;
use std::fmt::Write;

use futures_util::future::join_all;

use super::Registry;
use crate::escape::quote;
use crate::limits::FETCH_MAX;
use crate::{Error, ResourceUri};

const SEPARATOR: &str = "\n\n---\n\n";

impl Registry {
    /// Reads all addresses concurrently and joins the texts in the order of the addresses. A
    /// list takes precedence over the single address. One failed address fails the call: an
    /// incomplete text would be mistaken for a complete one.
    pub async fn fetch(&self, uri: Option<&str>, uris: Option<&[String]>) -> Result<String, Error> {
        let addresses = addresses(uri, uris)?;
        let contents = join_all(addresses.iter().map(|address| self.read(address))).await;
        let mut text = String::new();
        let mut failed = Vec::new();
        for (address, content) in addresses.iter().zip(contents) {
            match content.and_then(|content| content.text().cloned()) {
                Ok(content) => {
                    if !text.is_empty() {
                        text.push_str(SEPARATOR);
                    }
                    // Writing to a string cannot fail.
                    let _ = write!(text, "# {address}\n\n{}", content.trim_end());
                }
                Err(error) => failed.push((address.to_string(), error)),
            }
        }
        if failed.is_empty() {
            Ok(text)
        } else {
            Err(Error::Unread(failed))
        }
    }
}

/// The addresses of a call, parsed, each once.
fn addresses(uri: Option<&str>, uris: Option<&[String]>) -> Result<Vec<ResourceUri>, Error> {
    let given: Vec<&str> = match (uris, uri) {
        (Some(uris), _) if !uris.is_empty() => uris.iter().map(String::as_str).collect(),
        (_, Some(uri)) => vec![uri],
        (_, None) => Vec::new(),
    };
    if given.iter().all(|uri| uri.trim().is_empty()) {
        return Err(Error::invalid_hint(
            "Provide uri",
            "or uris: at least one address must be non-empty",
            "start with `{\"uri\": \"iii://skills\"}`",
        ));
    }
    if given.len() > FETCH_MAX {
        let problem = format!(
            "is too large: {} addresses, at most {FETCH_MAX}",
            given.len()
        );
        return Err(Error::invalid("uris", problem));
    }
    let mut seen = HashSet::new();
    let mut parsed = Vec::with_capacity(given.len());
    let mut failed = Vec::new();
    for uri in given {
        match uri.parse::<ResourceUri>() {
            Ok(address) if seen.insert(address.clone()) => parsed.push(address),
            Ok(_) => {}
            Err(error) => failed.push((quote(uri), error)),
        }
    }
    if failed.is_empty() {
        Ok(parsed)
    } else {
        Err(Error::Unread(failed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: Option<&str>, uris: Option<&[&str]>, expected: &str) {
        let uris: Option<Vec<String>> = uris.map(|list| list.iter().map(|&u| u.into()).collect());
        let got = match addresses(uri, uris.as_deref()) {
            Ok(list) => list
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" "),
            Err(error) => error.to_string(),
        };
        assert!(got.contains(expected), "{got:?} has no {expected:?}");
    }

    #[test]
    fn requests() {
        check(Some("iii://a"), None, "iii://a");
        check(Some("iii://a"), Some(&[]), "iii://a");
        check(
            Some("iii://a"),
            Some(&["iii://b", "iii://c"]),
            "iii://b iii://c",
        );
        check(
            None,
            Some(&["iii://b", " iii://b ", "iii://a"]),
            "iii://b iii://a",
        );
        check(None, None, "Provide uri");
        check(None, Some(&[]), "Provide uri");
        check(Some(" "), None, "Provide uri");
        check(None, Some(&["", "  "]), "Provide uri");
        check(None, Some(&["iii://a", ""]), "must start with `iii://`");
        check(Some("http://a"), None, "must start with `iii://`");
        check(
            None,
            Some(&["iii://a", "http://a", "iii://A"]),
            "- `http://a`: address `http://a` must start",
        );
        let many = vec!["iii://a"; FETCH_MAX + 1];
        check(None, Some(&many), "uris is too large: 257 addresses");
    }
}
