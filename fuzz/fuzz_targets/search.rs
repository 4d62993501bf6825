//! Any text as documents, changes and requests of the search index.

#![no_main]

use libfuzzer_sys::fuzz_target;
use skills_search::{Document, Index, Request};

fuzz_target!(|text: &str| {
    let mut parts = text.split('\u{1}');
    let mut next = || parts.next().unwrap_or_default();
    let (request, title, description, trigger, body) = (next(), next(), next(), next(), next());
    let mut index = Index::default();
    let document = Document {
        group: 1,
        id: title,
        title,
        description,
        triggers: &[trigger, request],
        body,
    };
    index.insert(&document);
    index.insert(&Document { group: 2, body: request, ..document });
    // Every word with another last letter is unknown, and near to one that is not.
    let misspelled: String = request.split_inclusive(' ').map(|word| word.replacen(' ', "x ", 1)).collect();
    for text in [request, body, title, &misspelled] {
        let ranking = index.rank(&Request::new(text));
        let scores: Vec<f32> = ranking.matches.iter().map(|found| found.score).collect();
        assert!(scores.iter().all(|score| (0.0..=1.0).contains(score)), "{scores:?}");
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    }
    // The same document again is not a change.
    let before = index.rank(&Request::new(request)).matches;
    index.insert(&document);
    assert_eq!(index.rank(&Request::new(request)).matches, before);
    assert!(index.remove(1, title) && index.remove(2, title));
    assert!(index.is_empty() && index.rank(&Request::new(request)).matches.is_empty());
});
