//! `skills diff`: what changed between two versions of a skill.

use std::fmt::Write;
use std::time::Duration;

use clap::Args;
use console::Style;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use skills_api::difference::{CONTEXT, compare};
use skills_core::{SkillId, VersionRef, escape_control_in_lines};

use super::connection::{Connection, open};
use super::history::{self, SkillHistory};
use super::options::Options;
use super::output::Text;
use super::{CliError, read};

/// Show what changed between two versions of a skill.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct DiffArgs {
    /// The id of the skill.
    id: String,

    /// The older version: a number, or the beginning of a digest. By default the one before the
    /// last.
    a: Option<String>,

    /// The newer version. By default the last one.
    b: Option<String>,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills diff resend/email             what the last change changed
  skills diff resend/email 1           all changes since version 1
  skills diff resend/email 1 3
  skills diff resend/email > email.patch

On a terminal the changed words are coloured; in a pipe it is a unified diff.";

/// How long a diff may take before it gets coarser.
const TIME_LIMIT: Duration = Duration::from_secs(2);

#[derive(Serialize)]
struct Comparison {
    id: String,
    /// The addresses of the two versions.
    from: String,
    to: String,
    /// A unified diff; empty if the texts are the same.
    diff: String,
}

pub fn run(args: &DiffArgs) -> Result<(), CliError> {
    let id = skills_core::written_id(&args.id)?;
    let version = |text: &Option<String>| text.as_deref().map(str::parse::<VersionRef>).transpose();
    let (a, b) = (version(&args.a)?, version(&args.b)?);
    open(&args.options, async |connection| {
        let (a, b) = match (a, b) {
            (Some(a), Some(b)) => (a, b),
            (a, _) => {
                let history = history::read(connection, id.as_str()).await?;
                default_versions(&history, a)?
            }
        };
        let (from, old) = text_of(connection, &id, &a).await?;
        let (to, new) = text_of(connection, &id, &b).await?;
        let diff = compare(&old, &new, TIME_LIMIT);
        let unified = diff
            .unified_diff()
            .context_radius(CONTEXT)
            .header(&from, &to)
            .to_string();
        let result = Comparison {
            id: id.to_string(),
            from: from.clone(),
            to: to.clone(),
            diff: unified,
        };
        let output = &connection.output;
        output.data("diff", &result, |output| {
            if output.is_styled() && !result.diff.is_empty() {
                Text::Ready(coloured(&diff, &from, &to))
            } else {
                Text::Plain(result.diff.clone())
            }
        })?;
        if result.diff.is_empty() {
            output.remark(&format!("{from} and {to} have the same text"));
        }
        Ok(())
    })
}

/// The versions to compare if they are not both given: the last with a text, and the one before.
fn default_versions(
    history: &SkillHistory,
    older: Option<VersionRef>,
) -> Result<(VersionRef, VersionRef), CliError> {
    let mut with_text = history.versions.iter().filter(|one| one.digest.is_some());
    let mut next = || with_text.next().map(|one| VersionRef::Number(one.version));
    match (next(), older.or_else(next)) {
        (Some(newer), Some(older)) => Ok((older, newer)),
        _ => Err(CliError::invalid(
            format!("skill `{}` has only one version with a text", history.id),
            "`skills history` lists the versions",
        )),
    }
}

/// The address of a version, and its text.
async fn text_of(
    connection: &Connection,
    id: &SkillId,
    version: &VersionRef,
) -> Result<(String, String), CliError> {
    let uri = format!("iii://{id}@{version}");
    let content = read::content(connection, &uri).await?;
    Ok((uri, content.text()?))
}

/// The diff with colours, and the changed words of a line in bold.
fn coloured(diff: &TextDiff<'_, '_, str>, from: &str, to: &str) -> String {
    let style = || Style::new().force_styling(true);
    let mut out = format!(
        "{}\n{}\n",
        style().red().bold().apply_to(format!("--- {from}")),
        style().green().bold().apply_to(format!("+++ {to}"))
    );
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{}", style().cyan().apply_to(hunk.header()));
        for op in hunk.ops() {
            for change in diff.iter_inline_changes(op) {
                let (sign, plain) = match change.tag() {
                    ChangeTag::Delete => ("-", style().red()),
                    ChangeTag::Insert => ("+", style().green()),
                    ChangeTag::Equal => (" ", style()),
                };
                let _ = write!(out, "{}", plain.apply_to(sign));
                for (is_changed, words) in change.iter_strings_lossy() {
                    let words = escape_control_in_lines(words.trim_end_matches('\n'));
                    let style = if is_changed {
                        plain.clone().bold().reverse()
                    } else {
                        plain.clone()
                    };
                    let _ = write!(out, "{}", style.apply_to(words));
                }
                out.push('\n');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changed_words_of_a_line_stand_out() {
        let (old, new) = ("# A\n\nsend mail today\n", "# A\n\nsend \u{1b}mail now\n");
        let diff = TextDiff::from_lines(old, new);
        let text = coloured(&diff, "a", "b");
        let plain = console::strip_ansi_codes(&text).into_owned();
        let expected =
            "--- a\n+++ b\n@@ -1,3 +1,3 @@\n # A\n \n-send mail today\n+send \\u{1b}mail now\n";
        assert_eq!(plain, expected);
        // Bold and reversed.
        assert!(
            text.contains("\u{1b}[31m\u{1b}[1m\u{1b}[7mtoday"),
            "{text:?}"
        );
        assert!(
            !text.contains("\u{1b}mail"),
            "control characters are escaped"
        );
    }
}
