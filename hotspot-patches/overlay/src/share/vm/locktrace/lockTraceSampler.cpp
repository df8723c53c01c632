/*
 * Copyright (c) 2026, the locktrace contributors.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation. It is subject to the
 * "Classpath" exception as provided in the LICENSE file.
 */

#include "precompiled.hpp"
#include "classfile/javaClasses.hpp"
#include "locktrace/lockTrace.hpp"
#include "locktrace/lockTraceEvents.hpp"
#include "locktrace/lockTraceHelperThread.hpp"
#include "locktrace/lockTraceParks.hpp"
#include "locktrace/lockTraceSampler.hpp"
#include "locktrace/lockTraceStackWalk.hpp"
#include "locktrace/lockTraceStop.hpp"
#include "memory/resourceArea.hpp"
#include "runtime/handles.inline.hpp"
#include "runtime/mutexLocker.hpp"
#include "runtime/os.hpp"
#include "runtime/safepoint.hpp"
#include "runtime/thread.inline.hpp"

#include <math.h>

jlong         LockTraceSampler::_threshold_ns = 0;
volatile jint LockTraceSampler::_waits_began = 0;

// The budget is in thousandths of the time.
static const jlong WholeBudget = 1000;

jlong LockTraceSampler::default_threshold_ns() {
  uintx ms = MIN2(LockContentionOwnerSampleThreshold, (uintx) max_jint);
  return threshold_ns((jlong) ms * NANOSECS_PER_MILLISEC);
}

// Moments come no nearer than milliseconds.
jlong LockTraceSampler::threshold_ns(jlong wanted_ns) {
  if (wanted_ns <= 0 || LockContentionOwnerSampleBudget == 0) return 0;
  return MAX2(wanted_ns, (jlong) NANOSECS_PER_MILLISEC);
}

// ---------------------------------------------------------------------------
// Who waits for long

// One thread for each lock that is waited for longer than the threshold: the one that waits
// the longest. Found while threads run, so that who waits, and for whom, is looked at again
// at the safepoint.
class LockTraceLongWaits : public StackObj {
 public:
  // Locks beyond are looked at another time.
  enum { max_locks = 64 };

  struct Wait {
    Handle   java_thread;
    jlong    since_ns;
    intptr_t awaited;
  };

 private:
  Wait _waits[max_locks];
  int  _count;
  bool _any;

  void add(JavaThread* self, JavaThread* waiter, jlong since_ns, intptr_t awaited);

 public:
  LockTraceLongWaits(JavaThread* self, jlong now_ns, jlong threshold_ns);

  int count() const                  { return _count; }
  const Wait& at(int index) const    { return _waits[index]; }
  // Threads wait, for however long.
  bool any() const                   { return _any; }
};

LockTraceLongWaits::LockTraceLongWaits(JavaThread* self, jlong now_ns, jlong threshold_ns) : _count(0), _any(false) {
  MutexLocker threads(Threads_lock, self);
  for (JavaThread* thread = Threads::first(); thread != NULL; thread = thread->next()) {
    jlong since_ns = thread->locktrace()->waits_since_ns();
    if (since_ns == 0) continue;
    _any = true;
    if (now_ns - since_ns < threshold_ns) continue;
    intptr_t awaited = thread->locktrace()->waits_for();
    add(self, thread, since_ns, awaited);
  }
}

void LockTraceLongWaits::add(JavaThread* self, JavaThread* waiter, jlong since_ns, intptr_t awaited) {
  for (int i = 0; i < _count; i++) {
    if (_waits[i].awaited != awaited) continue;
    if (since_ns < _waits[i].since_ns) {
      _waits[i].since_ns = since_ns;
      _waits[i].java_thread = Handle(self, waiter->threadObj());
    }
    return;
  }
  if (_count == max_locks || waiter->threadObj() == NULL) return;
  // Latches, and others that nobody owns, are parked on for ever.
  if (LockTracePark::is_parked(waiter) && LockTracePark::owner_of(waiter) == NULL) return;
  _waits[_count].java_thread = Handle(self, waiter->threadObj());
  _waits[_count].since_ns = since_ns;
  _waits[_count].awaited = awaited;
  _count++;
}

// ---------------------------------------------------------------------------
// The samples

class LockTraceSampleOwners : public LockTraceStop {
 private:
  // More would stop all threads for too long at once.
  enum { max_owners = 8 };

  const LockTraceLongWaits& _waits;
  const uint32_t _session;
  const int      _first;          // of the waits, at random: there may be too many
  const jlong    _threshold_ns;
  const jlong    _interval_ns;    // mean time from one moment to the next
  const jlong    _requested_ns;
  JavaThread*    _owners[max_owners];
  int            _count;          // of owners
  int            _samples;

  void run();
  void sample_all(jlong now_ns);
  bool is_new(JavaThread* owner);
  void sample(JavaThread* owner, jlong since_ns, jlong now_ns);

 public:
  LockTraceSampleOwners(const LockTraceLongWaits& waits, uint32_t session, jlong threshold_ns, jlong interval_ns)
    : _waits(waits), _session(session), _first(os::random() % waits.count()), _threshold_ns(threshold_ns),
      _interval_ns(interval_ns), _requested_ns(os::javaTimeNanos()), _count(0), _samples(0) {}

  int samples() const { return _samples; }
};

void LockTraceSampleOwners::run() {
  if (LockTrace::is_going_on(_session)) sample_all(os::javaTimeNanos());
}

void LockTraceSampleOwners::sample_all(jlong now_ns) {
  for (int i = 0; i < _waits.count() && _count < max_owners; i++) {
    const LockTraceLongWaits::Wait& wait = _waits.at((_first + i) % _waits.count());
    // NULL if the thread has ended.
    JavaThread* waiter = java_lang_Thread::thread(wait.java_thread());
    if (waiter == NULL || waiter->locktrace()->waits_since_ns() != wait.since_ns) continue;
    JavaThread* owner = LockTracePark::is_parked(waiter) ? LockTracePark::owner_of(waiter) : LockTraceEnter::owner_of(waiter);
    if (owner == NULL || owner == waiter || !is_new(owner)) continue;
    sample(owner, wait.since_ns, now_ns);
  }
  // Before whatever the owners write about the end of their holds.
  if (_samples > 0) lct_submit(LockTrace::_vm_thread_tracer);
}

// An owner of several locks is sampled once.
bool LockTraceSampleOwners::is_new(JavaThread* owner) {
  for (int i = 0; i < _count; i++) {
    if (_owners[i] == owner) return false;
  }
  _owners[_count++] = owner;
  return true;
}

void LockTraceSampleOwners::sample(JavaThread* owner, jlong since_ns, jlong now_ns) {
  LctThread* tracer = LockTrace::_vm_thread_tracer;
  if (tracer == NULL || LockTrace::tracer(owner) == NULL) return;
  LctOwnerSample event;
  event.owner = lct_thread_number(LockTrace::runtime(), (uint64_t) (uintptr_t) owner);
  event.chain = LockTraceStackWalk::sample(owner, tracer, LockTraceEnter::object_of(owner));
  if (event.owner == 0 || event.chain == 0) return;
  event.time_ns = now_ns;
  event.since_ns = since_ns + _threshold_ns;
  // While threads are being stopped, there are no other moments.
  event.interval_ns = _interval_ns + (now_ns - _requested_ns);
  lct_owner_sample(tracer, &event);
  _samples++;
}

// ---------------------------------------------------------------------------
// When

// The moments at which owners may be sampled, and what that may cost.
//
// Whether a moment is used must have nothing to do with what owners do around it. But what a
// sample costs has: threads that run take longer to stop than threads that sleep. So the rate
// follows the mean cost of many samples, slowly, and takes half of the budget: the other half
// is for the spread of costs. If they use up even that, a pause follows that is long beside
// holds. Moments in it are dropped: made up for, they would come where samples are cheap.
class LockTraceSampleClock : public StackObj {
 private:
  // Until the first sample has shown what one costs.
  enum { first_guess_ns = 200 * 1000 };
  // The mean cost is over about as many samples; over fewer at first, and when costs have
  // grown so fast that the budget was used up.
  enum { mean_over = 64, mean_over_after_pause = 8 };
  // What is not used for longer is not saved up, unless a sample costs more.
  enum { max_credit_s = 10 };
  // A trace begins with the credit of as long.
  enum { first_credit_s = 1 };
  // To look who waits may take that part of a processor.
  enum { look_divisor = 100 };

  const jlong _threshold_ns;
  const jlong _budget;
  julong _random;
  jlong  _now_ns;
  int    _mean_over;     // samples, up to now
  jlong  _cost_ns;       // of a sample, on the average
  jlong  _look_ns;       // that a look has taken, on the average
  jlong  _credit_ns;     // for how long threads may be stopped
  bool   _pausing;
  jlong  _interval_ns;   // mean time from one moment to the next

  double random();
  jlong of_budget(jlong ns) const { return ns / WholeBudget * _budget; }
  jlong max_credit_ns() const     { return MAX2(of_budget(max_credit_s * NANOSECS_PER_SEC), 2 * _cost_ns); }

 public:
  LockTraceSampleClock(jlong threshold_ns)
    : _threshold_ns(threshold_ns), _budget((jlong) MIN2(LockContentionOwnerSampleBudget, (uintx) WholeBudget)),
      _random((julong) os::javaTimeNanos() | 1), _now_ns(os::javaTimeNanos()), _mean_over(1), _cost_ns(first_guess_ns),
      _look_ns(0), _credit_ns(of_budget(first_credit_s * NANOSECS_PER_SEC)), _pausing(false), _interval_ns(threshold_ns) {}

  // How long to wait for the next moment.
  jlong next_ns();
  // The moment has come. False if samples have cost too much.
  bool is_usable();
  void looked(jlong duration_ns)  { _look_ns += (duration_ns - _look_ns) / mean_over; }
  // Returns whether a pause begins.
  bool sampled(jlong stopped_ns);

  jlong now_ns() const            { return _now_ns; }
  jlong interval_ns() const       { return _interval_ns; }
  // How many samples of an owner would be due on the average since the moment before, if they
  // cost nothing.
  jlong due() const               { return MAX2(_interval_ns / _threshold_ns, (jlong) 1); }
};

// Xorshift (Marsaglia 2003), above 0 and below 1.
double LockTraceSampleClock::random() {
  _random ^= _random << 13;
  _random ^= _random >> 7;
  _random ^= _random << 17;
  return ((double) (_random >> 12) + 0.5) / (double) ((julong) 1 << 52);
}

jlong LockTraceSampleClock::next_ns() {
  jlong half_of_budget_ns = _cost_ns * WholeBudget / _budget * 2;
  _interval_ns = MAX3(_threshold_ns, half_of_budget_ns, _look_ns * look_divisor);
  return (jlong) (-log(random()) * (double) _interval_ns);
}

bool LockTraceSampleClock::is_usable() {
  jlong now_ns = os::javaTimeNanos();
  _credit_ns = MIN2(_credit_ns + of_budget(now_ns - _now_ns), max_credit_ns());
  _now_ns = now_ns;
  if (_credit_ns >= max_credit_ns() / 2) _pausing = false;
  return !_pausing;
}

bool LockTraceSampleClock::sampled(jlong stopped_ns) {
  _credit_ns -= stopped_ns;
  _mean_over = MIN2(_mean_over + 1, (int) mean_over);
  _cost_ns += (stopped_ns - _cost_ns) / _mean_over;
  // The next one costs about as much, and that must be there before.
  if (_credit_ns >= _cost_ns) return false;
  _pausing = true;
  _mean_over = MIN2(_mean_over, (int) mean_over_after_pause);
  return true;
}

// Sleeps, but not beyond the end of the trace. False if it has ended.
static bool sleep_in(uint32_t session, jlong duration_ns, JavaThread* thread) {
  const jlong longest_sleep_ms = 500;
  for (jlong left_ms = duration_ns / NANOSECS_PER_MILLISEC + 1; left_ms > 0; left_ms -= longest_sleep_ms) {
    // Interruptible: the other kind of sleep is one in the VM, for which every safepoint waits.
    os::sleep(thread, MIN2(left_ms, longest_sleep_ms), true);
    if (!LockTrace::is_going_on(session)) return false;
  }
  return true;
}

void LockTraceSampler::run(JavaThread* thread, TRAPS) {
  const uint32_t session = LockTraceHelperThread::session_of(thread);
  const jlong threshold_ns = _threshold_ns;
  LockTraceSampleClock clock(threshold_ns);
  bool any_waits = false;
  while (sleep_in(session, clock.next_ns(), thread)) {
    bool is_usable = clock.is_usable();
    if (any_waits || _waits_began != 0) {
      _waits_began = 0;
      HandleMark handles(thread);
      LockTraceLongWaits waits(thread, clock.now_ns(), threshold_ns);
      any_waits = waits.any();
      clock.looked(os::javaTimeNanos() - clock.now_ns());
      if (waits.count() > 0) {
        LockTraceSampleOwners operation(waits, session, threshold_ns, clock.interval_ns());
        jlong stopped_ns = is_usable ? operation.execute() : 0;
        bool pause_begins = is_usable && clock.sampled(stopped_ns);
        // Safepoints have passed, and with them perhaps the trace.
        if (!LockTrace::is_going_on(session)) return;
        jlong due = waits.count() * clock.due();
        lct_count_owner_samples(LockTrace::runtime(), operation.samples(), due, stopped_ns, pause_begins);
      }
    }
  }
}

bool LockTraceSampler::start(uint32_t session, jlong threshold_ns, JavaThread* thread) {
  _threshold_ns = threshold_ns;
  return threshold_ns == 0 || LockTraceHelperThread::start("Lock Contention Sampler", &run, session, thread);
}
