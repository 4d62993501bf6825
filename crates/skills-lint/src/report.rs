//! From places to findings: severities, allow comments, lines and columns, limits.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use agent3md::locate_all;
use skills_core::{LintSettings, Severity};

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
}

impl Draft {
    /// Says what to do.
    pub fn help(&mut self, help: impl Into<String>) -> &mut Self {
        self.help = Some(help.into());
        self
    }

    /// Adds an exact correction.
    pub fn fix(&mut self, title: impl Into<String>, edits: Vec<Edit>) -> &mut Self {
        let title = title.into();
        self.fix = Some(Fix { title, edits });
        self
    }
}

/// Collects the findings of one file.
#[derive(Default)]
pub struct Sink {
    drafts: Vec<Draft>,
    /// How many findings each rule has.
    counts: HashMap<&'static str, usize>,
    /// The finding beyond the limit of its rule that was added last.
    spare: Option<Draft>,
}

impl Sink {
    /// Adds a finding. Beyond the limit of a rule findings are only counted.
    pub fn add(
        &mut self,
        rule: &'static Rule,
        bytes: Range<usize>,
        message: impl Into<String>,
    ) -> &mut Draft {
        let count = self.counts.entry(rule.code).or_default();
        *count += 1;
        let draft = Draft {
            rule,
            bytes,
            message: message.into(),
            help: None,
            fix: None,
        };
        if *count > MAX_FINDINGS_PER_RULE {
            return self.spare.insert(draft);
        }
        self.drafts.push(draft);
        let last = self.drafts.len() - 1;
        &mut self.drafts[last]
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
        let allows = Allows::read(text, &mut self);
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
            let to = if allows.silence(draft.rule, draft.bytes.start) {
                &mut findings.allowed
            } else {
                &mut findings.all
            };
            to.push(Finding {
                rule: draft.rule,
                severity,
                file: Arc::clone(shown),
                at,
                message: draft.message,
                help: draft.help,
                fix: draft.fix.filter(|_| is_exact),
            });
        }
    }

    /// Adds to the last finding of a rule how many more there are.
    fn count_the_rest(&mut self) {
        for (code, count) in &self.counts {
            let more = count.saturating_sub(MAX_FINDINGS_PER_RULE);
            let is_last = |draft: &&mut Draft| draft.rule.code == *code;
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
