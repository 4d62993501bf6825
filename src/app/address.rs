//! The host and port of a `ws://` address.

/// The port of an engine for its workers.
pub const DEFAULT_WORKER_PORT: u16 = 49134;

/// `127.0.0.1:49134` of `ws://127.0.0.1:49134/`. An address without a port gets `port`.
pub fn authority(url: &str, port: u16) -> Result<String, &'static str> {
    let rest = url
        .strip_prefix("ws://")
        .ok_or("it must start with ws://")?;
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if authority.is_empty() {
        return Err("it has no host");
    }
    let after_host = authority.rsplit(']').next().unwrap_or_default();
    Ok(if after_host.contains(':') {
        authority.into()
    } else {
        format!("{authority}:{port}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_to_listen_on() {
        let check = |url: &str, expected: &str| {
            let got = authority(url, DEFAULT_WORKER_PORT).unwrap_or_else(str::to_owned);
            assert!(got.contains(expected), "for {url}: {got}");
        };
        check("ws://127.0.0.1:49134", "127.0.0.1:49134");
        check("ws://127.0.0.1:0/", "127.0.0.1:0");
        check("ws://localhost", "localhost:49134");
        check("ws://[::1]:5/x?y", "[::1]:5");
        check("ws://[::1]", "[::1]:49134");
        check("http://x", "must start with ws://");
        check("ws:///", "has no host");
    }
}
