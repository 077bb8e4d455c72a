//! JVMs in production: windows in spool folders, options, outputs, limits of the address space.

mod address_space;
mod options;
mod outputs;
mod spool;
