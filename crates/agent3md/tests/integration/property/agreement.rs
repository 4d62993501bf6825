//! Our parser and an independent one agree on every text.

use agent3md::{Document, ParseError};

/// Fails if the two parsers differ on `text`.
pub fn agrees(text: &str) {
    match (Document::parse(text), threemd::parse(text)) {
        (Ok(ours), Ok(theirs)) => same_document(&ours, &theirs, text),
        (Err(ours), Err(theirs)) => {
            assert_eq!(
                ours.kind(),
                theirs.code(),
                "{ours} / {theirs}, for {text:?}"
            );
            same_line(&ours, &theirs, text);
            assert!(
                ours.at().bytes.end <= text.len(),
                "the place lies in the text"
            );
            assert!(
                text.get(ours.at().bytes.clone()).is_some(),
                "the place cuts no character"
            );
            assert!(!ours.to_string().contains('\n') && !ours.hint().is_empty());
        }
        (ours, theirs) => panic!("ours {ours:?}\ntheirs {theirs:?}\nfor {text:?}"),
    }
}

fn same_document(ours: &Document<'_>, theirs: &threemd::Document, text: &str) {
    assert_eq!(ours.version, theirs.version, "version of {text:?}");
    assert_eq!(ours.axis, theirs.axis, "axis of {text:?}");
    assert_eq!(
        ours.title.as_deref(),
        theirs.title.as_deref(),
        "title of {text:?}"
    );
    assert_eq!(
        ours.preamble.as_deref(),
        theirs.preamble.as_deref(),
        "preamble of {text:?}"
    );
    assert_eq!(
        pairs(&ours.metadata),
        theirs_pairs(&theirs.metadata),
        "metadata of {text:?}"
    );
    assert_eq!(ours.planes.len(), theirs.planes.len(), "planes of {text:?}");
    for (our, their) in ours.planes.iter().zip(&theirs.planes) {
        let numbers =
            |z: f64, x: Option<f64>, y: Option<f64>| [Some(z), x, y].map(|n| n.map(f64::to_bits));
        assert_eq!(
            numbers(our.z, our.x, our.y),
            numbers(their.z, their.x, their.y),
            "for {text:?}"
        );
        assert_eq!(
            our.label.as_deref(),
            their.label.as_deref(),
            "label in {text:?}"
        );
        assert_eq!(our.body, their.body, "body in {text:?}");
        assert_eq!(
            pairs(&our.attributes),
            theirs_pairs(&their.attributes),
            "attributes in {text:?}"
        );
        // The other parser reports no line; ours must point at the text it quotes.
        let raw = text
            .get(our.body_bytes.clone())
            .map(|raw| raw.replace("\r\n", "\n"));
        assert_eq!(raw.as_deref(), Some(&*our.body), "body place in {text:?}");
        assert_eq!(
            ours.locate(our.directive.clone()).line,
            our.line,
            "line in {text:?}"
        );
    }
}

fn same_line(ours: &ParseError, theirs: &threemd::ParseError, text: &str) {
    match theirs {
        threemd::ParseError::MissingPlanePosition { line }
        | threemd::ParseError::InvalidPlaneDirective { line, .. } => {
            assert_eq!(ours.at().line, *line, "line of {ours}, for {text:?}");
        }
        threemd::ParseError::DuplicatePlane { z } => {
            let ParseError::DuplicatePlane { z: ours, .. } = ours else {
                panic!("{ours:?}")
            };
            // Equal as numbers; the sign of a zero may differ.
            assert_eq!(
                (ours + 0.0).to_bits(),
                (z + 0.0).to_bits(),
                "z for {text:?}"
            );
        }
        _ => {}
    }
}

fn pairs<'d>(fields: &'d agent3md::Fields<'_>) -> Vec<(&'d str, &'d str)> {
    fields
        .iter()
        .map(|field| (&*field.key, &*field.value))
        .collect()
}

fn theirs_pairs(fields: &std::collections::BTreeMap<String, String>) -> Vec<(&str, &str)> {
    fields
        .iter()
        .map(|(key, value)| (key.as_str(), value.as_str()))
        .collect()
}
