/** Questions of the page and their answers: docs/viewer-api.md. Durations and times are in
 * nanoseconds. */

export const ASPECTS = [
  "lock-class", "lock", "thread", "method", "caller", "chain",
  "owner-thread", "owner-method", "owner-caller", "owner-chain",
  "mechanism", "kind", "trace",
] as const;
export type Aspect = (typeof ASPECTS)[number];

export const KINDS = ["contention", "conditional", "idle", "sleep", "join"] as const;
export type Kind = (typeof KINDS)[number];

export interface Condition {
  aspect: Aspect;
  not?: boolean;
  in: string[];
}

export interface Selection {
  from_ns?: number;
  to_ns?: number;
  kinds?: Kind[];
  min_ns?: number;
  max_ns?: number;
  traces?: number[];
  filter?: Condition[];
}

export interface Progress {
  bytes: number;
  total_bytes: number;
  /** The last trace is still being written, and what is written of it is read. */
  live: boolean;
  done: boolean;
}

export interface TraceInfo {
  path: string;
  jvm: string;
  pid: number;
  start_unix_ns: string;
  offset_ns: number;
  duration_ns: number;
  /** Null as long as it is read. */
  complete: boolean | null;
  problems: string[];
}

export interface Confidence {
  duration_ns: number;
  free_ns: number;
  unknown_ns: number;
  /** The process did not run. */
  frozen_ns: number;
  safepoint_ns: number;
  reenter_after_wait_ns: number;
  barging_holds: number;
}

export interface Named {
  key: string;
  label: string;
  frame?: string;
  called_from?: string;
}

export interface Finding {
  id: string;
  pattern: string;
  /** A deadlock or another hang. */
  hang: boolean;
  title: string;
  remedy: string;
  lock_class: Named;
  owner: Named | null;
  waiters: (Named & { duration_ns: number; waits: number })[];
  waiter_sites: number;
  /** The direct owners that waited for the lock of this finding themselves. */
  through: { lock_class: Named; owner: Named; duration_ns: number }[];
  /** Where the owner was, by samples that cover `owner_sampled` of its time. */
  owner_places: { place: string; share: number }[];
  /** Of waits for other threads: who called the code that woke them. */
  owner_callers: { place: string; share: number }[];
  /** Of a pool: for how long its users kept what they had waited for. */
  kept_by: { by: string; mean_ns: number; times: number }[];
  owner_sampled: number;
  /** The number of these samples, at least. */
  owner_samples: number;
  /** For how much of this time it was on a processor; null if that is hardly known. */
  owner_on_processor: { least: number; most: number; run_delay_least: number } | null;
  duration_ns: number;
  share: number;
  wall_ns: number;
  wall_share: number;
  /** From the parts of waits, not in proportion. */
  wall_exact: boolean;
  waits: number;
  p50_ns: number;
  p99_ns: number;
  max_ns: number;
  mean_waiters: number;
  threads: number;
  locks: number;
  confidence: { level: "high" | "medium" | "low"; free_ns: number; unknown_ns: number; safepoint_ns: number; notes: string[] };
  start_up_only: boolean;
  /** How many times as fast the same work is done, and shares of all waiting for locks, if the code did after the release what it does under them; null where unknown. */
  saving: {
    speedup: number; speedup_least: number; speedup_most: number; speedup_of: "work" | "latency";
    share: number; share_at_most: number; share_at_least: number; replayed_share: number;
  } | null;
  /** Why it cannot be predicted. */
  unreliable: "replay-misses-waiting" | "replay-misses-duration" | "waits-itself" | null;
  selection: Selection;
}

export interface DeadlockThread {
  thread: string;
  waits_for: string;
  since_ns: number;
  frames: string[];
  holds: string;
  holds_frames: string[];
}

export interface Deadlock {
  start_ns: number;
  duration_ns: number;
  threads: DeadlockThread[];
  /** Those that wait for them, the nearest first. */
  behind: { thread: string; waits_for: string; since_ns: number; frames: string[] }[];
  more_behind: number;
}

/** A lock that is not released any more, or seems not to be, and who waits for it. */
export interface Hang {
  verdict: string;
  title: string;
  /** What it is concluded from, and what is not known; empty if there is no doubt. */
  basis: string;
  advice: string;
  start_ns: number;
  stalled_ns: number;
  lock: string;
  /** Null if it is not known. */
  holder: {
    thread: string;
    ended_ns: number | null;
    acquired_frames: string[];
    seen_ns: number | null;
    seen_frames: string[];
    waits_frames: string[];
  } | null;
  threads: { thread: string; waits_for: string; since_ns: number; frames: string[] }[];
  more_threads: number;
}

export interface Model {
  version: number;
  locktrace: string;
  progress: Progress;
  traces: TraceInfo[];
  compare: { before: number[]; after: number[] } | null;
  start_unix_ns: string;
  duration_ns: number;
  libraries: string[];
  totals: { kind: Kind; duration_ns: number; waits: number }[];
  confidence: Confidence;
  exact: boolean;
  folded: { waits: number; duration_ns: number; longest_ns: number } | null;
  findings: Finding[];
  /** If no lock is worth changing. */
  quiet: { blocked_ns: number; wall_share: number; threads: number; threads_share: number; only_start_up: boolean } | null;
  other_waits: { kind: Kind; duration_ns: number; waits: number; threads: number; lock_class: string; place: string; place_ns: number }[];
  /** Threads most of whose time is in no recorded wait. */
  unexplained: { name: string; threads: number; lived_ns: number; waited_ns: number }[];
  deadlocks: Deadlock[];
  hangs: Hang[];
  source: boolean;
  /** Of a trace that is still being written: the threads that wait for locks at its newest
   * moment, if it says until when it is complete. */
  live: { waiting: { threads: number; longest_ns: number } | null } | null;
}

export interface Frame {
  method: string;
  key: string;
  class: string;
  file: string;
  line: number;
  jdk: boolean;
}

export interface Value {
  aspect: Aspect;
  key: string;
  label: string;
  long?: string;
  chain?: { frames: number[]; first: number; truncated: boolean };
}

/** The names that indices into `values` and `frames` refer to. */
export interface Names {
  values: Value[];
  frames: Frame[];
}

export interface Group {
  path: number[];
  duration_ns: number;
  waits: number;
  contentions: number;
  max_ns: number;
  p50_ns: number;
  p99_ns: number;
  threads: number;
  wall_ns: number;
  children: number;
  series?: number[];
  wall_series?: number[];
  safepoint_series?: number[];
}

export interface QueryRequest {
  selection: Selection;
  by: Aspect[];
  limit?: number;
  buckets?: number;
}

export interface QueryAnswer extends Names {
  progress: Progress;
  range: { from_ns: number; to_ns: number };
  time_ns: number;
  exact: boolean;
  rounded: boolean;
  groups: Group[];
  omitted: { groups: number; duration_ns: number }[];
}

export interface HistogramBucket {
  from_ns: number;
  to_ns: number;
  waits: number;
  duration_ns: number;
}

export interface HistogramAnswer {
  buckets: HistogramBucket[];
  waits: number;
  duration_ns: number;
  p50_ns: number;
  p90_ns: number;
  p99_ns: number;
  max_ns: number;
}

export interface WaitsRequest {
  selection: Selection;
  sort: "duration" | "start";
  limit: number;
  cursor: string | null;
}

export interface Share {
  thread: number;
  method: number;
  chain: number;
  duration_ns: number;
  contentions: number;
}

export interface Wait {
  id: number;
  trace: number;
  start_ns: number;
  duration_ns: number;
  safepoint_ns: number;
  selected_ns: number;
  mechanism: string;
  kind: Kind;
  ended: boolean;
  after_wait: boolean;
  lock: number;
  thread: number;
  chain: number;
  method: number;
  shares: Share[];
  more_shares: { count: number; duration_ns: number };
}

export interface WaitsAnswer extends Names {
  waits: Wait[];
  cursor: string | null;
  total: number;
  folded: number;
}

export interface OtherWait {
  id: number;
  thread: number;
  lock: number;
  start_ns: number;
  duration_ns: number;
  overlap_ns: number;
}

export interface WaitAnswer extends Names {
  wait: Wait;
  parts: { start_ns: number; duration_ns: number; share: number }[] | null;
  meanwhile: OtherWait[];
  owner_waits: OtherWait[];
}

export type LaneAspect = "lock" | "lock-class" | "thread";

export interface LanesRequest {
  selection: Selection;
  by: LaneAspect;
  px: number;
  limit: number;
}

export interface LaneSegment {
  from_ns: number;
  to_ns: number;
  owner: number;
  wait: number;
}

export interface LaneWait {
  id: number;
  from_ns: number;
  to_ns: number;
  thread: number;
  lock: number;
}

export type Lane = { value: number; duration_ns: number; waits: number; waits_at: LaneWait[] } & (
  | { mode: "segments"; segments: LaneSegment[] }
  | { mode: "bins"; bins: number[][]; waiting_ns: number[] }
);

export interface LanesAnswer extends Names {
  range: { from_ns: number; to_ns: number };
  exact: boolean;
  lanes: Lane[];
  omitted: { lanes: number; duration_ns: number };
}

export interface SourceAnswer {
  /** Below the folder of sources. */
  path: string;
  /** For editors. */
  absolute: string;
  from_line: number;
  lines: string[];
}

/** A store that answers the page's questions: the server, or the model in the page. */
export interface Store {
  model(signal?: AbortSignal): Promise<Model>;
  query(request: QueryRequest, signal?: AbortSignal): Promise<QueryAnswer>;
  /** This will be asked. */
  expect(request: QueryRequest, signal?: AbortSignal): Promise<void>;
  histogram(request: { selection: Selection }, signal?: AbortSignal): Promise<HistogramAnswer>;
  waits(request: WaitsRequest, signal?: AbortSignal): Promise<WaitsAnswer>;
  wait(id: number, signal?: AbortSignal): Promise<WaitAnswer>;
  lanes(request: LanesRequest, signal?: AbortSignal): Promise<LanesAnswer>;
  /** Null where there is no such source. */
  source(frame: Frame, context: number, signal?: AbortSignal): Promise<SourceAnswer | null>;
  /** Calls back when the traces were read further, with null when nobody answers any more; returns what ends that. */
  onProgress(callback: (progress: Progress | null) => void): () => void;
  /** The address of the page in one file; null if this is that file. */
  readonly exportAddress: string | null;
}
