//! How much of its native stack the calling thread uses.

use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// A Java frame has no less: return address and saved frame pointer. (Inlined ones share a frame, but not so
/// many that others would not make up for it.)
const MIN_FRAME: usize = 16;

/// More Java frames than this are hardly on the calling thread's stack. `None` if its bounds are not known.
///
/// This is what is asked before JVMTI's `GetFrameCount`: HotSpot needs 5 KB of memory per frame while it
/// counts, so 5 GB for a recursion a million deep.
pub fn most_frames() -> Option<u32> {
    let here = 0_u8;
    let here = (&raw const here).addr();
    let used = top()?.checked_sub(here)?;
    Some(u32::try_from(used / MIN_FRAME).unwrap_or(u32::MAX))
}

/// The address at which the calling thread's stack began.
fn top() -> Option<usize> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: the call initialises what it is given, or fails.
    if unsafe { libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) } != 0 {
        return None;
    }
    let (mut lowest, mut size) = (null_mut(), 0);
    // SAFETY: initialised above.
    let known = unsafe { libc::pthread_attr_getstack(attributes.as_ptr(), &mut lowest, &mut size) } == 0;
    // SAFETY: initialised above, and not used any more.
    unsafe { libc::pthread_attr_destroy(attributes.as_mut_ptr()) };
    known.then(|| lowest.addr().checked_add(size)).flatten()
}

#[cfg(test)]
mod tests {
    use super::most_frames;

    #[inline(never)]
    fn deeper(levels: u32) -> u32 {
        let block = [levels as u8; 1024];
        let most = match levels {
            0 => most_frames().expect("a stack"),
            _ => deeper(levels - 1),
        };
        std::hint::black_box(&block);
        most
    }

    #[test]
    fn grows_with_the_stack() {
        let here = most_frames().expect("a stack");
        let there = deeper(256);
        assert!(there >= here + 256 * 64, "{here} {there}");
        assert!(there < here + 4 * 256 * 64, "{here} {there}");
    }
}
