//! Class files with calls of hooks before each release of a monitor, as
//! `bytecode-instrumentation` writes them: what JVMs say of them, what they do, and what ASM
//! makes of the same classes.

mod corpus;
mod execution;
mod oracle;
mod support;
mod verification;
