//! Starts and stops a trace.

use std::ptr;
use std::sync::atomic::AtomicU8;
use std::time::Duration;

use trace_format::{Capabilities, FileHeader, Safepoint};

use crate::drain::thread_times;
use crate::ffi::lent::{LctStr, copy_message};
use crate::lifecycle::Config;
use crate::live::analysis::Mode;
use crate::runtime::{Runtime, Used};
use crate::text;

/// How to trace.
#[derive(Debug)]
#[repr(C)]
pub struct LctConfig {
    /// The trace file to be created. If its name is taken, the file gets a number.
    pub path: LctStr,
    /// Compress the file.
    pub compress: bool,
    /// Keep events that are not in the file yet where they outlive the process: in a
    /// file next to the trace, which is removed at its end.
    pub crash_safe: bool,
    /// Wall clock at the trace's start, in nanoseconds since 1970.
    pub start_unix_ns: u64,
    /// Monotonic clock at the trace's start, in nanoseconds.
    pub start_ns: u64,
    /// Process id.
    pub pid: u32,
    /// Version of the JVM.
    pub jvm: LctStr,
    /// Set to 0, atomically, when tracing goes off because the file cannot be
    /// written. Valid for ever, or null.
    pub enabled: *mut u8,
    /// Bound of all buffers together, in bytes; 0 for the default of 64 MiB.
    pub max_buffer_bytes: u64,
    /// The last result of `lct_metadata_epoch` in the previous trace of this process; 0 without
    /// one.
    pub last_metadata_epoch: u32,
    /// The last result of `lct_new_id` in the previous trace; 0 without one.
    pub last_id: u32,
    /// What the trace lacks, `LCT_WITHOUT_…`.
    pub missing: u16,
    /// Where events go, one of `LCT_ANALYSIS_…`.
    pub analysis: u8,
    /// Owners are sampled: `lct_owner_sample` is called while threads wait for long.
    pub owner_samples: bool,
    /// Allocations of objects that may become contended locks are recorded, as far as
    /// `lct_allocated` is called.
    pub lock_sites: bool,
    /// Memory that an analysis in this process may take, in bytes; 0 for the default of 64 MiB.
    pub analysis_bytes: u64,
    /// The file for the report of such an analysis at its end: JSON if its name ends in `.json`,
    /// else text. Empty for ten lines on standard error.
    pub report: LctStr,
}

/// For [`LctConfig::analysis`]: events go to the file.
pub const LCT_ANALYSIS_FILE: u8 = 0;
/// For [`LctConfig::analysis`]: events are analyzed in this process, without a file.
pub const LCT_ANALYSIS_ONLINE: u8 = 1;
/// For [`LctConfig::analysis`]: both.
pub const LCT_ANALYSIS_BOTH: u8 = 2;

/// For [`LctConfig::missing`]: monitors are not traced.
pub const LCT_WITHOUT_MONITORS: u16 = 1 << 4;
/// For [`LctConfig::missing`]: parks are not traced.
pub const LCT_WITHOUT_PARKS: u16 = 1 << 5;
/// For [`LctConfig::missing`]: `lct_exclusive_release` is not called.
pub const LCT_WITHOUT_SYNCHRONIZERS: u16 = 1 << 6;
/// For [`LctConfig::missing`]: compiled code does not describe each position where a lock
/// is released.
pub const LCT_WITHOUT_POSITIONS: u16 = 1 << 7;

/// A kind of wait that the JVM may trace or not: enters of monitors.
pub const LCT_KIND_MONITOR: u8 = 1;
/// A kind of wait that the JVM may trace or not: parks.
pub const LCT_KIND_PARK: u8 = 2;

const _: () = {
    assert!(size_of::<LctConfig>() == 120); // as the C header asserts
    assert!(is_bit_of(
        Capabilities::WITHOUT_MONITORS,
        LCT_WITHOUT_MONITORS
    ));
    assert!(is_bit_of(Capabilities::WITHOUT_PARKS, LCT_WITHOUT_PARKS));
    assert!(is_bit_of(
        Capabilities::WITHOUT_SYNCHRONIZERS,
        LCT_WITHOUT_SYNCHRONIZERS
    ));
    assert!(is_bit_of(
        Capabilities::WITHOUT_POSITIONS,
        LCT_WITHOUT_POSITIONS
    ));
};

const fn is_bit_of(capability: Capabilities, bits: u16) -> bool {
    capability.contains(Capabilities::from_bits(bits)) && bits != 0
}

impl LctConfig {
    /// # Safety
    ///
    /// The texts are valid, and so is `enabled`.
    unsafe fn to_config(&self) -> Config {
        // SAFETY: as the caller promises.
        let (path, report, jvm, enabled) = unsafe {
            let enabled = (!self.enabled.is_null()).then(|| AtomicU8::from_ptr(self.enabled));
            (
                self.path.to_path(),
                self.report.to_path(),
                self.jvm.bytes(),
                enabled,
            )
        };
        Config {
            path,
            header: FileHeader {
                compressed: self.compress,
                capabilities: self.capabilities(),
                start_unix_ns: self.start_unix_ns,
                pid: self.pid,
                jvm: text::from_jvm(jvm).into_owned(),
            },
            start_ns: self.start_ns,
            enabled,
            max_buffer_bytes: self.max_buffer_bytes,
            crash_safe: self.crash_safe,
            mode: match self.analysis {
                LCT_ANALYSIS_ONLINE => Mode::Online,
                LCT_ANALYSIS_BOTH => Mode::Both,
                _ => Mode::File,
            },
            analysis_bytes: self.analysis_bytes,
            report: Some(report).filter(|name| !name.as_os_str().is_empty()),
            used: Used {
                metadata_epoch: self.last_metadata_epoch,
                entity_id: self.last_id,
            },
        }
    }

    /// What callers guarantee that follow `docs/c-abi.md`, and what they say themselves.
    fn capabilities(&self) -> Capabilities {
        let optional = |condition, capability| match condition {
            true => capability,
            false => Capabilities::default(),
        };
        let missing = Capabilities::from_bits(self.missing);
        Capabilities::HOLDS
            .union(Capabilities::ORDERED)
            .union(Capabilities::PERMITS)
            .union(Capabilities::SAFEPOINTS)
            .union(missing)
            .union(thread_times::capability())
            .union(optional(self.owner_samples, Capabilities::OWNER_SAMPLES))
            .union(optional(self.lock_sites, Capabilities::LOCK_SITES))
            .union(optional(
                !missing.contains(Capabilities::WITHOUT_MONITORS),
                Capabilities::OBJECT_WAITS,
            ))
    }
}

/// Creates the trace file and starts the drainer thread. If the file cannot be created,
/// returns null, and a NUL-terminated message in `error`, cut off at `error_len` bytes.
/// A named pipe is opened later, when a process reads it.
///
/// # Safety
///
/// `config` has valid texts, and `error` is null or points to `error_len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_start(
    config: &LctConfig,
    error: *mut u8,
    error_len: usize,
) -> *mut Runtime {
    // SAFETY: the caller promises valid texts.
    match Runtime::start(unsafe { config.to_config() }) {
        Ok(runtime) => runtime,
        Err(cause) => {
            if !error.is_null() {
                // SAFETY: the caller promises `error_len` writable bytes.
                unsafe { copy_message(&cause.to_string(), error, error_len) };
            }
            ptr::null_mut()
        }
    }
}

/// Ends the trace: writes everything that threads have written so far, and the end
/// marker. Waits for that at most `timeout_ms` milliseconds, and at most two seconds
/// while a pipe has no reader. The runtime stays valid; threads may go on writing, to no
/// effect.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_stop(runtime: &'static Runtime, timeout_ms: u32) {
    runtime.stop(Duration::from_millis(timeout_ms.into()));
}

/// Writes the name of the trace file to `name`, NUL-terminated and cut off at `len` bytes. It
/// differs from the one in the configuration if that was taken.
///
/// # Safety
///
/// `runtime` comes from `lct_start`, and `name` points to `len` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_file_name(runtime: &'static Runtime, name: *mut u8, len: usize) {
    // SAFETY: the caller promises `len` writable bytes.
    unsafe { copy_message(&runtime.path().to_string_lossy(), name, len) };
}

/// Frees the runtime of a trace that `lct_stop` has ended. Returns false, and frees
/// nothing, if the drainer is still at work, because `lct_stop` gave up waiting for it. May be
/// called again then.
///
/// # Safety
///
/// `runtime` comes from `lct_start`. All its tracers were given back to `lct_thread_end`
/// or `lct_thread_leave`, and no thread uses it during the call, or afterwards if this
/// returns true.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_end(runtime: *mut Runtime) -> bool {
    // SAFETY: as the caller promises.
    unsafe { Runtime::end(runtime) }
}

/// Notes a safepoint that is about to end: since `begin_ns` the JVM was stopping its threads, and
/// at `reached_ns` all had stopped. By one thread at a time.
///
/// # Safety
///
/// `runtime` comes from `lct_start`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lct_safepoint(
    runtime: &'static Runtime,
    begin_ns: u64,
    reached_ns: u64,
    end_ns: u64,
) {
    runtime.facts.safepoints.add(Safepoint {
        begin_ns: runtime.clock.since_start_ns(begin_ns),
        reached_ns: runtime.clock.since_start_ns(reached_ns),
        end_ns: runtime.clock.since_start_ns(end_ns),
    });
}
