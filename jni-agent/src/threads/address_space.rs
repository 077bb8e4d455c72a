//! How much address space the blocks of threads may take.
//!
//! A block is reserved, not used: only its pages that are written to take memory. Where address space has no
//! limit, each thread has [`MAX_BLOCK`] bytes of it. Where it has one (`ulimit -v`), the program needs what
//! is left: for stacks of threads, for code, for memory outside of the heap. So blocks are small there, all
//! of them together take no more than an eighth of what was free when the first one was reserved, and none is
//! taken any more once half of that is gone, whoever took it. Threads that come later share a block.

/// Bytes of a block where address space has no limit.
pub const MAX_BLOCK: u64 = 256 << 20;
/// Bytes of a block where it is scarce: room for a million paths.
const MIN_BLOCK: u64 = 8 << 20;
/// Where address space is limited, so many blocks would fill what is free.
const BLOCKS: u64 = 128;

/// How large blocks are, and what they may take together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressSpace {
    /// Bytes of a block: a power of two.
    pub block: u64,
    limit: Option<Limit>,
}

/// A limit to the address space of this process, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit {
    /// The limit.
    most: u64,
    /// Free bytes when the first block was reserved.
    free: u64,
}

impl AddressSpace {
    /// As it is in this process now.
    pub fn of_process() -> Self {
        Self::new(limit(), used())
    }

    /// With a limit, or without one, and so much in use.
    fn new(limit: Option<u64>, used: u64) -> Self {
        let limit = limit.map(|most| Limit {
            most,
            free: most.saturating_sub(used),
        });
        let block = limit.map_or(MAX_BLOCK, |limit| {
            let part = (limit.free / BLOCKS).max(1);
            (1 << part.ilog2()).clamp(MIN_BLOCK, MAX_BLOCK)
        });
        AddressSpace { block, limit }
    }

    /// True if there is a limit.
    pub fn is_limited(&self) -> bool {
        self.limit.is_some()
    }

    /// True if a length may be taken, by a process that uses `used` bytes now, `taken` of them for blocks.
    fn allows_with(&self, length: u64, taken: u64, used: u64) -> bool {
        self.limit.is_none_or(|limit| {
            let left = limit.most.saturating_sub(used).saturating_sub(length);
            taken + length <= limit.free / 8 && left >= limit.free / 2
        })
    }

    /// True if a length may be taken now, with `taken` bytes taken for blocks.
    pub fn allows(&self, length: u64, taken: u64) -> bool {
        self.limit.is_none() || self.allows_with(length, taken, used())
    }
}

/// The limit of this process's address space in bytes (`ulimit -v`), if it has one.
fn limit() -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a valid place for the answer.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    (known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Bytes of address space in use; 0 where the system does not say.
fn used() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').next().and_then(|pages| pages.parse::<u64>().ok());
    // SAFETY: no memory is passed.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.unwrap_or(0) * u64::try_from(page).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIGABYTE: u64 = 1 << 30;

    /// Reserves blocks until no more are allowed; the program takes `program` bytes for each.
    fn blocks(space: AddressSpace, used: u64, program: u64) -> (u64, u64) {
        let (mut taken, mut used, mut count) = (0, used, 0);
        while space.allows_with(space.block, taken, used) {
            taken += space.block;
            used += space.block + program;
            count += 1;
        }
        (count, used)
    }

    #[test]
    fn without_a_limit_blocks_are_large() {
        let space = AddressSpace::new(None, 100 * GIGABYTE);
        assert_eq!(space.block, MAX_BLOCK);
        assert!(!space.is_limited() && space.allows(1 << 60, 1 << 60));
    }

    #[test]
    fn a_limit_leaves_most_of_the_address_space_to_the_program() {
        for limit in [2, 3, 7, 8, 64, 1024] {
            for used in [1, 2, 5, 8, 63] {
                let space = AddressSpace::new(Some(limit * GIGABYTE), used * GIGABYTE);
                assert!(space.is_limited());
                assert!(space.block.is_power_of_two() && (MIN_BLOCK..=MAX_BLOCK).contains(&space.block));
                let free = limit.saturating_sub(used) * GIGABYTE;
                let (count, _) = blocks(space, used * GIGABYTE, 0);
                assert!(count * space.block <= free / 8, "{limit} {used}");
                assert!(free == 0 || count >= 16, "{limit} {used}: {count}");
                // Threads with large stacks.
                let stack = 64 << 20;
                let (_, end) = blocks(space, used * GIGABYTE, stack);
                assert!(
                    free == 0 || limit * GIGABYTE - end + stack >= free / 2,
                    "{limit} {used}"
                );
            }
        }
    }

    #[test]
    fn this_process_uses_some() {
        assert!(used() > 1 << 20);
        assert!(limit().is_none_or(|limit| limit > used()));
    }
}
