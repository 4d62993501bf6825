//! Markdown for a terminal: headings and strong text bold, code dim, links underlined.
//! Everything else stays as it was written.

use std::fmt::Write;

use console::Style;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};
use skills_core::escape_control_in_lines;

/// Renders a document with escape sequences, after escaping the document's own.
pub fn render(text: &str) -> String {
    let source = &escape_control_in_lines(text);
    let mut out = Renderer::new(source);
    let options = Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { .. }) => {
                let heading = &source[range.clone()];
                let title = heading.trim_start_matches('#');
                // An underlined heading has no marks, and its text may begin with `#`.
                let marks = match title.strip_prefix([' ', '\t']) {
                    Some(title) => heading.len() - title.trim_start().len(),
                    None => 0,
                };
                out.open(range.start, marks, Style::bold);
            }
            Event::Start(Tag::Strong) => out.open(range.start, 2, Style::bold),
            Event::Start(Tag::Link {
                link_type: LinkType::Inline,
                ..
            }) => out.open(range.start, 1, Style::underlined),
            Event::Start(Tag::CodeBlock(_)) => {
                out.open(range.start, 0, Style::dim);
                out.copy_to(range.end);
                out.close(range.end);
            }
            Event::End(TagEnd::Heading(_)) => {
                out.copy_to(range.end);
                out.close(range.end);
            }
            Event::End(TagEnd::Strong) => out.close(range.end),
            Event::End(TagEnd::Link) if source[out.position..range.end].starts_with("](") => {
                let target = &source[out.position + 1..range.end];
                out.close(range.end);
                out.push(" ", &plain());
                out.push(target, &plain().dim());
            }
            Event::Code(code) => {
                out.copy_to(range.start);
                // Code in a heading or a link looks like the rest of it.
                let style = out.styles.last().cloned();
                let style = style.unwrap_or_else(|| plain().dim());
                out.push(&code, &style);
                out.position = range.end;
            }
            Event::Start(_) => {}
            _ => out.copy_to(range.end),
        }
    }
    out.finish()
}

fn plain() -> Style {
    Style::new().force_styling(true)
}

/// Copies the source, styles some of it, and leaves out the marks that styles replace.
struct Renderer<'a> {
    source: &'a str,
    /// The end of what was copied or left out.
    position: usize,
    /// The styles that are open, each with those around it.
    styles: Vec<Style>,
    text: String,
}

impl<'a> Renderer<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            source,
            position: 0,
            styles: Vec::new(),
            text: String::with_capacity(source.len() + source.len() / 8),
        }
    }

    /// Opens a style at `start`, leaving out so many bytes of marks.
    fn open(&mut self, start: usize, marks: usize, add: fn(Style) -> Style) {
        self.copy_to(start);
        self.position = start + marks;
        let around = self.styles.last().cloned();
        self.styles.push(add(around.unwrap_or_else(plain)));
    }

    /// Closes the innermost style at `end`, leaving out what was not copied.
    fn close(&mut self, end: usize) {
        self.styles.pop();
        self.position = end;
    }

    fn copy_to(&mut self, end: usize) {
        if end > self.position {
            let style = self.styles.last().cloned().unwrap_or_default();
            self.push(&self.source[self.position..end], &style);
            self.position = end;
        }
    }

    /// Appends text, each line with a style of its own: pagers cut at lines.
    fn push(&mut self, text: &str, style: &Style) {
        for line in text.split_inclusive('\n') {
            let content = line.trim_end_matches('\n');
            if !content.is_empty() {
                // Writing to a string cannot fail.
                let _ = write!(self.text, "{}", style.apply_to(content));
            }
            self.text.push_str(&line[content.len()..]);
        }
    }

    fn finish(mut self) -> String {
        self.copy_to(self.source.len());
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown = render(text);
        let shown = shown.replace("\x1b[1m", "<b>").replace("\x1b[2m", "<d>");
        let shown = shown.replace("\x1b[4m", "<u>").replace("\x1b[0m", "</>");
        assert_eq!(shown, expected, "for {text:?}");
    }

    #[test]
    fn emphasis() {
        check("# Title #x", "<b>Title #x</>\n");
        check("#\tUse `x`\n\ny", "<b>Use </><b>x</>\n\ny\n");
        check("#title\n===\n", "<b>#title</>\n<b>===</>\n");
        check("####### no", "####### no\n");
        check("#no", "#no\n");
        check("a `b` c", "a <d>b</> c\n");
        check("``a`b`` c", "<d>a`b</> c\n");
        check("**a** b", "<b>a</> b\n");
        check("**a *b***", "<b>a </><b>*b</><b>*</>\n");
        check("[a](iii://b) c", "<u>a</> <d>(iii://b)</> c\n");
        check("- [`a`](iii://a) — A", "- <u>a</> <d>(iii://a)</> — A\n");
        check(
            "> [a *b*](c)\n> d",
            "> <u>a </><u>*b</><u>*</> <d>(c)</>\n> d\n",
        );
        check(
            "```sh\n# no `x`\n```\n# yes",
            "<d>```sh</>\n<d># no `x`</>\n<d>```</>\n<b>yes</>\n",
        );
        check("---\na: b\n---\n# c\n", "---\na: b\n---\n<b>c</>\n");
        check("", "");
    }

    #[test]
    fn text_that_only_resembles_markup_is_unchanged() {
        check("a ` b", "a ` b\n");
        check("[a](b", "[a](b\n");
        check("[a] (b)", "[a] (b)\n");
        check("[a][b]\n\n[b]: c\n", "[a][b]\n\n[b]: c\n");
        check("<https://a.b>", "<https://a.b>\n");
        check("* é ** ``", "* é ** ``\n");
        check("a \\* b &amp; c", "a \\* b &amp; c\n");
        check("```\nx", "<d>```</>\n<d>x</>\n");
    }

    /// A renderer that looks for the end of each mark anew needs minutes for these.
    #[test]
    fn marks_without_end_are_rendered_in_one_pass() {
        for mark in [
            "[", "[a](", "![", "`", "``a", "*", "**a", "_", "<", "&", "\\", "> [", "[`*_",
        ] {
            let text = mark.repeat(262_144 / mark.len());
            let shown = console::strip_ansi_codes(&render(&text)).len();
            assert!(shown > text.len() / 4, "for {mark:?}: {shown}");
        }
        check(&"[".repeat(262_144), &("[".repeat(262_144) + "\n"));
    }

    #[test]
    fn a_document_cannot_move_the_cursor() {
        check("a\x1b[2J", "a\\u{1b}[2J\n");
    }
}
