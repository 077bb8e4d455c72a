//! The form of a subpath: runs of paths, and those packed into few bytes.
//!
//! A sampled subpath is kept as the path ends it was read off, not as blocks: "path descriptions need not be
//! there before a report" (OSP section 3, "Path Representation"). A loop's iterations that follow the same
//! path take a few bytes however many there are.

/// An interval of one path, once or several times in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Run {
    /// Method id.
    pub method: u32,
    /// Path number, or the register at the end of an unfinished path.
    pub path: u32,
    /// First block of the path that belongs to it, counted from the path's first.
    pub from: u32,
    /// Number of blocks that belong to it.
    pub blocks: u32,
    /// How many times it comes in a row.
    pub times: u32,
}

impl Run {
    /// Blocks in all.
    pub fn total(&self) -> u64 {
        u64::from(self.blocks) * u64::from(self.times)
    }
}

/// Appends a subpath of this length. What would take more than about `limit` bytes is left out at its end.
pub(super) fn pack(length: u32, runs: &[Run], limit: usize, out: &mut Vec<u8>) {
    let begin = out.len();
    uint(length, out);
    for run in runs {
        if out.len() - begin >= limit {
            break;
        }
        let (ranged, repeated) = (run.from > 0, run.times > 1);
        // 28 bits of method, two of what follows.
        uint(
            run.method << 2 | u32::from(ranged) << 1 | u32::from(repeated),
            out,
        );
        uint(run.path, out);
        uint(run.blocks, out);
        if ranged {
            uint(run.from, out);
        }
        if repeated {
            uint(run.times, out);
        }
    }
}

/// Length and runs of a subpath, and how many blocks were left out at its end.
pub(super) fn unpack(mut text: &[u8]) -> Option<(u32, Vec<Run>, u32)> {
    let length = take(&mut text)?;
    let (mut runs, mut there) = (Vec::new(), 0);
    while !text.is_empty() {
        let head = take(&mut text)?;
        let mut run = Run {
            method: head >> 2,
            path: take(&mut text)?,
            from: 0,
            blocks: take(&mut text)?,
            times: 1,
        };
        if head & 2 != 0 {
            run.from = take(&mut text)?;
        }
        if head & 1 != 0 {
            run.times = take(&mut text)?;
        }
        there += run.total();
        runs.push(run);
    }
    Some((
        length,
        runs,
        u32::try_from(u64::from(length).checked_sub(there)?).ok()?,
    ))
}

/// The length alone.
pub(super) fn length(mut text: &[u8]) -> u32 {
    take(&mut text).unwrap_or(0)
}

/// Returns true if there is a length, and nothing more.
pub(super) fn describes_nothing(mut text: &[u8]) -> bool {
    take(&mut text).is_none() || text.is_empty()
}

fn uint(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take(text: &mut &[u8]) -> Option<u32> {
    let mut value = 0;
    for shift in (0..35).step_by(7) {
        let (&byte, rest) = text.split_first()?;
        *text = rest;
        value |= u32::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run() -> impl Strategy<Value = Run> {
        let method = 0..1u32 << 28;
        (
            method,
            any::<u32>(),
            prop_oneof![Just(0), any::<u32>()],
            1..200u32,
            1..300u32,
        )
            .prop_map(|(method, path, from, blocks, times)| Run {
                method,
                path,
                from,
                blocks,
                times,
            })
    }

    proptest! {
        #[test]
        fn unpacks_what_was_packed(runs in prop::collection::vec(run(), 0..20), more in 0..50u32) {
            let there: u64 = runs.iter().map(Run::total).sum();
            let whole = there as u32 + more;
            let mut text = Vec::new();
            pack(whole, &runs, usize::MAX, &mut text);
            prop_assert_eq!(length(&text), whole);
            prop_assert_eq!(unpack(&text), Some((whole, runs.clone(), more)));
            // With a limit, a beginning of it.
            let mut short = Vec::new();
            pack(whole, &runs, 24, &mut short);
            prop_assert!(short.len() < 24 + 25);
            let (_, kept, missing) = unpack(&short).unwrap();
            prop_assert_eq!(&runs[..kept.len()], &kept[..]);
            let there: u64 = kept.iter().map(Run::total).sum();
            prop_assert_eq!(there + u64::from(missing), u64::from(whole));
        }

        #[test]
        fn any_bytes_are_read_without_panic(text in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = unpack(&text);
        }
    }
}
