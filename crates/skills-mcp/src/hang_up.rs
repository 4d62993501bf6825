//! Notices that the client closed standard input, without reading it.
//!
//! A server that waits until its client reads a response does not read, so it does not see the
//! end of its input either. A client that is gone, while another process holds the other end of
//! standard output, would keep the server alive for ever.

/// Calls `ended` when no process can write to standard input any more, even if there is more to read.
#[cfg(unix)]
pub fn on_input_hang_up(ended: impl FnOnce() + Send + 'static) {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;

    // Hang-up and errors are always reported; half-closed sockets on Linux only on request.
    #[cfg(target_os = "linux")]
    let wanted = PollFlags::RDHUP;
    #[cfg(not(target_os = "linux"))]
    let wanted = PollFlags::empty();
    std::thread::spawn(move || {
        let stdin = std::io::stdin();
        loop {
            match poll(&mut [PollFd::new(&stdin, wanted)], None) {
                Ok(_) => return ended(),
                Err(Errno::INTR) => {}
                // Not a stream that can hang up.
                Err(_) => return,
            }
        }
    });
}

/// Elsewhere the end of the input is noticed when it is read.
#[cfg(not(unix))]
pub fn on_input_hang_up(_: impl FnOnce() + Send + 'static) {}
