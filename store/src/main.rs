//! `trodden-store`, the command line.

use std::process::ExitCode;

/// Reading profiles and writing rows allocates a lot, on all processors at the same time.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    trodden_store::cli::main()
}
