//! The line that every JVM prints that finds options in `JAVA_TOOL_OPTIONS`. Where these are ours, it is
//! left out.

use std::io::Read;
use std::process::ChildStderr;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

/// The beginning of the notice.
const NOTICE: &[u8] = b"Picked up JAVA_TOOL_OPTIONS: ";
/// The first byte of a sequence that steers a terminal; a letter ends it.
const ESCAPE: u8 = 0x1b;
/// How long processes that outlive the command may keep its standard error open before they are left to it.
const GRACE: Duration = Duration::from_secs(1);

/// Hands a command's standard error on to ours, without the notices.
pub struct Forwarding(Receiver<()>);

impl Forwarding {
    /// Begins.
    pub fn new(from: ChildStderr) -> Self {
        let (done, ended) = channel();
        thread::spawn(move || {
            forward(from, crate::output::show);
            // Nothing waits any more if the command has left processes behind.
            let _ = done.send(());
        });
        Forwarding(ended)
    }

    /// Waits for what the command has written before its end.
    pub fn finish(self) {
        let _ = self.0.recv_timeout(GRACE);
    }
}

fn forward(mut from: impl Read, mut to: impl FnMut(&[u8])) {
    // The beginning of a line that may become a notice; `None` behind that.
    let mut begun = Some(Vec::new());
    let mut is_notice = false;
    // Colours in front of a line, as Maven sends them, are none of it.
    let mut in_escape = false;
    let mut bytes = [0; 8192];
    while let Ok(length @ 1..) = from.read(&mut bytes) {
        let mut out = Vec::with_capacity(length);
        for &byte in &bytes[..length] {
            if in_escape || (byte == ESCAPE && begun.as_ref().is_some_and(Vec::is_empty)) {
                in_escape = !byte.is_ascii_alphabetic();
                out.push(byte);
                continue;
            }
            if let Some(line) = &mut begun {
                line.push(byte);
                if *line == NOTICE {
                    is_notice = true;
                    begun = None;
                } else if !NOTICE.starts_with(line) {
                    out.append(line);
                    begun = None;
                }
            } else if !is_notice {
                out.push(byte);
            }
            if byte == b'\n' {
                begun = Some(Vec::new());
                is_notice = false;
            }
        }
        if !out.is_empty() {
            to(&out);
        }
    }
    if let Some(line) = begun.filter(|line| !line.is_empty()) {
        to(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands on a few bytes at a time.
    struct Pieces<'b>(&'b [u8], usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let length = self.1.min(self.0.len());
            to[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    #[test]
    fn only_notices_are_left_out() {
        let text = b"a\nPicked up JAVA_TOOL_OPTIONS: -agentpath:x\nPicked up a stone\n\nPicked up JAVA_TOOL_OPTIONS: y\nb \
                     Picked up JAVA_TOOL_OPTIONS: z\n\x1b[0mPicked up JAVA_TOOL_OPTIONS: v\n\x1b[1;31mc\nPick";
        let kept = b"a\nPicked up a stone\n\nb Picked up JAVA_TOOL_OPTIONS: z\n\x1b[0m\x1b[1;31mc\nPick";
        for piece in [1, 2, 7, 4096] {
            let mut out = Vec::new();
            forward(Pieces(text, piece), |bytes| out.extend_from_slice(bytes));
            assert_eq!(
                String::from_utf8_lossy(&out),
                String::from_utf8_lossy(kept),
                "{piece}"
            );
        }
    }

    #[test]
    fn what_can_be_no_notice_is_not_held_back() {
        let mut pieces = Vec::new();
        forward(Pieces(b"Password: ", 3), |bytes| pieces.push(bytes.to_vec()));
        assert_eq!(pieces, [&b"Pas"[..], b"swo", b"rd:", b" "]);
    }
}
