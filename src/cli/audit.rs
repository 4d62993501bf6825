//! `skills log`: who changed what and when.

use std::time::Duration;

use clap::Args;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::json;
use skills_api::log::LOG;
use skills_core::PromptName;

use super::CliError;
use super::connection::open;
use super::history::VersionEntry;
use super::humanize::count;
use super::options::{Options, parse_duration};
use super::table::lay_out;

/// List who changed which skills and prompts and when, newest first.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct LogArgs {
    /// Only the changes of this skill.
    id: Option<String>,

    /// Only the changes of this prompt.
    #[arg(long, value_name = "NAME", conflicts_with = "id")]
    prompt: Option<String>,

    /// Only changes since then: `90s`, `1h` or `7d` ago, a date, or a date with a time. Without
    /// `Z` or an offset it is the local time, as it is shown.
    #[arg(long, value_name = "TIME")]
    since: Option<String>,

    /// At most this many changes.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,

    #[command(flatten)]
    options: Options,
}

const EXAMPLES: &str = "Examples:
  skills log                           every change that the versions tell of
  skills log --since 1h                those of the last hour
  skills log --since 2026-01-31        since the beginning of a day
  skills log --since 2026-01-31T10:30  since a time of this machine
  skills log resend/email              those of one skill
  skills log --prompt greet            those of one prompt

The last versions of each skill and prompt are kept, also after it was unregistered
(`history.versions` in config.yaml).";

#[derive(Deserialize, Serialize)]
struct Log {
    changes: Vec<Change>,
    total: usize,
}

#[derive(Deserialize, Serialize)]
struct Change {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(flatten)]
    version: VersionEntry,
}

pub fn run(args: &LogArgs) -> Result<(), CliError> {
    let mut payload = json!({});
    if let Some(id) = &args.id {
        payload["id"] = skills_core::written_id(id)?.as_str().into();
    }
    if let Some(name) = &args.prompt {
        payload["name"] = name.parse::<PromptName>()?.as_str().into();
    }
    if let Some(since) = &args.since {
        payload["since"] = since_time(since, Timestamp::now(), TimeZone::system())?
            .to_string()
            .into();
    }
    if let Some(limit) = args.limit {
        payload["limit"] = limit.into();
    }
    open(&args.options, async |connection| {
        let log: Log = connection.call(&LOG, &payload).await?;
        let output = &connection.output;
        output.data("log", &log, |output| text(&log.changes, output.columns()))?;
        let shown = count(log.changes.len(), "change");
        output.remark(&match log.total - log.changes.len().min(log.total) {
            0 => shown,
            rest => format!("{shown}, {rest} older ones left out"),
        });
        Ok(())
    })
}

/// The time that `--since` means in a time zone.
fn since_time(text: &str, now: Timestamp, zone: TimeZone) -> Result<Timestamp, CliError> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time);
    }
    // A date is its beginning. The name of a zone in brackets would be ignored.
    if let Ok(time) = text.parse::<DateTime>()
        && !text.contains('[')
    {
        let time = time.to_zoned(zone).map(|time| time.timestamp());
        return time.map_err(|error| {
            CliError::invalid(format!("--since `{text}`: {error}"), "write another date")
        });
    }
    let days = text.strip_suffix('d').and_then(|days| days.parse().ok());
    let ago = match days {
        Some(days) => Duration::from_hours(24).checked_mul(days),
        None => parse_duration(text).ok(),
    };
    let ago = ago.and_then(|ago| SignedDuration::try_from(ago).ok());
    let time = ago.and_then(|ago| now.checked_sub(ago).ok());
    time.filter(|time| time.as_second() >= 0).ok_or_else(|| {
        let hint = "write `90s`, `1h`, `7d`, `2026-01-31`, `2026-01-31T12:00` for a local time, or \
                    `2026-01-31T12:00:00Z`";
        CliError::invalid(format!("--since `{text}` is not a time"), hint)
    })
}

fn text(changes: &[Change], width: Option<usize>) -> String {
    let rows: Vec<_> = changes
        .iter()
        .map(|change| {
            let Change { id, name, version } = change;
            let at = version.at.parse::<Timestamp>();
            // In the time of this machine, to the second.
            let at = at.map(|at| at.to_zoned(TimeZone::system()));
            let at = at.map_or_else(
                |_| version.at.clone(),
                |at| at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
            );
            let entry = match (id, name) {
                (Some(id), _) => id.clone(),
                (None, Some(name)) => format!("prompt {name}"),
                (None, None) => String::new(),
            };
            [
                at,
                version.made_by(),
                entry,
                format!("version {}", version.version),
                version.actor(),
            ]
        })
        .collect();
    lay_out(&rows, [false; 5], width)
}

#[cfg(test)]
mod tests {
    use jiff::tz::Offset;

    use super::*;

    #[test]
    fn times_since_which_changes_are_listed() {
        let now: Timestamp = "2026-02-01T00:00:00Z".parse().unwrap();
        let check = |text: &str, expected: &str| {
            let zone = TimeZone::fixed(Offset::constant(2));
            let got = since_time(text, now, zone);
            let got = got.map_or_else(|error| error.message, |time| time.to_string());
            assert!(got.contains(expected), "for {text:?}: {got}");
        };
        check("1h", "2026-01-31T23:00:00Z");
        check("90s", "2026-01-31T23:58:30Z");
        check("7d", "2026-01-25T00:00:00Z");
        check("2026-01-31T12:00:00Z", "2026-01-31T12:00:00Z");
        check("2026-01-31T12:00:00+02:00", "2026-01-31T10:00:00Z");
        // Without an offset it is the time of this machine, two hours ahead of UTC here.
        check("2026-01-15", "2026-01-14T22:00:00Z");
        check("2026-01-15T10:30", "2026-01-15T08:30:00Z");
        check("2026-01-15T10:30:15", "2026-01-15T08:30:15Z");
        check("2026-01-15 10:30:15", "2026-01-15T08:30:15Z");
        check("2026-01-15T10:30Z", "2026-01-15T10:30:00Z");
        for bad in [
            "",
            "yesterday",
            "-1h",
            "0s",
            "99999999999d",
            "1000000d",
            "10:30",
            "2026-01-15T25:00",
            "2026-01-15T10:30[Europe/Berlin]",
        ] {
            check(bad, "is not a time");
        }
    }
}
