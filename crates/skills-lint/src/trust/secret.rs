//! Secrets by known formats.

use crate::report::Sink;
use crate::rules::trust as rules;

/// The characters of a secret.
#[derive(Clone, Copy)]
enum Class {
    Upper,
    Hex,
    Alnum,
    Word,
    Dotted,
}

impl Class {
    const fn has(self, b: u8) -> bool {
        match self {
            Self::Upper => b.is_ascii_uppercase() || b.is_ascii_digit(),
            Self::Hex => b.is_ascii_digit() || matches!(b, b'a'..=b'f'),
            Self::Alnum => b.is_ascii_alphanumeric(),
            Self::Word => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'),
            Self::Dotted => b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'/'),
        }
    }
}

/// A format: how it begins, what follows, how much at least, and what it is.
pub struct Format {
    pub prefix: &'static str,
    class: Class,
    least: usize,
    what: &'static str,
}

const fn format(prefix: &'static str, class: Class, least: usize, what: &'static str) -> Format {
    Format {
        prefix,
        class,
        least,
        what,
    }
}

pub const FORMATS: &[Format] = &[
    format("AKIA", Class::Upper, 16, "an access key of AWS"),
    format("ASIA", Class::Upper, 16, "an access key of AWS"),
    format("ghp_", Class::Alnum, 36, "a token of GitHub"),
    format("gho_", Class::Alnum, 36, "a token of GitHub"),
    format("ghu_", Class::Alnum, 36, "a token of GitHub"),
    format("ghs_", Class::Alnum, 36, "a token of GitHub"),
    format("ghr_", Class::Alnum, 36, "a token of GitHub"),
    format("github_pat_", Class::Word, 60, "a token of GitHub"),
    format("glpat-", Class::Word, 20, "a token of GitLab"),
    format("sk-ant-", Class::Word, 32, "a key of Anthropic"),
    format("sk-proj-", Class::Word, 32, "a key of OpenAI"),
    format("sk-svcacct-", Class::Word, 32, "a key of OpenAI"),
    format("sk-", Class::Alnum, 40, "a key of an AI service"),
    format("sk-or-v1-", Class::Hex, 48, "a key of OpenRouter"),
    format("AIza", Class::Word, 35, "a key of Google"),
    format("xoxb-", Class::Word, 24, "a token of Slack"),
    format("xoxp-", Class::Word, 24, "a token of Slack"),
    format("xoxa-", Class::Word, 24, "a token of Slack"),
    format("xoxs-", Class::Word, 24, "a token of Slack"),
    format(
        "hooks.slack.com/services/T",
        Class::Dotted,
        30,
        "a webhook of Slack",
    ),
    format(
        "discord.com/api/webhooks/",
        Class::Dotted,
        60,
        "a webhook of Discord",
    ),
    format("sk_live_", Class::Alnum, 24, "a key of Stripe"),
    format("rk_live_", Class::Alnum, 24, "a key of Stripe"),
    format("whsec_", Class::Alnum, 32, "a webhook secret of Stripe"),
    format("npm_", Class::Alnum, 36, "a token of npm"),
    format("pypi-AgEIcHlwaS", Class::Word, 50, "a token of PyPI"),
    format("SG.", Class::Dotted, 60, "a key of SendGrid"),
    format("hf_", Class::Alnum, 34, "a token of Hugging Face"),
    format("dop_v1_", Class::Hex, 64, "a token of DigitalOcean"),
    format("shpat_", Class::Hex, 32, "a token of Shopify"),
    format("AGE-SECRET-KEY-1", Class::Upper, 50, "a key of age"),
    format("PRIVATE KEY-----", Class::Dotted, 0, "a private key"),
];

/// The most characters of a secret that are read.
const LONGEST: usize = 200;

/// Reports a secret whose format begins at a place.
pub fn check(text: &str, at: usize, format: &Format, sink: &mut Sink) {
    if format.prefix.starts_with("PRIVATE") {
        return private_key(text, at, sink);
    }
    let bytes = text.as_bytes();
    let is_inside = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
    // The search ignores case, and a format does not.
    if is_inside || !text[at..].starts_with(format.prefix) {
        return;
    }
    let start = at + format.prefix.len();
    let rest = bytes[start..].iter().take(LONGEST);
    let length = rest.take_while(|b| format.class.has(**b)).count();
    let secret = &text[start..start + length];
    let is_exact = !matches!(format.class, Class::Upper) || length == format.least;
    if length < format.least || !is_exact || is_placeholder(secret) {
        return;
    }
    let end = start + length;
    // The secret itself is not repeated in logs.
    let shown = &text[at..start + 4];
    let message = || format!("{} (`{shown}...`, {length} characters)", format.what);
    sink.add(rules::SECRET, at..end, message)
        .help("revoke it, and read it from the environment");
}

/// The marks around a key are harmless; the key between them is not.
fn private_key(text: &str, at: usize, sink: &mut Sink) {
    const NEEDED: usize = 60;
    let before = super::before(text, at, 40);
    let Some(begin) = before.find("-----BEGIN ") else {
        return;
    };
    let start = at - before.len() + begin;
    let rest = &text.as_bytes()[at + "PRIVATE KEY-----".len()..];
    let mut key = Vec::with_capacity(NEEDED);
    for (nth, &byte) in rest.iter().take(4 * NEEDED).enumerate() {
        match byte {
            b'\n' | b'\r' | b' ' | b'\t' | b'"' | b',' => {}
            b'\\' if rest.get(nth + 1) == Some(&b'n') => {}
            b'n' if nth > 0 && rest[nth - 1] == b'\\' => {}
            _ if byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=') => {
                key.push(byte);
            }
            _ => break,
        }
        if key.len() == NEEDED {
            break;
        }
    }
    let key = String::from_utf8_lossy(&key);
    if key.len() == NEEDED && !is_placeholder(&key) {
        let end = at + "PRIVATE KEY-----".len();
        sink.add(rules::SECRET, start..end, "a private key")
            .help("revoke it, and read it from the environment");
    }
}

/// Whether a text stands for a secret: it says so, or has too few different characters.
fn is_placeholder(secret: &str) -> bool {
    const LEAST_DIFFERENT: usize = 10;
    let lower = secret.to_lowercase();
    let says_so = [
        "example",
        "xxxx",
        "your",
        "placeholder",
        "redacted",
        "dummy",
        "fake",
        "sample",
        "12345",
        "abcde",
        "0000",
        "----",
        "insert",
        "replace",
        "changeme",
        "....",
    ];
    let mut different: Vec<u8> = lower.bytes().collect();
    different.sort_unstable();
    different.dedup();
    says_so.iter().any(|word| lower.contains(word)) || different.len() < LEAST_DIFFERENT
}
