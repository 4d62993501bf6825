//! Reading several addresses into one text.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::join_all;

use super::Registry;
use super::indexing::let_others_run;
use crate::cut::{Cuttable, WholeText, heading};
use crate::escape::quote;
use crate::index::TOKEN_BYTES;
use crate::limits::FETCH_MAX;
use crate::text_part::find_heading;
use crate::{Error, ResourceUri, TextPart};

/// Bytes of a text whose headings take a good part of a millisecond to read.
const LONG_TEXT: usize = 16 * 1024;

const SEPARATOR: &str = "\n\n---\n\n";

/// How much to return, and what to do with an address that cannot be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct FetchOptions {
    /// The longest text, in tokens of 4 bytes. Longer documents are cut at headings.
    pub max_tokens: Option<usize>,
    /// Whether an address that cannot be read is an entry with its error. Without it, one fails
    /// the call: an incomplete text would be mistaken for a complete one.
    pub partial: bool,
}

/// What one address has, or why it could not be read.
type Fetched = (String, Result<FetchedText, Error>);

struct FetchedText {
    uri: ResourceUri,
    whole_uri: ResourceUri,
    whole: Arc<WholeText>,
    range: Range<usize>,
}

impl Registry {
    /// Reads all addresses concurrently and joins the texts in the order of the addresses. A
    /// list takes precedence over the single address. If no address can be read, it fails.
    pub async fn fetch(
        &self,
        uri: Option<&str>,
        uris: Option<&[String]>,
        options: FetchOptions,
    ) -> Result<String, Error> {
        if options.max_tokens == Some(0) {
            let hint = "leave it out to get everything";
            return Err(Error::invalid_hint(
                "max_tokens",
                "must be at least 1",
                hint,
            ));
        }
        let addresses = addresses(uri, uris)?;
        let is_bad = |address: &Address| address.1.is_err();
        let all_bad = addresses.iter().all(is_bad);
        let fetched = if all_bad || (!options.partial && addresses.iter().any(is_bad)) {
            let fetched = addresses.into_iter();
            let unread = fetched.filter_map(|(name, uri)| Some((name, uri.err()?)));
            return Err(Error::Unread(unread.collect()));
        } else {
            let texts = WholeTexts::default();
            let fetched = addresses.into_iter();
            join_all(fetched.map(|address| self.fetch_one(address, &texts))).await
        };
        let failed = fetched.iter().filter(|(_, text)| text.is_err()).count();
        if failed == fetched.len() || (failed > 0 && !options.partial) {
            let fetched = fetched.into_iter();
            let unread = fetched.filter_map(|(name, text)| Some((name, text.err()?)));
            return Err(Error::Unread(unread.collect()));
        }
        let budget = options
            .max_tokens
            .map(|tokens| tokens.saturating_mul(TOKEN_BYTES));
        let joined = join(&fetched, budget.unwrap_or(usize::MAX));
        for at in joined.delivered {
            if let (_, Ok(text)) = &fetched[at] {
                self.count_fetched(&text.uri);
            }
        }
        Ok(joined.text)
    }

    async fn fetch_one(&self, (name, uri): Address, texts: &WholeTexts) -> Fetched {
        let text = async {
            let uri = uri?;
            // The section is cut from the whole text, whose headings lead to the rest.
            let whole_uri = match &uri {
                ResourceUri::Part {
                    of,
                    part: TextPart::Heading(_),
                } => (**of).clone(),
                _ => uri.clone(),
            };
            // A use is counted when the text is delivered, which may not happen.
            let (from, content) = self.read_from(&whole_uri).await?;
            self.reads.add(from);
            let whole = texts.shared(&whole_uri, content.text()?);
            let range = match &uri {
                ResourceUri::Part {
                    of,
                    part: TextPart::Heading(slug),
                } => {
                    let section = find_heading(of, slug, whole.outline())?.section.clone();
                    if whole.text.len() >= LONG_TEXT {
                        let_others_run().await;
                    }
                    section
                }
                _ => 0..whole.text.len(),
            };
            Ok(FetchedText {
                uri,
                whole_uri,
                whole,
                range,
            })
        };
        (name, text.await)
    }
}

/// The texts of a call by address, so that the headings of one are read once for all its sections.
#[derive(Default)]
struct WholeTexts(Mutex<HashMap<ResourceUri, Arc<WholeText>>>);

impl WholeTexts {
    fn shared(&self, uri: &ResourceUri, text: &Arc<str>) -> Arc<WholeText> {
        let mut texts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match texts.get(uri) {
            // It may have changed between two reads.
            Some(known) if known.text == *text => Arc::clone(known),
            _ => {
                let whole = Arc::new(WholeText::new(Arc::clone(text)));
                texts.insert(uri.clone(), Arc::clone(&whole));
                whole
            }
        }
    }
}

/// The text of several addresses.
#[derive(Default)]
struct Joined {
    text: String,
    /// The places of the entries of which some text is in it.
    delivered: Vec<usize>,
}

/// The texts below headings with their addresses, in at most `budget` bytes if that is possible.
fn join(fetched: &[Fetched], budget: usize) -> Joined {
    let entries: Vec<_> = fetched
        .iter()
        .map(|(name, text)| {
            let text = text.as_ref().map(|text| Cuttable {
                uri: &text.uri,
                whole_uri: &text.whole_uri,
                whole: &text.whole,
                range: text.range.clone(),
            });
            let error = |error: &Error| {
                let kind = error.kind().name();
                format!("[not read: {kind}: {}]", error.to_text())
            };
            (heading(name), text.map_err(error))
        })
        .collect();
    let whole = |entry: &Result<Cuttable<'_>, String>| match entry {
        Ok(text) => text.text().len(),
        Err(error) => error.len(),
    };
    // No separator follows the last entry.
    let budget = budget.saturating_add(SEPARATOR.len());
    let around = |(heading, _): &(String, _)| heading.len() + SEPARATOR.len();
    let around: usize = entries.iter().map(around).sum();
    let is_cut = around + entries.iter().map(|(_, entry)| whole(entry)).sum::<usize>() > budget;
    // What every entry takes besides: its error, its text, or the note that all of it is cut.
    let least = |(_, entry): &(_, Result<Cuttable<'_>, String>)| match entry {
        Ok(text) if is_cut => text.least_bytes(),
        entry => whole(entry),
    };
    let least: Vec<usize> = entries.iter().map(least).collect();
    let mut room = budget.saturating_sub(around + least.iter().sum::<usize>());
    let mut joined = Joined::default();
    for (at, ((heading, entry), least)) in entries.iter().zip(least).enumerate() {
        if at > 0 {
            joined.text.push_str(SEPARATOR);
        }
        joined.text.push_str(heading);
        match entry {
            Ok(text) if text.text().len() <= room + least => {
                room -= text.text().len() - least;
                joined.text.push_str(text.text());
                joined.delivered.push(at);
            }
            Ok(text) => {
                let cut = text.cut(room + least);
                joined.text.push_str(&cut.text);
                if cut.shown > 0 {
                    joined.delivered.push(at);
                }
                // What follows is not more important than the rest of this text.
                room = 0;
            }
            Err(error) => joined.text.push_str(error),
        }
    }
    joined
}

/// An address as it was written or, if it is one, as it is printed; each once.
type Address = (String, Result<ResourceUri, Error>);

/// The addresses of a call, parsed, each once.
fn addresses(uri: Option<&str>, uris: Option<&[String]>) -> Result<Vec<Address>, Error> {
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
    let addresses = given
        .into_iter()
        .map(|uri| match uri.parse::<ResourceUri>() {
            Ok(address) => (address.to_string(), Ok(address)),
            Err(error) => (quote(uri), Err(error)),
        });
    Ok(addresses
        .filter(|(name, _)| seen.insert(name.clone()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: Option<&str>, uris: Option<&[&str]>, expected: &str) {
        let uris: Option<Vec<String>> = uris.map(|list| list.iter().map(|&u| u.into()).collect());
        let shown = |(name, address): Address| match address {
            Ok(_) => name,
            Err(error) => format!("- {name}: {error}"),
        };
        let got = match addresses(uri, uris.as_deref()) {
            Ok(list) => list.into_iter().map(shown).collect::<Vec<_>>().join(" "),
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
