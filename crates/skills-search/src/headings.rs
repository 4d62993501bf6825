//! The headings of a markdown body, by its lines alone: a parser would cost more than the index.

/// Visits the text of each line of a body, and whether it is a heading. Lines of a fenced code block
/// are no headings.
pub(crate) fn for_each_line(body: &str, mut visit: impl FnMut(&str, bool)) {
    let mut fence = None;
    for line in body.lines() {
        let text = line.trim_start_matches(' ');
        let marker = fence_marker(text);
        match (fence, marker) {
            (None, Some(opened)) => fence = Some(opened),
            (Some(opened), Some(closed)) if opened == closed => fence = None,
            _ => {}
        }
        let is_heading = fence.is_none() && marker.is_none() && is_heading(text);
        visit(line, is_heading);
    }
}

fn fence_marker(line: &str) -> Option<u8> {
    let marked = line.starts_with("```") || line.starts_with("~~~");
    marked.then(|| line.as_bytes()[0])
}

fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    (1..=6).contains(&level) && text.starts_with([' ', '\t'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_outside_of_code() {
        let body = "# A\ntext\n```sh\n# no\n~~~\n```\n### B\n#tag\n####### no";
        let mut headings = Vec::new();
        for_each_line(body, |line, is_heading| {
            headings.extend(is_heading.then(|| line.to_owned()));
        });
        assert_eq!(headings, ["# A", "### B"]);
    }
}
