/* Interface of the lock contention tracer to the JVM. Generated from src/ffi; see docs/c-abi.md. */

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 For [`LctConfig::analysis`]: events go to the file.
 */
#define LCT_ANALYSIS_FILE 0

/*
 For [`LctConfig::analysis`]: events are analyzed in this process, without a file.
 */
#define LCT_ANALYSIS_ONLINE 1

/*
 For [`LctConfig::analysis`]: both.
 */
#define LCT_ANALYSIS_BOTH 2

/*
 For [`LctConfig::missing`]: monitors are not traced.
 */
#define LCT_WITHOUT_MONITORS (1 << 4)

/*
 For [`LctConfig::missing`]: parks are not traced.
 */
#define LCT_WITHOUT_PARKS (1 << 5)

/*
 For [`LctConfig::missing`]: `lct_exclusive_release` is not called.
 */
#define LCT_WITHOUT_SYNCHRONIZERS (1 << 6)

/*
 For [`LctConfig::missing`]: compiled code does not describe each position where a lock
 is released.
 */
#define LCT_WITHOUT_POSITIONS (1 << 7)

/*
 A kind of wait that the JVM may trace or not: enters of monitors.
 */
#define LCT_KIND_MONITOR 1

/*
 A kind of wait that the JVM may trace or not: parks.
 */
#define LCT_KIND_PARK 2

/*
 In place of the duration of a hold: not known.
 */
#define LCT_HOLD_NOT_KNOWN UINT64_MAX

/*
 In place of the duration of a hold: the lock was acquired before any thread contended
 for it, that is, before the oldest wait that is open at the release.
 */
#define LCT_HOLD_BEFORE_CONTENTION (UINT64_MAX - 1)

/*
 A kind of hook: writes a contended enter.
 */
#define LCT_HOOK_ENTER 0

/*
 A kind of hook: writes a contended entered.
 */
#define LCT_HOOK_ENTERED 1

/*
 A kind of hook: writes a contended exit.
 */
#define LCT_HOOK_EXIT 2

/*
 A kind of hook: writes the begin of a park.
 */
#define LCT_HOOK_PARK_BEGIN 3

/*
 A kind of hook: writes the end of a park.
 */
#define LCT_HOOK_PARK_END 4

/*
 A kind of hook: writes an unpark.
 */
#define LCT_HOOK_UNPARK 5

/*
 A kind of hook: notes an acquisition without a contended enter, while others
 contend.
 */
#define LCT_HOOK_ACQUIRE 6

/*
 A kind of hook: writes the begin of a wait in `Object.wait`.
 */
#define LCT_HOOK_WAIT_BEGIN 7

/*
 A kind of hook: writes the end of a wait in `Object.wait`.
 */
#define LCT_HOOK_WAIT_END 8

/*
 A kind of hook: writes a notification.
 */
#define LCT_HOOK_NOTIFY 9

/*
 For `LctParkBegin::timeout_kind`: the thread parks without a timeout.
 */
#define LCT_TIMEOUT_NONE 0

/*
 For `LctParkBegin::timeout_kind`: the timeout is in nanoseconds.
 */
#define LCT_TIMEOUT_AFTER_NS 1

/*
 For `LctParkBegin::timeout_kind`: the timeout is a time of the wall clock, in
 milliseconds since 1970.
 */
#define LCT_TIMEOUT_AT_UNIX_MS 2

/*
 For `LctParkEnd::reason`: another thread unparked it.
 */
#define LCT_PARK_UNPARKED 0

/*
 For `LctParkEnd::reason`: it had the permit and did not block.
 */
#define LCT_PARK_PERMIT_AVAILABLE 1

/*
 For `LctParkEnd::reason`: it was interrupted.
 */
#define LCT_PARK_INTERRUPTED 2

/*
 For `LctParkEnd::reason`: it timed out.
 */
#define LCT_PARK_TIMED_OUT 3

/*
 For `LctParkEnd::reason`: none of the others.
 */
#define LCT_PARK_SPURIOUS 4

/*
 In place of the outermost frame of a key: the chain allocates an object, and the trace may
 refer to it long after the code of its frames is gone.
 */
#define LCT_SITE_FRAME 2305843009213693952

/*
 One trace. Threads may use it at any time until [`Runtime::end`].
 */
typedef struct LctRuntime LctRuntime;

/*
 Writes the events of one thread, which alone uses it. Another thread may have
 created it: nothing in it depends on the thread.
 */
typedef struct LctThread LctThread;

/*
 The key of a call chain: the sequence of physical frames, outermost
 first, each packed into 64 bits that never stand for another frame.
 */
typedef struct LctChainKey {
  /*
   Outermost frame.
   */
  const uint64_t *frames;
  /*
   Number of frames.
   */
  size_t len;
  /*
   `lct_chain_hash` of all of them.
   */
  uint64_t hash;
} LctChainKey;

/*
 One frame of a call chain.
 */
typedef struct LctFrame {
  /*
   Identifier of the method executed.
   */
  uint32_t method;
  /*
   Byte code index, -1 without one.
   */
  int32_t bci;
  /*
   Source line, -1 if not known.
   */
  int32_t line;
} LctFrame;

/*
 Text that the callee only reads during the call: UTF-8, or modified UTF-8 as
 in the JVM's symbols. A null `ptr` is empty text.
 */
typedef struct LctStr {
  /*
   First byte.
   */
  const uint8_t *ptr;
  /*
   Number of bytes.
   */
  size_t len;
} LctStr;

/*
 How to trace.
 */
typedef struct LctConfig {
  /*
   The trace file to be created. If its name is taken, the file gets a number.
   */
  struct LctStr path;
  /*
   Compress the file.
   */
  bool compress;
  /*
   Keep events that are not in the file yet where they outlive the process: in a
   file next to the trace, which is removed at its end.
   */
  bool crash_safe;
  /*
   Wall clock at the trace's start, in nanoseconds since 1970.
   */
  uint64_t start_unix_ns;
  /*
   Monotonic clock at the trace's start, in nanoseconds.
   */
  uint64_t start_ns;
  /*
   Process id.
   */
  uint32_t pid;
  /*
   Version of the JVM.
   */
  struct LctStr jvm;
  /*
   Set to 0, atomically, when tracing goes off because the file cannot be
   written. Valid for ever, or null.
   */
  uint8_t *enabled;
  /*
   Bound of all buffers together, in bytes; 0 for the default of 64 MiB.
   */
  uint64_t max_buffer_bytes;
  /*
   The last result of `lct_metadata_epoch` in the previous trace of this process; 0 without
   one.
   */
  uint32_t last_metadata_epoch;
  /*
   The last result of `lct_new_id` in the previous trace; 0 without one.
   */
  uint32_t last_id;
  /*
   What the trace lacks, `LCT_WITHOUT_…`.
   */
  uint16_t missing;
  /*
   Where events go, one of `LCT_ANALYSIS_…`.
   */
  uint8_t analysis;
  /*
   Owners are sampled: `lct_owner_sample` is called while threads wait for long.
   */
  bool owner_samples;
  /*
   Allocations of objects that may become contended locks are recorded, as far as
   `lct_allocated` is called.
   */
  bool lock_sites;
  /*
   Memory that an analysis in this process may take, in bytes; 0 for the default of 64 MiB.
   */
  uint64_t analysis_bytes;
  /*
   The file for the report of such an analysis at its end: JSON if its name ends in `.json`,
   else text. Empty for ten lines on standard error.
   */
  struct LctStr report;
} LctConfig;

/*
 A class.
 */
typedef struct LctClass {
  /*
   Its identifier.
   */
  uint32_t class_id;
  /*
   Identifier of its superclass, 0 for `java.lang.Object` or without one.
   */
  uint32_t super_class;
  /*
   Address of the `ClassLoaderData` of its loader, 0 for the boot loader.
   */
  uint64_t loader;
  /*
   Its name, with dots.
   */
  struct LctStr name;
  /*
   Name of its source file.
   */
  struct LctStr source_file;
  /*
   Name of the loader's class.
   */
  struct LctStr loader_class;
} LctClass;

/*
 A method.
 */
typedef struct LctMethod {
  /*
   Its identifier.
   */
  uint32_t method_id;
  /*
   Identifier of its class.
   */
  uint32_t class_id;
  /*
   Its name.
   */
  struct LctStr name;
  /*
   Its descriptor, as in the class file.
   */
  struct LctStr signature;
} LctMethod;

/*
 The tracer's state in each monitor. All zero in a fresh monitor. Every access is
 atomic.
 */
typedef struct LctLock {
  /*
   Identifier of the lock; 0 if the monitor was not contended since its
   inflation.
   */
  uint64_t id;
  /*
   The sequence number taken last; the description has 0.
   */
  uint64_t last_sequence;
} LctLock;

/*
 The object that a lock belongs to.
 */
typedef struct LctLockDescription {
  /*
   `LctLock::id`.
   */
  uint64_t lock;
  /*
   Address of the monitor.
   */
  uint64_t monitor_address;
  /*
   Identifier of the object's class.
   */
  uint32_t class_id;
  /*
   Identifier of the class meant, if the object is a `java.lang.Class` or what the JVM
   locks to initialize a class; otherwise 0.
   */
  uint32_t mirrored_class;
  /*
   Identity hash of the object.
   */
  uint32_t identity_hash;
} LctLockDescription;

/*
 The thread that owns a monitor. Both fields are 0 if no thread owns it, or the owner is
 not known.
 */
typedef struct LctOwner {
  /*
   Its number, from `lct_thread_number`; 0 if only the address is known.
   */
  uint32_t thread;
  /*
   An address on its stack.
   */
  uint64_t stack_address;
} LctOwner;

/*
 The thread failed to acquire a lock and is about to block.
 */
typedef struct LctContendedEnter {
  /*
   `LctLock::id`.
   */
  uint64_t lock;
  /*
   From `lct_lock_next_sequence`.
   */
  uint64_t sequence;
  /*
   When.
   */
  uint64_t time_ns;
  /*
   A thread that had the lock at some moment since the sequence number was taken.
   */
  struct LctOwner owner;
  /*
   Identifier of the thread's call chain.
   */
  uint32_t chain;
  /*
   To acquire the lock again after `Object.wait`.
   */
  bool after_wait;
} LctContendedEnter;

/*
 The thread acquired the lock it was blocked on.
 */
typedef struct LctContendedEntered {
  /*
   `LctLock::id`.
   */
  uint64_t lock;
  /*
   From `lct_lock_next_sequence`.
   */
  uint64_t sequence;
  /*
   When.
   */
  uint64_t time_ns;
  /*
   How much of the wait the JVM spent in safepoints.
   */
  uint64_t safepoint_ns;
} LctContendedEntered;

/*
 The thread released a lock for which others contend.
 */
typedef struct LctContendedExit {
  /*
   `LctLock::id`.
   */
  uint64_t lock;
  /*
   From `lct_lock_next_sequence`.
   */
  uint64_t sequence;
  /*
   When.
   */
  uint64_t time_ns;
  /*
   How long the thread had held it, in nanoseconds, or one of `LCT_HOLD_…`.
   */
  uint64_t hold_ns;
} LctContendedExit;

/*
 Where a thread stands that owns a lock for which others wait.
 */
typedef struct LctOwnerSample {
  /*
   When.
   */
  uint64_t time_ns;
  /*
   Since when the lock's owner, whichever thread it was, could be sampled.
   */
  uint64_t since_ns;
  /*
   The time that the sample stands for: the mean time between two moments for samples,
   and the time without any because threads were being stopped.
   */
  uint64_t interval_ns;
  /*
   The owner's number, from `lct_thread_number`.
   */
  uint32_t owner;
  /*
   Identifier of its call chain.
   */
  uint32_t chain;
} LctOwnerSample;

/*
 A place in an order.
 */
typedef struct LctNumber {
  /*
   Which order it is.
   */
  uint64_t domain;
  /*
   The sequence number.
   */
  uint64_t sequence;
} LctNumber;

/*
 The thread parks.
 */
typedef struct LctParkBegin {
  /*
   The event's place.
   */
  struct LctNumber number;
  /*
   When.
   */
  uint64_t time_ns;
  /*
   How long at most, as `timeout_kind` says.
   */
  uint64_t timeout;
  /*
   `Thread.getId()` of the thread that owns the blocker, 0 if not known.
   */
  uint64_t owner;
  /*
   Identifier of the blocker's class, 0 without one.
   */
  uint32_t blocker_class;
  /*
   Identity hash of the blocker.
   */
  uint32_t blocker_hash;
  /*
   Identifier of the thread's call chain.
   */
  uint32_t chain;
  /*
   One of `LCT_TIMEOUT_…`.
   */
  uint8_t timeout_kind;
  /*
   The thread is still in the blocker's queue since its previous park.
   */
  bool continued;
  /*
   The thread waits in `Object.wait`, for a notification of the blocker.
   */
  bool monitor;
} LctParkBegin;

/*
 The thread no longer parks.
 */
typedef struct LctParkEnd {
  /*
   The event's place.
   */
  struct LctNumber number;
  /*
   When.
   */
  uint64_t time_ns;
  /*
   How much of the time the JVM spent in safepoints.
   */
  uint64_t safepoint_ns;
  /*
   `Thread.getId()` of the thread that owns the blocker, 0 if not known.
   */
  uint64_t owner;
  /*
   The permit consumed, 0 for none; in `Object.wait`, what `lct_notification_permit` returns for
   the notification.
   */
  uint32_t permit;
  /*
   One of `LCT_PARK_…`.
   */
  uint8_t reason;
  /*
   The unpark that gave the permit has its place in the order of this
   thread, not in the order of the blocker.
   */
  bool unpark_elsewhere;
  /*
   The begin was of `Object.wait`.
   */
  bool monitor;
} LctParkEnd;

/*
 The thread unparks another one.
 */
typedef struct LctUnpark {
  /*
   The event's place.
   */
  struct LctNumber number;
  /*
   When.
   */
  uint64_t time_ns;
  /*
   `Thread.getId()` of the other thread, 0 where `Object.notifyAll` notifies all that wait.
   */
  uint64_t target;
  /*
   `Thread.getId()` of the thread that owns the blocker, 0 if not known.
   */
  uint64_t owner;
  /*
   The permit given, 0 if the target had one, and in a notification.
   */
  uint32_t permit;
  /*
   Identifier of the class of what the target parks on, 0 if it does not.
   */
  uint32_t blocker_class;
  /*
   Identity hash of that object.
   */
  uint32_t blocker_hash;
  /*
   Identifier of the thread's call chain.
   */
  uint32_t chain;
  /*
   By an interrupt.
   */
  bool interrupt;
  /*
   The blocker is a semaphore of which the thread has never acquired a permit.
   */
  bool never_acquired;
  /*
   In a notification: how many threads waited in `Object.wait`; otherwise 0.
   */
  uint32_t waiters;
} LctUnpark;

/*
 The thread is about to release a synchronizer that it owns alone.
 */
typedef struct LctExclusiveRelease {
  /*
   The event's place.
   */
  struct LctNumber number;
  /*
   When.
   */
  uint64_t time_ns;
  /*
   How long the thread has owned it, in nanoseconds, or one of `LCT_HOLD_…`.
   */
  uint64_t hold_ns;
  /*
   Identifier of the synchronizer's class.
   */
  uint32_t blocker_class;
  /*
   Identity hash of the synchronizer.
   */
  uint32_t blocker_hash;
  /*
   Identifier of the thread's call chain.
   */
  uint32_t chain;
} LctExclusiveRelease;

/*
 The subject of a report. Each text may be empty, for the default of `locktrace report`.
 */
typedef struct LctQuestion {
  /*
   Aspects, separated by commas, outermost first.
   */
  struct LctStr by;
  /*
   The most rows on one level; 0 for all.
   */
  struct LctStr top;
  /*
   Kinds of waits, separated by commas, or `all`.
   */
  struct LctStr kind;
  /*
   Only waits that ended since: `10s` after the trace's start, or `-10s` before now.
   */
  struct LctStr from;
  /*
   `text` or `json`.
   */
  struct LctStr format;
} LctQuestion;

/*
 Text made by the runtime, to be given back to `lct_text_free`.
 */
typedef struct LctText {
  /*
   First byte of UTF-8, or null.
   */
  uint8_t *ptr;
  /*
   Number of bytes.
   */
  size_t len;
} LctText;

/*
 The memory of a thread's stack.
 */
typedef struct LctStack {
  /*
   Its lowest address.
   */
  uint64_t lowest;
  /*
   Its size in bytes; 0 if not known.
   */
  uint64_t size;
} LctStack;

/*
 A thread that starts.
 */
typedef struct LctThreadStart {
  /*
   `Thread.getId()`, or 0 for a thread of the JVM itself.
   */
  uint64_t java_id;
  /*
   Its name.
   */
  struct LctStr name;
  /*
   The address by which monitors name the thread as their owner; 0 if it owns none.
   */
  uint64_t vm_thread;
  /*
   Where it may keep locks.
   */
  struct LctStack stack;
  /*
   When it started.
   */
  uint64_t time_ns;
} LctThreadStart;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Returns the hash of a part of a call chain: of `len` frames, outermost first, inside
 `outer_len` others. The hash of a chain is the sum of those of its parts.

 # Safety

 `frames` points to `len` values.
 */
uint64_t lct_chain_hash(size_t outer_len, const uint64_t *frames, size_t len);

/*
 Returns the call chain with the given key, or 0 if it must be added. Of
 the key's frames, `saved` were taken from an earlier walk.

 # Safety

 `thread` is null or comes from `lct_thread_start`; the key is valid.
 */
uint32_t lct_chain_find(struct LctThread *thread, struct LctChainKey key, size_t saved);

/*
 Returns `chain`, which `lct_chain_find` or `lct_chain_add` has returned in the metadata
 epoch `epoch`, for the same `len` frames of code that still lives; 0 if it may have to
 be described again. `saved` frames were taken from an earlier walk.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
uint32_t lct_chain_again(struct LctThread *thread,
                         uint32_t chain,
                         uint32_t epoch,
                         size_t len,
                         size_t saved);

/*
 Adds a call chain. `frames`, innermost first, are the key's frames with the inlined ones
 resolved; `truncated` if outer ones are missing. Returns the chain's
 identifier, also if another thread was first, or 0 when memory is short.

 # Safety

 `thread` is null or comes from `lct_thread_start`; the key is valid, and `frames` points
 to `frames_len` frames.
 */
uint32_t lct_chain_add(struct LctThread *thread,
                       struct LctChainKey key,
                       const struct LctFrame *frames,
                       size_t frames_len,
                       bool truncated);

/*
 Notes that a compiled method was flushed: no thread has a frame of it, and
 none ever will. Call chains with such frames are forgotten.

 # Safety

 `runtime` comes from `lct_start`.
 */
void lct_code_flushed(const struct LctRuntime *runtime, uint32_t compile_id);

/*
 Notes that a method is freed: no thread has an interpreted frame of it, and
 none ever will. Call chains with such frames are forgotten, and so is the
 method. Does nothing for 0. At a safepoint.

 # Safety

 `runtime` comes from `lct_start`.
 */
void lct_method_freed(const struct LctRuntime *runtime, uint32_t method_id);

/*
 Creates the trace file and starts the drainer thread. If the file cannot be created,
 returns null, and a NUL-terminated message in `error`, cut off at `error_len` bytes.
 A named pipe is opened later, when a process reads it.

 # Safety

 `config` has valid texts, and `error` is null or points to `error_len` writable bytes.
 */
struct LctRuntime *lct_start(const struct LctConfig *config, uint8_t *error, size_t error_len);

/*
 Ends the trace: writes everything that threads have written so far, and the end
 marker. Waits for that at most `timeout_ms` milliseconds, and at most two seconds
 while a pipe has no reader. The runtime stays valid; threads may go on writing, to no
 effect.

 # Safety

 `runtime` comes from `lct_start`.
 */
void lct_stop(const struct LctRuntime *runtime, uint32_t timeout_ms);

/*
 Writes the name of the trace file to `name`, NUL-terminated and cut off at `len` bytes. It
 differs from the one in the configuration if that was taken.

 # Safety

 `runtime` comes from `lct_start`, and `name` points to `len` writable bytes.
 */
void lct_file_name(const struct LctRuntime *runtime, uint8_t *name, size_t len);

/*
 Frees the runtime of a trace that `lct_stop` has ended. Returns false, and frees
 nothing, if the drainer is still at work, because `lct_stop` gave up waiting for it. May be
 called again then.

 # Safety

 `runtime` comes from `lct_start`. All its tracers were given back to `lct_thread_end`
 or `lct_thread_leave`, and no thread uses it during the call, or afterwards if this
 returns true.
 */
bool lct_end(struct LctRuntime *runtime);

/*
 Notes a safepoint that is about to end: since `begin_ns` the JVM was stopping its threads, and
 at `reached_ns` all had stopped. By one thread at a time.

 # Safety

 `runtime` comes from `lct_start`.
 */
void lct_safepoint(const struct LctRuntime *runtime,
                   uint64_t begin_ns,
                   uint64_t reached_ns,
                   uint64_t end_ns);

/*
 Returns the processor's cycle counter, to be read when a hook begins.
 */
uint64_t lct_cycles(void);

/*
 Counts a hook of a kind (`LCT_HOOK_…`) that ends with this call. It began at
 `begin_cycles`, or went on then after a break; `first_begin_cycles` and
 `first_end_cycles` are those of the part before the break, and equal without one. Its
 cycles count for `weight` hooks; 0 if they were not measured.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_hook_end(struct LctThread *thread,
                  uint8_t kind,
                  uint32_t weight,
                  uint64_t begin_cycles,
                  uint64_t first_begin_cycles,
                  uint64_t first_end_cycles);

/*
 Returns the current epoch of metadata, at first 1. What was described in an older
 epoch may have been lost and must be described again.

 # Safety

 `runtime` comes from `lct_start`.
 */
uint32_t lct_metadata_epoch(const struct LctRuntime *runtime);

/*
 Returns a fresh identifier for a class or a method; never 0, never the same again.

 # Safety

 `runtime` comes from `lct_start`.
 */
uint32_t lct_new_id(const struct LctRuntime *runtime);

/*
 Describes a class.

 # Safety

 `thread` is null or comes from `lct_thread_start`; the texts are valid.
 */
void lct_class(struct LctThread *thread, const struct LctClass *description);

/*
 Describes a method.

 # Safety

 `thread` is null or comes from `lct_thread_start`; the texts are valid.
 */
void lct_method(struct LctThread *thread, const struct LctMethod *description);

/*
 Notes that a loader's classes are unloaded. The caller has called
 `lct_reclaim_all` before, in the same safepoint, so that everything
 written about the classes precedes this, and calls `lct_submit` before its end.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_loader_unload(struct LctThread *thread, uint64_t loader, uint64_t time_ns);

/*
 Gives a lock an identifier if it has none. Returns true to the one caller
 that did: it must call `lct_lock_describe`.

 # Safety

 `runtime` comes from `lct_start`; `lock` points to a lock.
 */
bool lct_lock_claim(const struct LctRuntime *runtime, struct LctLock *lock);

/*
 Describes a lock that the caller has claimed; this is its sequence number 0.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_lock_describe(struct LctThread *thread, const struct LctLockDescription *description);

/*
 Ends a lock, taking its last sequence number, and zeroes it. Does nothing if
 the lock has no identifier. Called at a safepoint, when the monitor is
 deflated.

 # Safety

 `thread` is null or comes from `lct_thread_start`; `lock` points to a lock.
 */
void lct_lock_retire(struct LctThread *thread, struct LctLock *lock);

/*
 Takes the next sequence number of a lock. The caller must write an event with
 it.

 # Safety

 `lock` points to a lock.
 */
uint64_t lct_lock_next_sequence(struct LctLock *lock);

/*
 Notes that the thread is about to block on a lock.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_contended_enter(struct LctThread *thread, const struct LctContendedEnter *enter);

/*
 Notes that the thread acquired the lock it was blocked on.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_contended_entered(struct LctThread *thread, const struct LctContendedEntered *entered);

/*
 Notes that the thread released a lock for which others contend. `chain` is
 the call chain that held it, or 0.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_contended_exit(struct LctThread *thread,
                        const struct LctContendedExit *exit,
                        uint32_t chain);

/*
 As `lct_contended_exit`, but the lock was released by `Object.wait`:
 `forward_ref` stands for the chain until `lct_forward_resolve`.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_contended_exit_forward(struct LctThread *thread,
                                const struct LctContendedExit *exit,
                                uint64_t forward_ref);

/*
 Returns a fresh forward reference; never 0, never the same again.

 # Safety

 `runtime` comes from `lct_start`.
 */
uint64_t lct_new_forward_ref(const struct LctRuntime *runtime);

/*
 Names the chain that a forward reference stands for.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_forward_resolve(struct LctThread *thread, uint64_t forward_ref, uint32_t chain);

/*
 Notes where another thread stands that owns a lock for which others wait. At a safepoint,
 with `lct_submit` before its end: so samples precede whatever the owner writes about
 the end of its hold.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_owner_sample(struct LctThread *thread, const struct LctOwnerSample *sample);

/*
 Counts samples of owners, of which `due` would have been due if they cost nothing. All
 threads were stopped for `stopped_ns` to take them; 0 if they were not. `pause_begins` if
 that has used up the budget, and no samples follow for some time.

 # Safety

 `runtime` comes from `lct_start`.
 */
void lct_count_owner_samples(const struct LctRuntime *runtime,
                             uint64_t samples,
                             uint64_t due,
                             uint64_t stopped_ns,
                             bool pause_begins);

/*
 Takes the next place in the order of `key`: the identity hash of a
 blocker, or without one the `Thread.getId()` of the thread that parks. The
 caller must write an event with it.

 # Safety

 `runtime` comes from `lct_start`.
 */
struct LctNumber lct_park_number(const struct LctRuntime *runtime, uint64_t key);

/*
 Returns the permit by which the end of a wait in `Object.wait` names the notification with this
 sequence number; 0 for 0.
 */
uint32_t lct_notification_permit(uint64_t sequence);

/*
 Notes that the thread parks.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_park_begin(struct LctThread *thread, const struct LctParkBegin *park);

/*
 Notes that the thread no longer parks.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_park_end(struct LctThread *thread, const struct LctParkEnd *park);

/*
 Notes that the thread unparks another one, after it has.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_unpark(struct LctThread *thread, const struct LctUnpark *unpark);

/*
 Notes that the thread is about to release a synchronizer that it owns alone and on
 which other threads are parked. The number is taken before the release.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_exclusive_release(struct LctThread *thread, const struct LctExclusiveRelease *release);

/*
 Copies the trace so far to a file of its own, which gets a number if its name is taken.
 Writes the name of the copy to `text`, or, if it returns false, why the copy failed:
 NUL-terminated, and cut off at `len` bytes. Waits for the drainer for at most ten
 seconds, and then for as long as the copying takes.

 # Safety

 `runtime` comes from `lct_start`, and is not freed during the call. `path` is valid, and
 `text` points to `len` writable bytes.
 */
bool lct_dump(const struct LctRuntime *runtime, struct LctStr path, uint8_t *text, size_t len);

/*
 Reports on the trace so far. Writes the report to `text`, or, if it returns
 false, why it failed; to be given back to `lct_text_free`. Waits for the
 drainer for at most ten seconds, and for the analysis for at most thirty.

 # Safety

 `runtime` comes from `lct_start`, and is not freed during the call. The texts of `question`
 are valid, and `text` is writable.
 */
bool lct_report(const struct LctRuntime *runtime,
                const struct LctQuestion *question,
                struct LctText *text);

/*
 Frees a text made by the runtime.

 # Safety

 `text` comes from the runtime, and is not used afterwards.
 */
void lct_text_free(struct LctText text);

/*
 Notes where the thread has allocated an object, in case it becomes a contended lock. `chain`
 begins with [`LCT_SITE_FRAME`].

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_allocated(struct LctThread *thread,
                   uint32_t class_id,
                   uint32_t identity_hash,
                   uint32_t chain);

/*
 Writes where an object was allocated that is a contended lock, if that is known. Called
 before the lock is described, by `lct_lock_describe` or the begin of a park, and after the
 number for that was taken. Without `again`, writes nothing that the trace already has.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_tell_site(struct LctThread *thread, uint32_t class_id, uint32_t identity_hash, bool again);

/*
 Counts objects whose allocation was recorded, objects of the same classes whose allocation
 was not, and the time of threads that the recording took.

 # Safety

 `runtime` comes from `lct_start`.
 */
void lct_count_allocated(const struct LctRuntime *runtime,
                         uint64_t recorded,
                         uint64_t skipped,
                         uint64_t recording_ns);

/*
 Counts a stop of all threads that began to record the allocations of some classes and gave up
 others.

 # Safety

 `runtime` comes from `lct_start`.
 */
void lct_count_site_stop(const struct LctRuntime *runtime,
                         uint64_t classes,
                         uint64_t given_up,
                         uint64_t methods_discarded,
                         uint64_t stopped_ns);

/*
 Returns a tracer for a thread, to be ended with `lct_thread_end`; null when memory is short.

 # Safety

 `runtime` comes from `lct_start`; the name is valid.
 */
struct LctThread *lct_thread_start(const struct LctRuntime *runtime,
                                   const struct LctThreadStart *start);

/*
 Sets the number by which the operating system knows the tracer's thread (`gettid`): the
 runtime asks it how long the thread was on a processor, and how long it waited for one.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_thread_os_id(struct LctThread *thread, uint32_t os_id);

/*
 Returns the number in the trace of the thread that `vm_thread` names; 0 without such a thread
 at present, or if its number is not known. The caller has to make sure by other means that
 the thread did not end meanwhile and another one take its place.

 # Safety

 `runtime` comes from `lct_start`.
 */
uint32_t lct_thread_number(const struct LctRuntime *runtime, uint64_t vm_thread);

/*
 Notes the new name of the thread that `vm_thread` names, if it has a tracer, which writes the
 name before its next event: of names that change faster, only the last one. By any thread, at
 any time; the pointer is not followed.

 # Safety

 `runtime` comes from `lct_start`.
 */
void lct_thread_rename(const struct LctRuntime *runtime,
                       uint64_t vm_thread,
                       uint64_t java_id,
                       struct LctStr name);

/*
 Ends a tracer with its thread. The pointer is not valid afterwards.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_thread_end(struct LctThread *thread, uint64_t time_ns);

/*
 Frees the tracer of a thread that goes on, because the trace ends. Hands its buffer
 to the drainer. By any thread, while the tracer's thread does not use it.

 # Safety

 `thread` is null or comes from `lct_thread_start`, and is not used afterwards.
 */
void lct_thread_leave(struct LctThread *thread);

/*
 Hands what the thread has written to the drainer.

 # Safety

 `thread` is null or comes from `lct_thread_start`.
 */
void lct_submit(struct LctThread *thread);

/*
 Hands the buffers of all threads to the drainer, except those that are
 being written to at this moment.

 # Safety

 `runtime` comes from `lct_start`.
 */
void lct_reclaim_all(const struct LctRuntime *runtime);

/*
 Counts the memory that the caller keeps for its threads: `change_bytes` more, or less if
 negative.

 # Safety

 `runtime` comes from `lct_start`.
 */
void lct_count_thread_memory(const struct LctRuntime *runtime, int64_t change_bytes);

/*
 Changes the number of threads that were already waiting when the trace began and have no event
 that says so: up by those for which time was too short, down by those described later.

 # Safety

 `runtime` comes from `lct_start`.
 */
void lct_count_untold_waits(const struct LctRuntime *runtime, int32_t change);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

/* Fails to compile where this layout is not the one that Rust sees: C99 and C++98 know no static_assert. */
typedef char lct_assert_lock_size[sizeof(LctLock) == 16 ? 1 : -1];
typedef char lct_assert_lock_last_sequence[offsetof(LctLock, last_sequence) == 8 ? 1 : -1];
typedef char lct_assert_frame_size[sizeof(LctFrame) == 12 ? 1 : -1];
typedef char lct_assert_frame_line[offsetof(LctFrame, line) == 8 ? 1 : -1];
typedef char lct_assert_lock_description_size[sizeof(LctLockDescription) == 32 ? 1 : -1];
typedef char lct_assert_contended_enter_size[sizeof(LctContendedEnter) == 48 ? 1 : -1];
typedef char lct_assert_contended_entered_size[sizeof(LctContendedEntered) == 32 ? 1 : -1];
typedef char lct_assert_contended_exit_size[sizeof(LctContendedExit) == 32 ? 1 : -1];
typedef char lct_assert_class_size[sizeof(LctClass) == 64 ? 1 : -1];
typedef char lct_assert_method_size[sizeof(LctMethod) == 40 ? 1 : -1];
typedef char lct_assert_thread_start_size[sizeof(LctThreadStart) == 56 ? 1 : -1];
typedef char lct_assert_str_size[sizeof(LctStr) == 16 ? 1 : -1];
typedef char lct_assert_stack_size[sizeof(LctStack) == 16 ? 1 : -1];
typedef char lct_assert_owner_size[sizeof(LctOwner) == 16 ? 1 : -1];
typedef char lct_assert_park_begin_size[sizeof(LctParkBegin) == 56 ? 1 : -1];
typedef char lct_assert_park_end_size[sizeof(LctParkEnd) == 48 ? 1 : -1];
typedef char lct_assert_unpark_size[sizeof(LctUnpark) == 64 ? 1 : -1];
typedef char lct_assert_exclusive_release_size[sizeof(LctExclusiveRelease) == 48 ? 1 : -1];
typedef char lct_assert_config_size[sizeof(LctConfig) == 120 ? 1 : -1];
