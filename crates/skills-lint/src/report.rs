//! From places to findings: severities, allow comments, lines and columns, limits.

use std::ops::Range;
use std::sync::Arc;

use agent3md::locate_all;
use skills_core::{LintSettings, Severity, escape_control};

use crate::allow::Allows;
use crate::finding::{Edit, Finding, Findings, Fix};
use crate::limits::MAX_FINDINGS_PER_RULE;
use crate::rule::Rule;

/// A finding whose line and column are not counted yet.
pub struct Draft {
    rule: &'static Rule,
    bytes: Range<usize>,
    message: String,
    help: Option<String>,
    fix: Option<Fix>,
    is_allowed: bool,
    /// Whether it is reported, and not only counted.
    is_kept: bool,
}

impl Draft {
    /// Whether it is reported, and not only counted: then a fix is worth its search.
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Says what to do.
    pub fn help(&mut self, help: impl Into<String>) -> &mut Self {
        if self.is_kept {
            self.help = Some(help.into());
        }
        self
    }

    /// Adds an exact correction.
    pub fn fix(&mut self, title: impl Into<String>, edits: Vec<Edit>) -> &mut Self {
        if self.is_kept {
            let title = title.into();
            self.fix = Some(Fix { title, edits });
        }
        self
    }
}

/// The text of a message: a text, or a function that is called only if the finding is reported.
pub trait Message {
    fn text(self) -> String;
}

impl Message for &str {
    fn text(self) -> String {
        self.to_owned()
    }
}

impl Message for String {
    fn text(self) -> String {
        self
    }
}

impl<F: FnOnce() -> String> Message for F {
    fn text(self) -> String {
        self()
    }
}

/// How many findings of a rule there are, those that an allow comment silences apart: they must
/// not use up the limit of the others.
struct Count {
    rule: &'static Rule,
    is_allowed: bool,
    findings: usize,
}

/// Collects the findings of one file.
pub struct Sink {
    allows: Allows,
    drafts: Vec<Draft>,
    counts: Vec<Count>,
    /// The finding beyond the limit of its rule that was added last.
    spare: Option<Draft>,
}

impl Sink {
    /// For the findings of a file with this text, whose allow comments are read first.
    pub fn new(text: &str) -> Self {
        let mut sink = Self {
            allows: Allows::default(),
            drafts: Vec::new(),
            counts: Vec::new(),
            spare: None,
        };
        sink.allows = Allows::read(text, &mut sink);
        sink
    }

    /// Adds a finding. Beyond the limit of a rule findings are only counted.
    pub fn add(
        &mut self,
        rule: &'static Rule,
        bytes: Range<usize>,
        message: impl Message,
    ) -> &mut Draft {
        let is_allowed = self.allows.silence(rule, bytes.start);
        let is_kept = self.count(rule, is_allowed) <= MAX_FINDINGS_PER_RULE;
        let draft = Draft {
            rule,
            bytes,
            message: if is_kept {
                message.text()
            } else {
                String::new()
            },
            help: None,
            fix: None,
            is_allowed,
            is_kept,
        };
        if !is_kept {
            return self.spare.insert(draft);
        }
        self.drafts.push(draft);
        let last = self.drafts.len() - 1;
        &mut self.drafts[last]
    }

    /// Counts one more finding and returns how many there are.
    fn count(&mut self, rule: &'static Rule, is_allowed: bool) -> usize {
        let is_same = |count: &Count| count.rule == rule && count.is_allowed == is_allowed;
        let at = self.counts.iter().position(is_same).unwrap_or_else(|| {
            self.counts.push(Count {
                rule,
                is_allowed,
                findings: 0,
            });
            self.counts.len() - 1
        });
        self.counts[at].findings += 1;
        self.counts[at].findings
    }

    /// The findings of a file with this text. Edits are left out unless the text is exactly that
    /// of the file.
    pub fn finish(
        mut self,
        (shown, text): (&Arc<str>, &str),
        is_exact: bool,
        settings: &LintSettings,
        findings: &mut Findings,
    ) {
        self.count_the_rest();
        let ranges: Vec<_> = self
            .drafts
            .iter()
            .map(|draft| draft.bytes.clone())
            .collect();
        let spans = locate_all(text, &ranges);
        let mut located: Vec<_> = self.drafts.into_iter().zip(spans).collect();
        located.sort_by(|(a, _), (b, _)| {
            (a.bytes.start, a.rule.code).cmp(&(b.bytes.start, b.rule.code))
        });
        for (draft, at) in located {
            let Some(severity) = severity(draft.rule, settings) else {
                continue;
            };
            let to = if draft.is_allowed {
                &mut findings.allowed
            } else {
                &mut findings.all
            };
            to.push(Finding {
                rule: draft.rule,
                severity,
                file: Arc::clone(shown),
                at,
                // A message quotes the text, which may hold any character.
                message: escape_control(&draft.message).into_owned(),
                help: draft.help,
                fix: draft.fix.filter(|_| is_exact),
            });
        }
    }

    /// Adds to the last finding of a rule how many more there are.
    fn count_the_rest(&mut self) {
        for Count {
            rule,
            is_allowed,
            findings,
        } in &self.counts
        {
            let more = findings.saturating_sub(MAX_FINDINGS_PER_RULE);
            let is_last =
                |draft: &&mut Draft| draft.rule == *rule && draft.is_allowed == *is_allowed;
            if let Some(last) = self.drafts.iter_mut().rev().find(is_last)
                && more > 0
            {
                last.message = format!("{}; and {more} more in this file", last.message);
            }
        }
    }
}

/// The severity of a rule; `None` if it is turned off.
pub fn severity(rule: &Rule, settings: &LintSettings) -> Option<Severity> {
    let configured = settings.severities.get(rule.code);
    configured.copied().unwrap_or(Some(rule.severity))
}
