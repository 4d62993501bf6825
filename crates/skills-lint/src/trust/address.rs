//! Addresses with a number instead of a name.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::report::Sink;
use crate::rules::trust as rules;

/// The longest host that is read.
const LONGEST: usize = 256;

/// Reports the address whose scheme ends at a place with `://`.
pub fn check(text: &str, at: usize, sink: &mut Sink) {
    let scheme = super::before(text, at, 8);
    let is_word = |c: char| !c.is_ascii_alphanumeric();
    let scheme = scheme
        .rsplit(is_word)
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    if !["http", "https", "ftp", "ws", "wss", "tcp"].contains(&&*scheme) {
        return;
    }
    let start = at + 3;
    let rest = &text[start..text.floor_char_boundary((start + LONGEST).min(text.len()))];
    let is_end = |c: char| {
        c.is_whitespace()
            || matches!(
                c,
                '/' | '?' | '#' | '"' | '\'' | '`' | ')' | '>' | '<' | '\\' | ',' | '|'
            )
    };
    let authority = &rest[..rest.find(is_end).unwrap_or(rest.len())];
    let host = authority.rsplit('@').next().unwrap_or(authority);
    let Some(number) = number(host) else {
        return;
    };
    let end = start + authority.len();
    let address = &text[at - scheme.len()..end];
    let message = || {
        let hidden = match number.to_string() {
            shown if host.contains(&shown) => String::new(),
            shown => format!(" (that is {shown})"),
        };
        format!("{} has no name{hidden}", super::excerpt(address))
    };
    sink.add(rules::RAW_ADDRESS, at - scheme.len()..end, message)
        .help("use the name of the host");
}

/// The IP address that a host is, unless it is harmless.
fn number(host: &str) -> Option<std::net::IpAddr> {
    if let Some(rest) = host.strip_prefix('[') {
        let address: Ipv6Addr = rest.split(']').next()?.parse().ok()?;
        let is_documentation = address.segments()[..2] == [0x2001, 0xdb8];
        let mapped = address.to_ipv4_mapped().is_some_and(is_harmless);
        let is_harmless = address.is_loopback() || address.is_unspecified() || is_documentation;
        return (!is_harmless && !mapped).then_some(address.into());
    }
    let address = v4(host.split(':').next().unwrap_or(host))?;
    (!is_harmless(address)).then_some(address.into())
}

fn is_harmless(address: Ipv4Addr) -> bool {
    address.is_loopback() || address.is_unspecified() || address.is_documentation()
}

/// An IPv4 address as browsers read it: one to four numbers, decimal, hexadecimal or octal.
fn v4(host: &str) -> Option<Ipv4Addr> {
    let parts: Vec<&str> = host.strip_suffix('.').unwrap_or(host).split('.').collect();
    if parts.len() > 4 {
        return None;
    }
    let mut value: u64 = 0;
    let last = parts.len() - 1;
    for (nth, part) in parts.iter().enumerate() {
        let number = match part.strip_prefix("0x").or_else(|| part.strip_prefix("0X")) {
            Some(hex) => u64::from_str_radix(hex, 16).ok()?,
            None if part.len() > 1 && part.starts_with('0') => u64::from_str_radix(part, 8).ok()?,
            None if part.bytes().all(|b| b.is_ascii_digit()) => part.parse().ok()?,
            None => return None,
        };
        let room = if nth == last { 4 - last } else { 1 };
        if number >= 1 << (8 * room) {
            return None;
        }
        value = if nth == last {
            (value << (8 * room)) | number
        } else {
            (value << 8) | number
        };
    }
    // A short number, such as the port of `http://8080`, is a placeholder.
    let is_whole = parts.len() == 4 || value >= 1 << 24;
    let value = u32::try_from(value).ok()?;
    is_whole.then(|| Ipv4Addr::from(value))
}
