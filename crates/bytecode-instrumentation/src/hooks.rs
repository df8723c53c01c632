//! The hooks that instrumented code calls.

/// The static methods that instrumented code calls, all of one class.
///
/// Each class loader that defines instrumented classes must find that class. Those of OSGi ask the
/// boot loader for packages that begin with `java.` only, so a helper that the boot loader defines
/// in such a package is found everywhere.
///
/// The methods must return normally and leave their argument alone. If they throw anything (the
/// call itself throws `StackOverflowError` where the stack ends), the monitor is released once, and
/// the throwable goes on as if the release had thrown it.
///
/// Names are those of a class file (JVMS 4.2), without NUL and characters beyond U+FFFF.
#[derive(Clone, Copy, Debug)]
pub struct Hooks<'a> {
    /// The class, by its internal name (`java/lang/LockTrace`). It is never instrumented itself.
    pub class: &'a str,
    /// Called before each `monitorexit`: `static void f(Object monitor, int site)`.
    pub block_exit: &'a str,
    /// Called after each `monitorexit`: `static void f(int site)`, with the site of the call
    /// before it. `None`: nothing is called.
    pub after_block_exit: Option<&'a str>,
    /// Called before each return from a synchronized method, and where an exception leaves it:
    /// `static void f(Object monitor, int site)`.
    pub method_exit: &'a str,
}
