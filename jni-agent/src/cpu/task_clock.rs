//! The kernel's own clock of a thread's CPU time: `perf_event_open(2)`, the software event "task clock".
//!
//! A timer on CPU time runs out at the system's next tick only (4 ms at 250 Hz); this clock has a timer of
//! its own, exact to microseconds. Its signal says that a file can be read, and carries the file's number.
//! The event counts one overflow and is off then, until the handler asks for the next one: no thread has two
//! signals in progress, however long a handler takes.

use std::ffi::c_int;
use std::io::Error;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::null_mut;

/// `perf_event_attr` as its first version had it. Newer kernels take the rest for zero.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    in_samples: u64,
    in_readings: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    more_config: u64,
}

const SOFTWARE: u32 = 1;
const TASK_CLOCK: u64 = 1;
/// Counts nothing at first.
const DISABLED: u64 = 1;
const CLOSE_ON_EXEC: u64 = 8;
/// Counts until that number of overflows more.
const REFRESH: u64 = 0x2402;
/// Sets the period; the argument is its address.
const PERIOD: u64 = 0x4008_2404;

/// The program has to have files left: ours are at most this part of those that the process may open.
const SHARE_OF_FILES: u64 = 4;

/// The clock of a thread. Closed on drop.
pub struct TaskClock(OwnedFd);

impl TaskClock {
    /// A clock that signals its thread `first` nanoseconds of CPU time, in the kernel or not, after it has
    /// been [started](again), once.
    ///
    /// # Errors
    /// If the system has none (seccomp filters refuse it), or shows this user no time in the kernel
    /// (`/proc/sys/kernel/perf_event_paranoid` above 1): the time of system calls would be put down to other
    /// code.
    pub fn open(thread: libc::pid_t, signal: c_int, first: u64) -> Result<Self, Error> {
        let attributes = Attributes {
            kind: SOFTWARE,
            size: size_of::<Attributes>() as u32,
            config: TASK_CLOCK,
            period: first.max(1),
            flags: DISABLED,
            ..Attributes::default()
        };
        let (any_processor, no_group) = (-1, -1);
        // SAFETY: a valid description; the other arguments are numbers.
        let file = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                thread,
                any_processor,
                no_group,
                CLOSE_ON_EXEC,
            )
        };
        if file < 0 {
            return Err(Error::last_os_error());
        }
        // SAFETY: the kernel has just opened it for us.
        let clock = TaskClock(unsafe { OwnedFd::from_raw_fd(file as RawFd) });
        #[repr(C)]
        struct Owner {
            kind: c_int,
            thread: libc::pid_t,
        }
        let owner = Owner {
            kind: 0, // F_OWNER_TID
            thread,
        };
        let file = clock.number();
        // SAFETY: a file of ours, and arguments as these commands want them.
        let signals = unsafe {
            libc::fcntl(file, libc::F_SETFL, libc::O_ASYNC | libc::O_NONBLOCK) == 0
                && libc::fcntl(file, F_SETSIG, signal) == 0
                && libc::fcntl(file, F_SETOWN_EX, &raw const owner) == 0
        };
        if !signals {
            return Err(Error::last_os_error());
        }
        Ok(clock)
    }

    /// The number of its file, which its signals carry.
    pub fn number(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

const F_SETSIG: c_int = 10;
const F_SETOWN_EX: c_int = 15;

/// The clock behind a file signals its thread once more: after `period` nanoseconds, or after as many as the
/// last time. False: it does not. In a signal handler.
pub fn again(file: RawFd, period: Option<u64>) -> bool {
    // SAFETY: the number of a file of ours.
    period.is_none_or(|period| soon(file, period)) && unsafe { libc::ioctl(file, REFRESH, 1) } == 0
}

/// The clock behind a file, if it is on, signals its thread `period` nanoseconds from now. False: it does not
/// change when. In a signal handler.
pub fn soon(file: RawFd, period: u64) -> bool {
    // SAFETY: the number of a file of ours; the address is that of a number which is there.
    unsafe { libc::ioctl(file, PERIOD, &raw const period) == 0 }
}

/// As many clocks may there be.
pub fn limit() -> usize {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: a valid place for the answer.
    match unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } {
        0 => (limit.rlim_cur / SHARE_OF_FILES) as usize,
        _ => 0,
    }
}

/// The kernel sends SIGIO in place of a signal that there is no room for. Who has not set anything for it
/// would die of that.
pub fn survive_sigio() {
    extern "C" fn nothing(_: c_int) {}
    // SAFETY: an action with all fields set, that replaces the system's own only.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        if libc::sigaction(libc::SIGIO, std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == libc::SIG_DFL
        {
            action.sa_sigaction = nothing as extern "C" fn(c_int) as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(libc::SIGIO, &raw const action, null_mut());
        }
    }
}
