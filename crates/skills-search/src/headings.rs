//! The headings of a markdown body, by its lines alone: a parser would cost more than the index.

/// Visits the body from the start of each line on, with the length of the line, and whether it is a
/// heading. Lines of a fenced code block are no headings.
pub(crate) fn for_each_line(body: &str, mut visit: impl FnMut(&str, usize, bool)) {
    let mut fence = None;
    let mut rest = body;
    while !rest.is_empty() {
        let length = rest.find('\n').unwrap_or(rest.len());
        let text = rest[..length].trim_start_matches(' ');
        let marker = fence_marker(text);
        match (fence, marker) {
            (None, Some(opened)) => fence = Some(opened),
            (Some(opened), Some(closed)) if opened == closed => fence = None,
            _ => {}
        }
        let is_heading = fence.is_none() && marker.is_none() && is_heading(text);
        visit(rest, length, is_heading);
        rest = rest.get(length + 1..).unwrap_or_default();
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
        for_each_line(body, |rest, length, is_heading| {
            headings.extend(is_heading.then(|| rest[..length].to_owned()));
        });
        assert_eq!(headings, ["# A", "### B"]);
    }
}
