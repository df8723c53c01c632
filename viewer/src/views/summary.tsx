import type { Deadlock, Finding, Hang, Model } from "../api/types";
import { CodeName } from "../parts/code-name";
import { CopyMenu } from "../parts/copy-menu";
import { Spark } from "../parts/spark";
import { printAddress } from "../state/address";
import { isOfLocks } from "../state/aspects";
import { usePage, useQuery } from "../state/page";
import type { Sheet } from "../text/sheet";
import { count, duration, fileName, percent, plural, share, wallClock } from "../text/units";

/** The findings, the one to fix first on top. */
export function SummaryView() {
  const { model } = usePage();
  return (
    <>
      <Headline />
      {model.deadlocks.map((deadlock) => <DeadlockCard key={deadlock.start_ns} deadlock={deadlock} />)}
      {model.hangs.map((hang) => <HangCard key={hang.title} hang={hang} />)}
      <section aria-labelledby="fix-first">
        <div class="row spread">
          <h2 id="fix-first">What to fix first</h2>
          {model.findings.length > 0 && <CopyMenu what="the findings" sheet={() => findingsSheet(model.findings)} />}
        </div>
      </section>
      {model.findings.length === 0 && <p class="empty card">{model.quiet !== null ? quietText(model.quiet) : model.progress.done ? "No code made threads wait for long." : model.live !== null ? "No code has made threads wait for long so far." : "Reading the trace…"}</p>}
      <ol class="findings">
        {model.findings.map((finding, at) => <FindingCard key={finding.id} finding={finding} rank={at + 1} />)}
      </ol>
      <AboutTrace />
    </>
  );
}

function quietText(quiet: NonNullable<Model["quiet"]>): string {
  if (quiet.threads === 0) return "No lock is worth changing: no thread was blocked.";
  const startUp = quiet.only_start_up ? ", too little of it after start-up" : "";
  return `No lock is worth changing: ${plural(quiet.threads, "thread")} blocked for ${duration(quiet.blocked_ns)} in all, in ${percent(quiet.wall_share)} of the run${startUp}.`;
}

function Headline() {
  const { model } = usePage();
  const { answer } = useQuery({ selection: {}, by: [] });
  const group = answer?.groups[0];
  const contention = model.totals.find((total) => total.kind === "contention");
  const { confidence } = model;
  const known = confidence.duration_ns - confidence.free_ns - confidence.unknown_ns - confidence.frozen_ns;
  const parts: [string, number, string][] = [
    ["owner known", known, "var(--owner)"], ["lock free: woken threads were not running yet", confidence.free_ns, "var(--free)"], ["owner unknown", confidence.unknown_ns, "var(--unknown)"],
  ];
  return (
    <div class="headline">
      <p class="big">
        {contention === undefined || contention.waits === 0 ? (model.live === null ? "No thread had to wait for a lock." : "No wait for a lock has ended so far.") : (
          <>
            Threads were blocked for <em>{duration(contention.duration_ns)}</em> in {plural(contention.waits, "wait")}
            {group && answer && <>; at least one waited in {percent(share(group.wall_ns, answer.time_ns))} of {duration(answer.time_ns)}</>}.
          </>
        )}
      </p>
      {confidence.duration_ns > 0 && (
        <>
          <div class="composition" aria-hidden="true">
            {parts.map(([name, ns, colour]) => <i key={name} class={name === "owner known" ? "" : `swatch ${name.startsWith("lock free") ? "free" : "unknown"}`} style={{ width: `${share(ns, confidence.duration_ns) * 100}%`, backgroundColor: colour, height: "100%", border: 0, borderRadius: 0 }} />)}
          </div>
          <ul class="legend">
            {parts.map(([name, ns, colour]) => (
              <li key={name}><i class={`swatch ${name.startsWith("lock") ? "free" : name === "owner unknown" ? "unknown" : ""}`} style={{ backgroundColor: colour }} /><span>{name} {percent(share(ns, confidence.duration_ns))}</span></li>
            ))}
            {confidence.frozen_ns > 0 && <li><span>the process did not run {percent(share(confidence.frozen_ns, confidence.duration_ns))}</span></li>}
            <li><span>in safepoints {percent(share(confidence.safepoint_ns, confidence.duration_ns))}</span></li>
            {confidence.reenter_after_wait_ns > 0 && <li><span>back from Object.wait {percent(share(confidence.reenter_after_wait_ns, confidence.duration_ns))}</span></li>}
          </ul>
        </>
      )}
    </div>
  );
}

const PATTERNS: Record<string, string> = {
  deadlock: "deadlock",
  "never-released": "never released",
  "possible-deadlock": "possible deadlock",
  "no-permit-released": "no permit released",
  "still-held": "still held",
  starved: "starved",
  "long-hold": "long holds",
  "many-short-holds": "many short holds",
  convoy: "convoy",
  "one-global-lock": "one global lock",
  "many-locks-of-one-class": "many locks of one class",
  "notify-storm": "notify storm",
  "writer-behind-readers": "writer behind readers",
  "pool-too-small": "pool too small",
  "taking-turns": "taking turns",
  "class-initialization": "class initialization",
  "waits-while-holding": "waits while holding",
  "one-map-key": "one key of a map",
  "uneven-stripes": "uneven stripes",
  "fair-lock": "fair lock",
  "long-wait": "long wait",
};

/** The sums by owner do not keep when each had its part of a wait. */
const WALL_HELP = "How much of the time anybody waited because of it";
const ABOUT_WALL_HELP = `${WALL_HELP}, in proportion: the figure for all waits concerned, times this owner's share of their time`;

function savingHelp(saving: NonNullable<Finding["saving"]>, keeper?: string): string {
  const share = (share: number) => percent(Math.max(share, 0));
  const of = saving.speedup_of === "work" ? "The same work is done" : "The same requests are answered";
  const slices = saving.replayed_share < 1 ? `, from ${share(saving.replayed_share)} of the time` : "";
  const change = keeper ? `If ${keeper} gave it back at once` : "If this code did after the release what it does under the lock";
  return `${change}. ${of} ×${saving.speedup_least.toFixed(2)} to ×${saving.speedup_most.toFixed(2)} as fast; ${share(saving.share)} of all waiting for locks${keeper ? " and pools" : ""} is gone${slices}`;
}

function unreliableHelp(reason: NonNullable<Finding["unreliable"]>): string {
  return reason === "waits-itself"
    ? "This code mostly waits for another lock meanwhile: see that finding"
    : "Replays of the trace do not reproduce its waiting";
}

/** In words, as in the summary's text. */
function onProcessor({ least, most, run_delay_least }: NonNullable<Finding["owner_on_processor"]>): string {
  const waited = run_delay_least < 0.01 ? "" : `, and waited for one for ${percent(run_delay_least)} at least`;
  return `on a processor for ${percent(least)} to ${percent(most)} of this time${waited}`;
}

function FindingCard({ finding, rank }: { finding: Finding; rank: number }) {
  const { address } = usePage();
  const { answer } = useQuery({ selection: finding.selection, by: [], buckets: 60 });
  const href = printAddress({ ...address, view: "tree", selection: finding.selection, by: ["lock-class", "owner-method", "method"], at: [] });
  const { confidence, saving } = finding;
  const [object, owned] = isOfLocks(finding.selection) ? ["Lock", "Held by"] : ["Object", "Woken by"];
  const facts: [string, string, string?][] = [
    ["Blocked", duration(finding.duration_ns)], ["Share", percent(finding.share)], ["Of the wall time", (finding.wall_exact ? "" : "about ") + percent(finding.wall_share), finding.wall_exact ? WALL_HELP : ABOUT_WALL_HELP], ["Waits", count(finding.waits)],
    ["p50", duration(finding.p50_ns)], ["p99", duration(finding.p99_ns)], ["Longest", duration(finding.max_ns)], ["Waiting at once", finding.mean_waiters.toFixed(1)],
  ];
  if (saving) facts.push(["Speed-up", `×${saving.speedup.toFixed(2)}`, savingHelp(saving, finding.kept_by[0]?.by)]);
  if (finding.unreliable) facts.push(["Speed-up", "unknown", unreliableHelp(finding.unreliable)]);
  return (
    <li class="finding card">
      <a class="body" href={href}>
        <span class="rank" aria-hidden="true">{rank}</span>
        <span class="content">
          <span class="finding-top">
            <h3>{finding.title}</h3>
            <span class="badge">{PATTERNS[finding.pattern] ?? finding.pattern}</span>
            {finding.start_up_only && <span class="badge">at start-up only</span>}
          </span>
          {/* Who waits for whom in a hang is above all findings. */}
          {!finding.hang && (
            <span class="flow">
              <Places className="is-waiter" title="Waiting" places={finding.waiters} more={finding.waiter_sites - finding.waiters.length} />
              <Arrow />
              <Places className="is-lock" title={finding.locks === 1 ? object : plural(finding.locks, object.toLowerCase())} places={[finding.lock_class]} more={0} />
              <Arrow />
              <Places className="is-owner" title={owned} places={[finding.owner ?? { label: "nobody that is known" }]} more={0} />
            </span>
          )}
          {finding.through.map(({ lock_class, owner, duration_ns }) => (
            <span key={lock_class.key + owner.key} class="small">
              {duration(duration_ns)} of it for <CodeName text={lock_class.label} />, whose owner <CodeName text={owner.label} /> waited for this lock itself
            </span>
          ))}
          {finding.owner_callers.length > 0 && (
            <span class="small">Called by {finding.owner_callers.map(({ place, share }) => `${place} (${percent(share)})`).join(", ")}</span>
          )}
          {finding.kept_by.length > 0 && (
            <span class="small">Kept by {finding.kept_by.map(({ by, mean_ns, times }) => `${by} for ${duration(mean_ns)} (${plural(times, "time")})`).join(", ")}</span>
          )}
          {finding.owner_places.length > 0 && (
            <span class="small">
              The owner was in {finding.owner_places.map(({ place, share }) => `${place} (${percent(share)})`).join(", ")}
              {finding.owner_sampled < 0.5 && `; sampled in ${percent(finding.owner_sampled)} of its time`}
            </span>
          )}
          {finding.owner_on_processor && <span class="small">The owner was {onProcessor(finding.owner_on_processor)}</span>}
          <span class="row spread">
            <dl class="facts">
              {facts.map(([name, value, help]) => <div key={name} title={help}><dt>{name}</dt><dd>{value}</dd></div>)}
            </dl>
            <Spark series={answer?.groups[0]?.series} />
          </span>
        </span>
      </a>
      <div class="help">
        <p>{finding.remedy}</p>
        <span class={`badge ${confidence.level}`} title={confidence.notes.join("; ")}>{confidence.level} confidence</span>
        {confidence.notes.length > 0 && <span>{confidence.notes.join("; ")}</span>}
      </div>
    </li>
  );
}

const Arrow = () => <span class="arrow" aria-hidden="true">→</span>;

type Place = { label: string; frame?: string; called_from?: string };

/** Returns where code stood, as far as that is known. */
const placeOf = ({ frame, label }: Place) => (frame === undefined || frame === "" ? label : frame);

function Places({ className, title, places, more }: { className: string; title: string; places: Place[]; more: number }) {
  return (
    <div class={className}>
      <span>{title}</span>
      {places.map((place) => (
        <span key={placeOf(place)} class="code">
          <FrameName text={placeOf(place)} />
          {place.called_from ? <span class="caller"><small>called from</small> <FrameName text={place.called_from} /></span> : null}
        </span>
      ))}
      {more > 0 && <span class="code dim">and {plural(more, "more place")}</span>}
    </div>
  );
}

/** A method and its line, broken between the two if they are too long. */
function FrameName({ text }: { text: string }) {
  const at = text.lastIndexOf("(");
  if (at <= 0) return <CodeName text={text} />;
  return <><CodeName text={text.slice(0, at)} /><wbr /><span class="line">{text.slice(at)}</span></>;
}

function DeadlockCard({ deadlock }: { deadlock: Deadlock }) {
  const { model } = usePage();
  const until = model.live === null ? "until the trace ended" : "so far";
  return (
    <section class="card deadlock" aria-label="Deadlock">
      <header><h2>Deadlock of {plural(deadlock.threads.length, "thread")}, for {duration(deadlock.duration_ns)} {until}</h2></header>
      <ol>
        {deadlock.threads.map((thread) => (
          <li key={thread.thread}>
            <h3>{thread.thread}</h3>
            <p class="small">waits for <span class="code lock">{thread.waits_for}</span></p>
            <pre>{thread.frames.join("\n")}</pre>
            <p class="small">holds <span class="code lock">{thread.holds}</span></p>
            <pre>{thread.holds_frames.join("\n")}</pre>
          </li>
        ))}
      </ol>
      {deadlock.behind.length > 0 && <Behind deadlock={deadlock} />}
    </section>
  );
}

function HangCard({ hang }: { hang: Hang }) {
  const { holder } = hang;
  const stacks: [string, string[]][] = holder === null ? [] : [
    ["acquired it here", holder.acquired_frames], ["waits here itself", holder.waits_frames], ["was sampled here last", holder.seen_frames],
  ];
  const shown = stacks.find(([, frames]) => frames.length > 0);
  return (
    <section class="card deadlock" aria-label="Hang">
      <header><h2>{hang.title}</h2></header>
      <ol>
        {holder !== null && (
          <li>
            <h3>{holder.thread}{holder.ended_ns !== null && ` (ended at ${duration(holder.ended_ns)})`}</h3>
            <p class="small">has <span class="code lock">{hang.lock}</span>{shown && `, ${shown[0]}`}</p>
            {shown && <pre>{shown[1].join("\n")}</pre>}
          </li>
        )}
        {hang.threads.map((thread) => <WaitingThread key={thread.thread} {...thread} />)}
      </ol>
      {hang.more_threads > 0 && <p class="small">and {plural(hang.more_threads, "more thread")}</p>}
      <p class="small">{hang.basis} {hang.advice}</p>
    </section>
  );
}

/** A thread, what it waits for, and where. */
function WaitingThread({ thread, waits_for, frames }: { thread: string; waits_for: string; frames: string[] }) {
  return (
    <li>
      <h3>{thread}</h3>
      <p class="small">waits for <span class="code lock">{waits_for}</span></p>
      <pre>{frames.join("\n")}</pre>
    </li>
  );
}

/** The threads that cannot go on because those of a deadlock do not. */
function Behind({ deadlock }: { deadlock: Deadlock }) {
  const all = deadlock.behind.length + deadlock.more_behind;
  return (
    <details class="behind">
      <summary>{plural(all, "more thread")} {all === 1 ? "waits" : "wait"} behind them</summary>
      <ol>
        {deadlock.behind.map((thread) => <WaitingThread key={thread.thread} {...thread} />)}
      </ol>
      {deadlock.more_behind > 0 && <p class="small">and {plural(deadlock.more_behind, "more thread")}</p>}
    </details>
  );
}

function AboutTrace() {
  const { model, store } = usePage();
  const others = model.totals.filter((total) => total.kind !== "contention" && total.waits > 0);
  return (
    <section class="card stacks" aria-label="About the trace">
      <h2>{model.traces.length === 1 ? "The trace" : "The traces"}</h2>
      <dl class="about-trace">
        {model.traces.map((trace) => (
          <>
            <dt>{fileName(trace.path)}</dt>
            <dd>
              {duration(trace.duration_ns)} from {wallClock(trace.start_unix_ns)} · {trace.jvm}, process {trace.pid}
              {trace.complete === null && store.exportAddress === null && " · was still being written when this file was made"}
              {trace.complete === false && <> · <b class="lock">incomplete</b>: {trace.problems.join("; ")}</>}
            </dd>
          </>
        ))}
        {others.length > 0 && (
          <>
            <dt>Other waiting</dt>
            <dd>{others.map((total) => `${total.kind} ${duration(total.duration_ns)} in ${plural(total.waits, "wait")}`).join(" · ")}: not in any view unless its kind is selected</dd>
          </>
        )}
        {model.unexplained.length > 0 && (
          <>
            <dt>Unexplained time</dt>
            <dd>{model.unexplained.map((group) => `${group.name}: ${percent(1 - share(group.waited_ns, group.lived_ns))} of ${duration(group.lived_ns)} in ${plural(group.threads, "thread")}`).join(" · ")}: running, sleeping, in input or output, or in Object.wait</dd>
          </>
        )}
        {model.folded !== null && (
          <>
            <dt>Folded</dt>
            <dd>{plural(model.folded.waits, "wait")} of {duration(model.folded.duration_ns)} in all, none longer than {duration(model.folded.longest_ns)}, are in all sums but not among the single waits</dd>
          </>
        )}
        {!model.exact && (
          <>
            <dt>Owners in a range</dt>
            <dd>exact for whole waits; of a wait that a range cuts, each owner&apos;s time counts as if spread evenly</dd>
          </>
        )}
      </dl>
    </section>
  );
}

function findingsSheet(findings: Finding[]): Sheet {
  return {
    title: "What to fix first",
    columns: [{ name: "#", right: true }, { name: "Finding" }, { name: "Owner" }, { name: "Waiters" }, { name: "Blocked", right: true }, { name: "Share", right: true }, { name: "Waits", right: true }, { name: "p50", right: true }, { name: "p99", right: true }],
    rows: findings.map((finding, at) => [
      String(at + 1), finding.title, finding.owner === null ? "unknown" : placeOf(finding.owner), finding.waiters.map(placeOf).join(", "),
      duration(finding.duration_ns), percent(finding.share), count(finding.waits), duration(finding.p50_ns), duration(finding.p99_ns),
    ]),
    json: findings,
  };
}
