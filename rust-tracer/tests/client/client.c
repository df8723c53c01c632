/*
 * Drives the C interface from many threads, as the JVM does:
 *
 *   client TRACE THREADS ROUNDS GENERATIONS MAX_BUFFER_BYTES
 *
 * In each generation THREADS threads start, contend ROUNDS times for locks that
 * all share and for some of their own, and end. Now and then they run code that
 * is gone afterwards. Meanwhile another thread takes the buffers from all of
 * them. It prints "contended" when all of these have ended. What the trace must then
 * hold is checked by tests/client.rs.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "locktrace.h"

enum { SHARED_LOCKS = 8, CHAINS = 500, FRAMES = 12, ROUNDS_OF_OWN_LOCK = 50, CODE_LIVES = 64 };

static LctRuntime *runtime;
static LctLock shared_locks[SHARED_LOCKS];
static uint32_t class_id, method_id;
static uint32_t described_epoch;
static uint32_t last_compile_id;
static long rounds;
static uint8_t enabled = 1;
static uint8_t reclaiming = 1;

static LctStr text(const char *chars) {
  LctStr str = {(const uint8_t *)chars, strlen(chars)};
  return str;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void sleep_ms(long ms) {
  struct timespec duration = {0, ms * 1000000};
  nanosleep(&duration, NULL);
}

static void describe_method(LctThread *thread, uint32_t id, const char *name, const char *signature) {
  LctMethod method = {id, class_id, text(name), text(signature)};
  lct_method(thread, &method);
}

static void describe_metadata(LctThread *thread) {
  uint32_t epoch = lct_metadata_epoch(runtime);
  uint32_t seen = __atomic_load_n(&described_epoch, __ATOMIC_RELAXED);
  if (seen == epoch) return;
  if (!__atomic_compare_exchange_n(&described_epoch, &seen, epoch, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
  LctClass hashtable = {.class_id = class_id, .name = text("java.util.Hashtable"), .source_file = text("Hashtable.java")};
  lct_class(thread, &hashtable);
  describe_method(thread, method_id, "get", "(Ljava/lang/Object;)Ljava/lang/Object;");
}

/* Frames as docs/c-abi.md packs them. */
static uint64_t interpreted_frame(uint32_t method, uint16_t bci) {
  return (uint64_t)method << 16 | bci;
}

static uint64_t compiled_frame(uint32_t compile_id, uint32_t pc_offset) {
  return (uint64_t)1 << 63 | (uint64_t)compile_id << 32 | pc_offset;
}

/* The chain whose innermost frame is given, of physical frames that stand for two each. */
static uint32_t record_chain(LctThread *thread, uint64_t innermost, uint32_t innermost_method) {
  uint64_t key[FRAMES];
  for (int i = 0; i < FRAMES - 1; i++) key[i] = interpreted_frame(method_id, (uint16_t)i);
  key[FRAMES - 1] = innermost;
  LctChainKey chain_key = {key, FRAMES, lct_chain_hash(0, key, FRAMES)};
  uint32_t chain = lct_chain_find(thread, chain_key, 0);
  if (chain != 0) return chain;
  describe_metadata(thread);
  LctFrame frames[2 * FRAMES];
  for (int i = 0; i < 2 * FRAMES; i++) {
    LctFrame frame = {i == 0 ? innermost_method : method_id, i, -1};
    frames[i] = frame;
  }
  return lct_chain_add(thread, chain_key, frames, 2 * FRAMES, innermost % 2 == 1);
}

static uint32_t record_lasting_chain(LctThread *thread, uint32_t number) {
  return record_chain(thread, compiled_frame(0, number), method_id);
}

/* The same without a lookup, unless the chain must be described again. */
static uint32_t record_lasting_chain_again(LctThread *thread, uint32_t number, uint32_t chain, uint32_t epoch) {
  uint32_t again = lct_chain_again(thread, chain, epoch, FRAMES, 0);
  return again != 0 ? again : record_lasting_chain(thread, number);
}

/* What monitors name a thread by. */
static uint64_t vm_thread_of(uint64_t number) { return number * 64; }

static LctOwner owner_of(uint32_t random) {
  LctOwner owner = {0, 0};
  owner.thread = lct_thread_number(runtime, vm_thread_of(random % 8));
  if (owner.thread == 0) owner.stack_address = random;
  return owner;
}

/* One of each kind of hold. */
static uint64_t hold_ns_of(uint32_t random) {
  if (random % 3 == 0) return LCT_HOLD_NOT_KNOWN;
  if (random % 3 == 1) return LCT_HOLD_BEFORE_CONTENTION;
  return random % 1000;
}

static void contend(LctThread *thread, LctLock *lock, uint32_t random, uint32_t chain) {
  describe_metadata(thread);
  if (lct_lock_claim(runtime, lock)) {
    LctLockDescription description = {
        .lock = lock->id,
        .monitor_address = (uint64_t)(uintptr_t)lock,
        .class_id = class_id,
        .identity_hash = random,
    };
    lct_lock_describe(thread, &description);
  }
  uint64_t begin_cycles = lct_cycles();
  LctContendedEnter enter = {.lock = lock->id, .chain = chain, .after_wait = random % 16 == 0};
  enter.sequence = lct_lock_next_sequence(lock);
  enter.time_ns = now_ns();
  enter.owner = owner_of(random);
  lct_contended_enter(thread, &enter);
  lct_hook_end(thread, LCT_HOOK_ENTER, 1, begin_cycles, 0, 0);
  LctContendedEntered entered = {.lock = lock->id, .safepoint_ns = random % 8 == 0 ? 100 : 0};
  entered.sequence = lct_lock_next_sequence(lock);
  entered.time_ns = now_ns();
  lct_contended_entered(thread, &entered);
  LctContendedExit exit = {.lock = lock->id, .hold_ns = LCT_HOLD_NOT_KNOWN};
  exit.sequence = lct_lock_next_sequence(lock);
  if (random % 16 == 1) {
    uint64_t forward_ref = lct_new_forward_ref(runtime);
    exit.time_ns = now_ns();
    lct_contended_exit_forward(thread, &exit, forward_ref);
    lct_forward_resolve(thread, forward_ref, chain);
  } else {
    exit.time_ns = now_ns();
    exit.hold_ns = hold_ns_of(random);
    lct_contended_exit(thread, &exit, chain);
  }
}

/* Contends in code that nobody runs any more when this returns: a compiled method or one that is interpreted. */
static void contend_in_dying_code(LctThread *thread, LctLock *lock, uint32_t random) {
  describe_metadata(thread);
  if (random % (2 * CODE_LIVES) == 0) {
    uint32_t compile_id = __atomic_add_fetch(&last_compile_id, 1, __ATOMIC_RELAXED);
    contend(thread, lock, random, record_chain(thread, compiled_frame(compile_id, 1), method_id));
    lct_code_flushed(runtime, compile_id);
  } else {
    uint32_t method = lct_new_id(runtime);
    describe_method(thread, method, "lambda$0", "()V");
    contend(thread, lock, random, record_chain(thread, interpreted_frame(method, 1), method));
    lct_method_freed(runtime, method);
  }
}

static void *contending_thread(void *argument) {
  uint64_t number = (uint64_t)(uintptr_t)argument;
  LctThreadStart start = {number, text("contender"), vm_thread_of(number), {number << 20, 1 << 20}, now_ns()};
  LctThread *thread = lct_thread_start(runtime, &start);
  LctLock own_lock = {0, 0};
  uint32_t random = (uint32_t)number * 2654435761u + 1;
  for (long round = 0; round < rounds; round++) {
    random = random * 1664525u + 1013904223u;
    uint32_t bits = random >> 8;
    LctLock *shared_lock = &shared_locks[bits % SHARED_LOCKS];
    uint32_t epoch = lct_metadata_epoch(runtime);
    uint32_t chain = record_lasting_chain(thread, bits % CHAINS);
    if (bits % CODE_LIVES == 0) {
      contend_in_dying_code(thread, shared_lock, bits);
    } else {
      contend(thread, shared_lock, bits, chain);
    }
    chain = record_lasting_chain_again(thread, bits % CHAINS, chain, epoch);
    contend(thread, &own_lock, bits, chain);
    if (round % ROUNDS_OF_OWN_LOCK == ROUNDS_OF_OWN_LOCK - 1) lct_lock_retire(thread, &own_lock);
  }
  lct_lock_retire(thread, &own_lock);
  lct_thread_rename(runtime, vm_thread_of(number), number, text("ended"));
  lct_thread_end(thread, now_ns());
  return NULL;
}

static void *reclaiming_thread(void *argument) {
  (void)argument;
  while (__atomic_load_n(&reclaiming, __ATOMIC_RELAXED)) {
    lct_reclaim_all(runtime);
    sleep_ms(1);
  }
  return NULL;
}

static pthread_t create(void *(*body)(void *), uintptr_t argument) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 128 << 10);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, body, (void *)argument) != 0) {
    fputs("client: cannot create a thread\n", stderr);
    exit(2);
  }
  pthread_attr_destroy(&attributes);
  return thread;
}

int main(int argc, char **argv) {
  if (argc != 6) {
    fputs("usage: client TRACE THREADS ROUNDS GENERATIONS MAX_BUFFER_BYTES\n", stderr);
    return 2;
  }
  long threads = atol(argv[2]);
  long generations = atol(argv[4]);
  rounds = atol(argv[3]);

  LctConfig config = {0};
  config.path = text(argv[1]);
  config.compress = true;
  config.start_ns = now_ns();
  config.jvm = text("client.c");
  config.enabled = &enabled;
  config.max_buffer_bytes = (uint64_t)atoll(argv[5]);
  char error[256];
  runtime = lct_start(&config, (uint8_t *)error, sizeof error);
  if (runtime == NULL) {
    fprintf(stderr, "client: %s\n", error);
    return 2;
  }
  class_id = lct_new_id(runtime);
  method_id = lct_new_id(runtime);

  pthread_t reclaimer = create(reclaiming_thread, 0);
  pthread_t *contenders = malloc((size_t)threads * sizeof *contenders);
  uintptr_t number = 1;
  for (long generation = 0; generation < generations; generation++) {
    for (long i = 0; i < threads; i++) contenders[i] = create(contending_thread, number++);
    for (long i = 0; i < threads; i++) pthread_join(contenders[i], NULL);
  }
  free(contenders);
  __atomic_store_n(&reclaiming, 0, __ATOMIC_RELAXED);
  pthread_join(reclaimer, NULL);
  puts("contended");
  fflush(stdout);

  /* What was lost is described again, and unloaded code forgotten, once the drainer comes after. */
  sleep_ms(900);
  LctThreadStart start = {.name = text("VM Thread"), .time_ns = now_ns()};
  LctThread *vm_thread = lct_thread_start(runtime, &start);
  describe_metadata(vm_thread);
  for (uint32_t chain = 0; chain < CHAINS; chain++) record_lasting_chain(vm_thread, chain);
  for (int i = 0; i < SHARED_LOCKS; i++) lct_lock_retire(vm_thread, &shared_locks[i]);
  lct_reclaim_all(runtime);
  lct_loader_unload(vm_thread, 0x1000, now_ns());
  lct_submit(vm_thread);
  lct_thread_end(vm_thread, now_ns());
  lct_stop(runtime, 20000);
  return __atomic_load_n(&enabled, __ATOMIC_ACQUIRE) ? 0 : 1;
}
