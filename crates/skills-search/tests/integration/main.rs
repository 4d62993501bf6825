//! The ranking from outside: what is found, why, in which order, and that no input breaks it.

mod any_text;
mod changes;
mod languages;
mod order;

use skills_search::{Document, Index, Request};

/// A document with a title and a description.
fn document<'a>(id: &'a str, title: &'a str, description: &'a str) -> Document<'a> {
    Document {
        id,
        title,
        description,
        ..Document::default()
    }
}

fn index(documents: &[Document<'_>]) -> Index {
    let mut index = Index::default();
    for document in documents {
        index.insert(document);
    }
    index
}

/// The ids of the matches, best first.
fn ids(index: &Index, text: &str) -> Vec<String> {
    let ranking = index.rank(&Request::new(text));
    let ids = ranking.matches.iter().map(|found| found.id.to_string());
    ids.collect()
}
