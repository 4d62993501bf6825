//! What all pages have in common: head, navigation, search field, footer.

use axum::http::StatusCode;
use axum::response::Response;
use maud::{DOCTYPE, Markup, html};

use crate::assets::{ICON, SCRIPT, STYLE};
use crate::{Web, response};

/// The part of the navigation that a page belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// No part.
    None,
    /// The tree, and everything below `/skills/`.
    Skills,
    /// The form for a new skill.
    New,
    /// `/prompts`.
    Prompts,
    /// `/functions`.
    Functions,
    /// `/route`.
    Route,
    /// `/health`.
    Health,
    /// `/connect`.
    Connect,
}

/// The navigation: name, address, section.
const NAVIGATION: &[(&str, &str, Section)] = &[
    ("Skills", "/", Section::Skills),
    ("Prompts", "/prompts", Section::Prompts),
    ("Functions", "/functions", Section::Functions),
    ("Route", "/route", Section::Route),
    ("Health", "/health", Section::Health),
    ("Connect", "/connect", Section::Connect),
    ("New", "/new", Section::New),
];

/// The most characters of the search field: longer texts are for `/route`.
const SEARCH_LENGTH: usize = 1_000;

/// One page.
pub struct Page<'a> {
    /// The title of the window, without the name of the program.
    title: &'a str,
    section: Section,
    main: Markup,
    /// What is beside the text: the tree.
    aside: Option<Markup>,
    /// Whether a change elsewhere replaces what is shown.
    is_live: bool,
    /// Whether it also changes with time.
    is_timely: bool,
    /// What is in the search field.
    searched: &'a str,
}

impl<'a> Page<'a> {
    /// A page that shows `main`.
    pub fn new(title: &'a str, section: Section, main: Markup) -> Self {
        Self {
            title,
            section,
            main,
            aside: None,
            is_live: false,
            is_timely: false,
            searched: "",
        }
    }

    /// The same with a text in the search field.
    pub fn searched(mut self, text: &'a str) -> Self {
        self.searched = text;
        self
    }

    /// The same with something beside the text.
    pub fn beside(mut self, aside: Markup) -> Self {
        self.aside = Some(aside);
        self
    }

    /// The same, shown again when something changes.
    pub fn live(mut self) -> Self {
        self.is_live = true;
        self
    }

    /// The same, also shown again every now and then.
    pub fn timely(mut self) -> Self {
        (self.is_live, self.is_timely) = (true, true);
        self
    }

    /// The response.
    pub fn respond(self, web: &Web, status: StatusCode) -> Response {
        response::html(status, self.render(web))
    }

    fn render(self, web: &Web) -> Markup {
        let class = self.aside.as_ref().map(|_| "beside");
        html! {
            (DOCTYPE)
            html lang="en" {
                (head(self.title))
                body data-live=[self.is_live.then(|| web.events().shown_version())] data-timely[self.is_timely] {
                    a.skip href="#main" { "Skip to the content" }
                    header.top {
                        a.brand href="/" { "skills" }
                        nav aria-label="Pages" {
                            ul {
                                @for (name, address, section) in NAVIGATION {
                                    li {
                                        a href=(address)
                                            aria-current=[(*section == self.section).then_some("page")]
                                            { (name) }
                                    }
                                }
                            }
                        }
                        (search_field(self.searched))
                    }
                    div.columns.(class.unwrap_or("single")) {
                        main #main tabindex="-1" { (self.main) }
                        @if let Some(aside) = self.aside {
                            aside aria-label="All skills" { (aside) }
                        }
                    }
                    (footer(web))
                }
            }
        }
    }
}

/// The search field. The script shows results below it while a text is typed.
fn search_field(text: &str) -> Markup {
    html! {
        form.search role="search" action="/search" {
            label.unseen for="q" { "Search skills and prompts" }
            input #q type="search" name="q" value=(text) placeholder="Search" autocomplete="off"
                maxlength=(SEARCH_LENGTH) data-results="/search/results";
            div.found hidden {}
            p.unseen role="status" {}
        }
    }
}

/// The head of a document.
pub fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) " \u{b7} skills" }
            link rel="icon" href=(ICON.address()) type="image/svg+xml";
            link rel="stylesheet" href=(STYLE.address());
            script type="module" src=(SCRIPT.address()) {}
        }
    }
}

fn footer(web: &Web) -> Markup {
    html! {
        footer {
            span { "skills " (web.options.version) }
            @if web.options.access.token.is_some() {
                form method="post" action="/sign-out" {
                    button.link type="submit" { "Sign out" }
                }
            }
        }
    }
}
