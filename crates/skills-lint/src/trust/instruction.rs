//! Whether a text that is not shown tells a model what to do.

use super::phrase::has_phrase;

/// Words that address a model.
const ADDRESSED: &[&str] = &[
    "assistant",
    "assistants",
    "agent",
    "agents",
    "ai",
    "llm",
    "llms",
    "claude",
    "chatgpt",
    "gpt",
    "copilot",
    "gemini",
    "codex",
    "cursor",
];

/// What a model is told to do.
const ACTIONS: &[&str] = &[
    "run",
    "execute",
    "send",
    "upload",
    "post",
    "download",
    "fetch",
    "read",
    "ignore",
    "tell",
    "mention",
    "reveal",
    "append",
    "insert",
    "call",
    "must",
    "always",
    "never",
    "delete",
    "copy",
    "exfiltrate",
    "forward",
    "email",
    "silently",
    "secretly",
    "install",
    "output",
    "respond",
    "reply",
    "answer",
    "say",
    "print",
    "include",
    "shall",
    "obey",
    "follow",
];

/// Verbs that move data or run programs.
const MOVES: &[&str] = &[
    "send",
    "upload",
    "post",
    "exfiltrate",
    "run",
    "execute",
    "fetch",
    "forward",
    "curl",
    "wget",
    "download",
    "eval",
    "install",
    "email",
    "submit",
    "transmit",
    "leak",
    "copy",
];

/// Places of secrets.
const SECRET_PLACES: &[&str] = &[
    "~/.ssh",
    "~/.aws",
    ".env",
    "/etc/passwd",
    "/etc/shadow",
    "id_rsa",
    "credentials",
    "api key",
    "api keys",
    "api_key",
    "access token",
    "secret key",
    "environment variables",
    "private key",
    "cookies",
    "passwords",
];

/// Beginnings that imitate a message to a model.
const ROLES: &[&str] = &[
    "system:",
    "assistant:",
    "user:",
    "[system]",
    "<system>",
    "system prompt",
];

/// Whether a model is addressed and told what to do in the words after that.
fn is_told(lowercase: &str) -> bool {
    const NEAR: usize = 8;
    // A path or a name with hyphens is one word.
    let is_between = |c: char| {
        c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(' | ')' | '"' | '!' | '?' | '*')
    };
    let words = lowercase.split(is_between);
    let mut left = 0_usize;
    for word in words.map(|word| word.trim_matches(['.', '`', '\''])) {
        if word.is_empty() {
            continue;
        }
        if left > 0 && ACTIONS.contains(&word) {
            return true;
        }
        left = if ADDRESSED.contains(&word) {
            NEAR
        } else {
            left.saturating_sub(1)
        };
    }
    false
}

/// Why a text that is not shown is an instruction.
pub fn instruction(text: &str) -> Option<&'static str> {
    if has_phrase(text) {
        return Some("overrides or conceals");
    }
    let lower = text.to_lowercase();
    let lower = lower.trim_start();
    if ROLES.iter().any(|role| lower.starts_with(role)) {
        return Some("imitates a message to a model");
    }
    let has = |words: &[&str]| {
        let mut found = lower.split(|c: char| !c.is_alphanumeric());
        found.any(|word| words.contains(&word))
    };
    if is_told(lower) {
        return Some("tells a model what to do");
    }
    let has_secret = SECRET_PLACES.iter().any(|place| lower.contains(place));
    if has_secret && (has(MOVES) || has(&["read", "include", "print", "append", "cat", "output"])) {
        return Some("asks for secrets");
    }
    let has_address = lower.contains("://");
    let begins = [
        "run ",
        "execute ",
        "curl ",
        "wget ",
        "send ",
        "upload ",
        "download and ",
        "rm -rf",
    ];
    let is_command = begins.iter().any(|begin| lower.starts_with(begin));
    if has_address && (is_command || has(&["exfiltrate", "upload", "curl", "wget"]))
        || lower.contains("rm -rf /")
    {
        return Some("moves data or runs programs");
    }
    None
}
