//! Gives memory that the process has freed back to the system.
//!
//! The allocator of glibc keeps what a burst has freed, in the hope of the next one. Other
//! allocators give it back themselves, so there is nothing to do on other systems.
//!
//! Deliberately absent: when to do it.

/// How much memory of the process the system holds in RAM, in bytes; none if it is not known.
pub fn resident_bytes() -> Option<usize> {
    glibc::resident_bytes()
}

/// Makes large blocks go back to the system as soon as they are freed. Called once, at the start.
pub fn return_large_blocks() {
    glibc::return_large_blocks();
}

/// Gives all free memory back. Takes some milliseconds, during which other threads may wait.
pub fn return_free_memory() {
    glibc::return_free_memory();
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use libc::{M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, c_int};

    /// Blocks from this size on are large: each is mapped for itself, and every page of it faults
    /// again. A buffer for a frame of 1 MiB, which grows by doubling, is smaller.
    const LARGE_BLOCK: c_int = 3 << 20;

    /// The free memory at the end of an arena that is kept for the next buffers.
    const KEPT_BYTES: c_int = 2 * LARGE_BLOCK;

    pub(super) fn resident_bytes() -> Option<usize> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
        let kib: usize = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kib << 10)
    }

    pub(super) fn return_large_blocks() {
        // Otherwise the limits grow with the largest block that was freed, up to 32 MiB.
        let parameters = [
            (M_MMAP_THRESHOLD, LARGE_BLOCK),
            (M_TRIM_THRESHOLD, KEPT_BYTES),
        ];
        for (parameter, bytes) in parameters {
            // SAFETY: `mallopt` may be called at any time; it changes how later calls behave.
            unsafe { libc::mallopt(parameter, bytes) };
        }
    }

    pub(super) fn return_free_memory() {
        // SAFETY: `malloc_trim` may be called at any time, by any thread.
        unsafe { libc::malloc_trim(0) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod glibc {
    pub(super) fn resident_bytes() -> Option<usize> {
        None
    }

    pub(super) fn return_large_blocks() {}

    pub(super) fn return_free_memory() {}
}
