//! Memory of this process at addresses that may not be mapped.

/// Copies bytes from an address. False if one of them cannot be read: the system copies, so that nothing
/// ends by it.
pub fn copy_checked(from: usize, into: &mut [u8]) -> bool {
    if into.is_empty() {
        return true;
    }
    let local = libc::iovec {
        iov_base: into.as_mut_ptr().cast(),
        iov_len: into.len(),
    };
    let remote = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(from),
        iov_len: into.len(),
    };
    // SAFETY: `local` is all of `into`; at `remote` the system looks itself whether it is memory.
    let copied =
        unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(copied) == Ok(into.len())
}

/// A pointer at an address, if that can be read.
pub fn pointer(at: usize) -> Option<usize> {
    let mut bytes = [0; size_of::<usize>()];
    copy_checked(at, &mut bytes).then(|| usize::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_mapped_is_not_read() {
        let number = Box::new(0x1234_5678_9abc_def0_usize);
        assert_eq!(pointer(std::ptr::from_ref(&*number).addr()), Some(*number));
        assert_eq!(pointer(8), None);
        assert_eq!(pointer(usize::MAX - 3), None);
        assert!(copy_checked(8, &mut []));
    }
}
