//! Memory, file handles and threads of a process, from `/proc`; and its limits.

use std::fs;
use std::process::Command;

/// What a process uses.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// Bytes of memory.
    pub memory: u64,
    /// The most bytes of memory that it ever used.
    pub peak_memory: u64,
    /// Open file handles.
    pub handles: u64,
    /// Threads.
    pub threads: u64,
}

impl Usage {
    /// Of a running process; none if it has ended.
    pub fn of(pid: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let field = |name: &str| -> Option<u64> {
            let line = status.lines().find(|line| line.starts_with(name))?;
            line.split_whitespace().nth(1)?.parse().ok()
        };
        Some(Self {
            memory: field("VmRSS:")? << 10,
            peak_memory: field("VmHWM:")? << 10,
            handles: fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count() as u64,
            threads: field("Threads:")?,
        })
    }
}

/// Sets a limit of a running process with `prlimit`, such as `--nofile=64:`; the part after the
/// colon, the hard limit, stays.
pub fn set_limit(pid: u32, limit: &str) {
    let pid = pid.to_string();
    let status = Command::new("prlimit")
        .args(["--pid", &pid, limit])
        .status();
    let status = status.expect("prlimit of util-linux is installed");
    assert!(status.success(), "prlimit --pid {pid} {limit}");
}
