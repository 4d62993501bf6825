//! Markdown as HTML. This is the only place that makes markup from content.
//!
//! Every text and every attribute goes through [`push_text`]. Raw HTML is shown as text, an
//! address is written only if [`Links`] allows it, and no picture of another server is loaded.

use std::fmt::Write as _;

use maud::{Markup, PreEscaped};
use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use skills_core::{Slugs, front_matter, parsed_text};

use crate::links::{Destination, HEADING, Links};

/// A document as HTML, without its front matter. A first heading that repeats `title` is left
/// out: the page shows it already.
pub fn render(document: &str, title: Option<&str>, links: &Links<'_>) -> Markup {
    let (_, body) = front_matter::split(document);
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS;
    let mut writer = Writer {
        out: String::with_capacity(body.len() * 2),
        links,
        slugs: Slugs::default(),
        title,
        heading: None,
        picture: None,
        closing: Vec::new(),
        alignments: Vec::new(),
        cell: 0,
        is_head: false,
    };
    let parsed = parsed_text(body);
    for event in Parser::new_ext(parsed, options) {
        writer.event(event);
    }
    if parsed.len() < body.len() {
        writer.open("<pre>");
        writer.text(body);
        writer.open("</pre>");
    }
    PreEscaped(writer.out)
}

struct Writer<'a> {
    out: String,
    links: &'a Links<'a>,
    slugs: Slugs,
    title: Option<&'a str>,
    /// Where the open heading starts in `out`, and its words.
    heading: Option<(usize, String)>,
    /// The destination and the words of the open picture.
    picture: Option<(String, String)>,
    /// How the open links end.
    closing: Vec<&'static str>,
    alignments: Vec<Alignment>,
    /// The number of the cell in its row.
    cell: usize,
    is_head: bool,
}

impl Writer<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Code(text) => {
                self.open("<code>");
                self.text(&text);
                self.open("</code>");
            }
            // Raw HTML too.
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => self.text(&text),
            Event::FootnoteReference(name) => {
                self.open("<sup>");
                self.text(&name);
                self.open("</sup>");
            }
            Event::SoftBreak => self.text("\n"),
            Event::HardBreak => self.open("<br>"),
            Event::Rule => self.open("<hr>"),
            Event::TaskListMarker(is_done) => {
                self.text(if is_done { "\u{2611} " } else { "\u{2610} " });
            }
        }
    }

    /// Writes markup, which the words of a picture do not have.
    fn open(&mut self, markup: &str) {
        if self.picture.is_none() {
            self.out.push_str(markup);
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, words)) = &mut self.picture {
            words.push_str(text);
            return;
        }
        if let Some((_, words)) = &mut self.heading {
            words.push_str(text);
        }
        push_text(&mut self.out, text);
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.open("<p>"),
            Tag::Heading { .. } => self.heading = Some((self.out.len(), String::new())),
            Tag::BlockQuote(_) => self.open("<blockquote>"),
            Tag::CodeBlock(kind) => {
                self.open("<pre tabindex=\"0\"");
                if let CodeBlockKind::Fenced(language) = &kind
                    && !language.is_empty()
                {
                    self.open(" data-language=\"");
                    push_text(&mut self.out, language);
                    self.open("\"");
                }
                self.open("><code>");
            }
            Tag::HtmlBlock => self.open("<pre class=\"raw\" tabindex=\"0\">"),
            Tag::List(None) => self.open("<ul>"),
            Tag::List(Some(first)) => {
                let _ = write!(self.out, "<ol start=\"{first}\">");
            }
            Tag::Item => self.open("<li>"),
            Tag::FootnoteDefinition(name) => {
                self.open("<div class=\"footnote\"><sup>");
                push_text(&mut self.out, &name);
                self.open("</sup>");
            }
            Tag::Table(alignments) => {
                self.alignments = alignments;
                self.open("<div class=\"table\" tabindex=\"0\"><table>");
            }
            Tag::TableHead => {
                (self.is_head, self.cell) = (true, 0);
                self.open("<thead><tr>");
            }
            Tag::TableRow => {
                self.cell = 0;
                self.open("<tr>");
            }
            Tag::TableCell => {
                let name = if self.is_head { "th" } else { "td" };
                let class = match self.alignments.get(self.cell) {
                    Some(Alignment::Right) => " class=\"right\"",
                    Some(Alignment::Center) => " class=\"center\"",
                    _ => "",
                };
                let _ = write!(self.out, "<{name}{class}>");
                self.cell += 1;
            }
            Tag::Emphasis => self.open("<em>"),
            Tag::Strong => self.open("<strong>"),
            Tag::Strikethrough => self.open("<s>"),
            Tag::Link { dest_url, .. } => {
                if self.picture.is_none() {
                    self.start_link(&dest_url);
                }
            }
            Tag::Image { dest_url, .. } => {
                if self.picture.is_none() {
                    self.picture = Some((dest_url.to_string(), String::new()));
                }
            }
            Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.open("</p>"),
            TagEnd::Heading(level) => self.end_heading(level),
            TagEnd::BlockQuote(_) => self.open("</blockquote>"),
            TagEnd::CodeBlock => self.open("</code></pre>"),
            TagEnd::HtmlBlock => self.open("</pre>"),
            TagEnd::List(false) => self.open("</ul>"),
            TagEnd::List(true) => self.open("</ol>"),
            TagEnd::Item => self.open("</li>"),
            TagEnd::FootnoteDefinition => self.open("</div>"),
            TagEnd::Table => self.open("</tbody></table></div>"),
            TagEnd::TableHead => {
                self.is_head = false;
                self.open("</tr></thead><tbody>");
            }
            TagEnd::TableRow => self.open("</tr>"),
            TagEnd::TableCell => self.open(if self.is_head { "</th>" } else { "</td>" }),
            TagEnd::Emphasis => self.open("</em>"),
            TagEnd::Strong => self.open("</strong>"),
            TagEnd::Strikethrough => self.open("</s>"),
            TagEnd::Link => {
                if self.picture.is_none()
                    && let Some(end) = self.closing.pop()
                {
                    self.out.push_str(end);
                }
            }
            TagEnd::Image => self.end_picture(),
            TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    fn end_heading(&mut self, level: HeadingLevel) {
        let Some((start, words)) = self.heading.take() else {
            return;
        };
        let slug = self.slugs.next(&words);
        let title = self.title.take();
        if level == HeadingLevel::H1 && title.is_some_and(|title| title.trim() == words.trim()) {
            self.out.truncate(start);
            return;
        }
        // The title of the page is the only `h1`.
        let level = (level as usize + 1).min(6);
        let mut opening = format!("<h{level} id=\"{HEADING}");
        push_text(&mut opening, &slug);
        opening.push_str("\">");
        self.out.insert_str(start, &opening);
        let _ = write!(self.out, "</h{level}>");
    }

    fn start_link(&mut self, address: &str) {
        let (address, class, end) = match self.links.destination(address) {
            Destination::Inside(address) | Destination::Picture(address) => (address, "", "</a>"),
            Destination::Outside(address) => (
                address,
                "\" rel=\"noopener noreferrer\" class=\"outside",
                "</a>",
            ),
            Destination::Nowhere(reason) => {
                self.out.push_str("<span class=\"dead\" title=\"");
                push_text(&mut self.out, &reason);
                self.out.push_str("\">");
                self.closing.push("</span>");
                return;
            }
        };
        self.out.push_str("<a href=\"");
        push_text(&mut self.out, &address);
        self.out.push_str(class);
        self.out.push_str("\">");
        self.closing.push(end);
    }

    fn end_picture(&mut self) {
        let Some((address, words)) = self.picture.take() else {
            return;
        };
        let out = &mut self.out;
        match self.links.destination(&address) {
            Destination::Picture(address) => {
                out.push_str("<img loading=\"lazy\" src=\"");
                push_text(out, &address);
                out.push_str("\" alt=\"");
                push_text(out, &words);
                out.push_str("\">");
            }
            _ if !self.closing.is_empty() => push_text(out, &words),
            // Pictures of other servers are not loaded: they would tell who reads the page.
            Destination::Inside(address) | Destination::Outside(address) => {
                out.push_str("<a class=\"picture\" rel=\"noopener noreferrer\" href=\"");
                push_text(out, &address);
                out.push_str("\">Picture: ");
                push_text(out, if words.is_empty() { &address } else { &words });
                out.push_str("</a>");
            }
            Destination::Nowhere(_) => {
                out.push_str("Picture: ");
                push_text(out, &words);
            }
        }
    }
}

/// Appends text in which nothing is markup, in an element or in an attribute with quotes.
fn push_text(out: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
        out.push_str(&rest[..at]);
        out.push_str(match rest.as_bytes()[at] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            b'"' => "&quot;",
            _ => "&#39;",
        });
        rest = &rest[at + 1..];
    }
    out.push_str(rest);
}
