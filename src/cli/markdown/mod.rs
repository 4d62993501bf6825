//! Markdown for a terminal: blocks wrapped to its width, marks replaced by styles.

mod margin;
mod table;
mod wrap;

use console::Style;
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};
use skills_core::{escape_control, escape_control_in_lines, parsed_text};

use margin::Margins;
use table::Table;
use wrap::{LongWord, Span, columns, wrap};

/// The width where the terminal does not say its own.
const DEFAULT_WIDTH: usize = 80;

/// Renders a document with escape sequences, after escaping the document's own.
pub fn render(text: &str, width: Option<usize>) -> String {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut page = Page::new(width.unwrap_or(DEFAULT_WIDTH));
    let parsed = parsed_text(text);
    if parsed.len() < text.len() {
        return escape_control_in_lines(text).into();
    }
    for event in Parser::new_ext(parsed, options) {
        page.add(event);
    }
    page.end_text();
    page.out
}

fn plain() -> Style {
    Style::new().force_styling(true)
}

/// Headings are told apart by their styles.
fn heading(level: HeadingLevel) -> Style {
    match level {
        HeadingLevel::H1 => plain().bold().underlined(),
        HeadingLevel::H2 => plain().bold(),
        HeadingLevel::H3 => plain().underlined(),
        _ => plain().italic(),
    }
}

struct List {
    /// The number of the next item, in a numbered list.
    next: Option<u64>,
    has_items: bool,
    /// Whether there are empty lines between its items.
    is_loose: bool,
}

/// Text that is not prose: it keeps its lines.
struct Verbatim {
    text: String,
    indent: &'static str,
    style: Style,
}

/// The page so far.
struct Page {
    width: usize,
    out: String,
    margins: Margins,
    lists: Vec<List>,
    /// The styles that are open, each with those around it.
    styles: Vec<Style>,
    /// The text of the block that is open.
    spans: Vec<Span>,
    /// The targets of the links that are open, and where their texts begin.
    links: Vec<(String, usize)>,
    verbatim: Option<Verbatim>,
    table: Option<Table>,
    /// Whether the next block has an empty line before it.
    is_separate: bool,
}

impl Page {
    fn new(width: usize) -> Self {
        Self {
            width,
            out: String::new(),
            margins: Margins::default(),
            lists: Vec::new(),
            styles: Vec::new(),
            spans: Vec::new(),
            links: Vec::new(),
            verbatim: None,
            table: None,
            is_separate: false,
        }
    }

    fn add(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.verbatim {
                Some(verbatim) => verbatim.text.push_str(&text),
                None => self.text(&text),
            },
            Event::Code(code) => self.styled(&code, Style::cyan),
            Event::InlineHtml(html) => self.styled(&html, Style::dim),
            Event::Html(html) => {
                if let Some(verbatim) = &mut self.verbatim {
                    verbatim.text.push_str(&html);
                }
            }
            Event::SoftBreak => self.text(" "),
            Event::HardBreak => self.push("\n", plain()),
            Event::Rule => {
                self.end_text();
                self.start_block();
                let rule = "─".repeat(self.room());
                self.line(&plain().dim().apply_to(rule).to_string());
                self.is_separate = true;
            }
            Event::TaskListMarker(done) => self.text(if done { "[x] " } else { "[ ] " }),
            // These need options that are not enabled.
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(&text);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => {
                self.end_text();
                if let Some(list) = self.lists.last_mut() {
                    list.is_loose = true;
                }
            }
            Tag::Heading { level, .. } => {
                self.end_text();
                self.styles.push(heading(level));
            }
            Tag::BlockQuote(_) => {
                self.end_text();
                self.start_block();
                let bar = plain().dim().apply_to("│").to_string();
                self.margins.open(None, format!("{bar} "), 2);
            }
            Tag::CodeBlock(kind) => {
                let is_fenced = matches!(kind, CodeBlockKind::Fenced(_));
                let indent = if is_fenced { "  " } else { "    " };
                self.start_verbatim(indent, plain().cyan());
            }
            Tag::HtmlBlock | Tag::MetadataBlock(_) => self.start_verbatim("", plain().dim()),
            Tag::List(next) => {
                self.end_text();
                if self.lists.last().is_some_and(|around| !around.is_loose) {
                    self.is_separate = false;
                }
                self.lists.push(List {
                    next,
                    has_items: false,
                    is_loose: false,
                });
            }
            Tag::Item => self.start_item(),
            Tag::Table(alignments) => {
                self.end_text();
                self.table = Some(Table {
                    alignments,
                    rows: Vec::new(),
                });
            }
            Tag::TableHead => {
                self.start_row();
                self.open(Style::bold);
            }
            Tag::TableRow => self.start_row(),
            Tag::Emphasis => self.open(Style::italic),
            Tag::Strong => self.open(Style::bold),
            Tag::Strikethrough => self.open(Style::strikethrough),
            Tag::Link {
                link_type,
                dest_url,
                ..
            } => {
                // The text of an email address is without its scheme.
                let target = match link_type {
                    LinkType::Email => String::new(),
                    _ => dest_url.into_string(),
                };
                self.links.push((target, self.spans.len()));
                self.open(Style::underlined);
            }
            Tag::Image { dest_url, .. } => {
                self.text("image: ");
                self.links.push((dest_url.into_string(), self.spans.len()));
                self.open(Style::underlined);
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.end_text(),
            TagEnd::Heading(_) => {
                self.end_text();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => {
                self.end_text();
                self.margins.close();
                self.is_separate = true;
            }
            TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::MetadataBlock(_) => self.end_verbatim(),
            TagEnd::List(_) => {
                self.lists.pop();
                self.is_separate = true;
            }
            TagEnd::Item => {
                self.end_text();
                // An item without text.
                if self.margins.begins_item() {
                    self.line("");
                }
                self.margins.close();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.spans);
                if let Some(row) = self.table.as_mut().and_then(|it| it.rows.last_mut()) {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                let table = self.table.take().unwrap_or_default();
                self.start_block();
                for line in table.lines(self.room(), &plain().dim()) {
                    self.line(&line);
                }
                self.is_separate = true;
            }
            TagEnd::TableHead | TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => {
                self.styles.pop();
            }
            TagEnd::Link | TagEnd::Image => {
                self.styles.pop();
                if let Some((target, from)) = self.links.pop() {
                    let spans = self.spans.get(from..).unwrap_or_default();
                    let text: String = spans.iter().map(|span| span.text.as_str()).collect();
                    if !target.is_empty() && text != target {
                        self.text(" ");
                        self.push(&format!("({target})"), plain().dim());
                    }
                }
            }
            _ => {}
        }
    }

    fn start_item(&mut self) {
        self.end_text();
        let Some(list) = self.lists.last_mut() else {
            return;
        };
        if list.has_items {
            self.is_separate = list.is_loose;
        }
        list.has_items = true;
        let marker = match &mut list.next {
            Some(number) => {
                let marker = format!("{number}. ");
                *number = number.saturating_add(1);
                marker
            }
            None => "• ".to_owned(),
        };
        self.start_block();
        let width = columns(&marker);
        self.margins.open(Some(marker), " ".repeat(width), width);
    }

    fn start_row(&mut self) {
        if let Some(table) = &mut self.table {
            table.rows.push(Vec::new());
        }
    }

    /// Opens a style within those around it.
    fn open(&mut self, add: fn(Style) -> Style) {
        let style = add(self.style());
        self.styles.push(style);
    }

    fn style(&self) -> Style {
        self.styles.last().cloned().unwrap_or_else(plain)
    }

    fn text(&mut self, text: &str) {
        self.push(text, self.style());
    }

    fn styled(&mut self, text: &str, add: fn(Style) -> Style) {
        self.push(text, add(self.style()));
    }

    /// Adds text to the block. Entities may stand for control characters.
    fn push(&mut self, text: &str, style: Style) {
        let text = match text {
            "\n" => "\n".to_owned(),
            text => escape_control(text).into_owned(),
        };
        self.spans.push(Span { text, style });
    }

    /// Writes the text of the block that is open.
    fn end_text(&mut self) {
        if self.table.is_some() || self.spans.is_empty() {
            return;
        }
        let spans = std::mem::take(&mut self.spans);
        self.start_block();
        for line in wrap(&spans, self.room(), LongWord::Whole) {
            self.line(&line.text);
        }
        self.is_separate = true;
    }

    fn start_verbatim(&mut self, indent: &'static str, style: Style) {
        self.end_text();
        self.verbatim = Some(Verbatim {
            text: String::new(),
            indent,
            style,
        });
    }

    fn end_verbatim(&mut self) {
        let Some(verbatim) = self.verbatim.take() else {
            return;
        };
        self.start_block();
        for line in escape_control_in_lines(&verbatim.text).lines() {
            let line = match line {
                "" => String::new(),
                line => format!("{}{}", verbatim.indent, verbatim.style.apply_to(line)),
            };
            self.line(&line);
        }
        self.is_separate = true;
    }

    /// Writes the empty line before a block, unless the block begins an item.
    fn start_block(&mut self) {
        if self.is_separate && !self.out.is_empty() && !self.margins.begins_item() {
            self.margins.empty_line(&mut self.out);
        }
        self.is_separate = false;
    }

    /// The columns that the margins leave.
    fn room(&self) -> usize {
        self.margins.room(self.width)
    }

    fn line(&mut self, text: &str) {
        self.margins.line(&mut self.out, text);
    }
}

#[cfg(test)]
mod tests;
