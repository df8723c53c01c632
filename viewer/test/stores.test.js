// The page's store answers every question as the command line does.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./embedded.js";
import { ask as askOf, DEMO, HOSTILE, TRACES } from "./locktrace.js";
import { Random, randomAspects, randomSelection } from "./random.js";

const CASES = Number(process.env.LOCKTRACE_VIEWER_CASES ?? 40);
const { Data } = await load("embedded/data.ts");
const { query } = await load("embedded/query.ts");
const { histogram } = await load("embedded/histogram.ts");
const { waits, wait } = await load("embedded/waits.ts");
const { lanes } = await load("embedded/lanes.ts");

/** Groups by their keys, without what only numbers values. */
function groupsByKey(answer) {
  const key = (group) => JSON.stringify(group.path.map((at) => answer.values[at].key));
  return Object.fromEntries(answer.groups.map(({ path, ...numbers }) => [key({ path }), numbers]).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** An answer with keys in place of indices into `values`. */
function named(answer, fields) {
  const walk = (node) => {
    if (Array.isArray(node)) return node.map(walk);
    if (node === null || typeof node !== "object") return node;
    return Object.fromEntries(Object.entries(node).map(([name, value]) =>
      [name, fields.includes(name) && typeof value === "number" ? answer.values[value].key : walk(value)]));
  };
  const { values: _values, frames: _frames, cursor: _cursor, progress: _progress, ...rest } = answer;
  return walk(rest);
}

/** The owners of a pixel with their times. The choice of the sixth among equal ones is left
 * open. */
function binOf(bin, values) {
  const pairs = bin.flatMap((value, at) => (at % 2 === 0 ? [[values[value].key, bin[at + 1]]] : []));
  const least = pairs.length > 6 ? pairs[5][1] : 0;
  return pairs.map(([key, time]) => [time === least ? "one of those" : key, time]).sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
}

/** Traces, and the number of rows that they are folded to: down to single owners not
 * distinguished. */
const MODELS = [...TRACES.map((trace) => [trace, null]), [DEMO, 1_000], [DEMO, 150], [DEMO, 20], [HOSTILE, 12]];

for (const [path, foldTo] of MODELS) {
  const ask = (topic, question) => askOf(path, topic, question, foldTo);
  const trace = foldTo === null ? path : `${path} folded to ${foldTo} rows`;
  const raw = ask("embedded");
  const data = new Data(raw);
  const seed = [...trace].reduce((sum, character) => sum * 31 + character.charCodeAt(0), 7);

  test(`queries on ${trace}`, () => {
    const random = new Random(seed);
    for (let at = 0; at < CASES; at++) {
      const request = { selection: randomSelection(random, raw), by: randomAspects(random), limit: 50_000, buckets: random.chance(0.5) ? 17 : 0 };
      const [theirs, ours] = [ask("query", request), query(data, request)];
      assert.deepEqual(groupsByKey(ours), groupsByKey(theirs), JSON.stringify(request));
      for (const field of ["range", "time_ns", "exact", "rounded", "omitted"]) assert.deepEqual(ours[field], theirs[field], field);
      const frames = (answer) => answer.values.filter((value) => value.chain).map((value) => [value.key, value.chain.first, value.chain.frames.map((frame) => answer.frames[frame])]).sort();
      assert.deepEqual(frames(ours), frames(theirs));
    }
  });

  test(`what is folded is said: ${trace}`, () => {
    const { folded, exact } = raw.model;
    assert.equal(folded === null, foldTo === null);
    if (folded === null) return;
    assert.equal(exact, false);
    const sum = (column) => column.reduce((total, one) => total + one, 0);
    assert.equal(folded.waits, sum(raw.folded.waits));
    assert.equal(folded.duration_ns, sum(raw.folded.duration_ns));
    assert.equal(folded.longest_ns, Math.max(...raw.folded.max_ns));
    // Nothing is lost: by code, sums are those of the whole trace.
    const kinds = ["contention", "conditional", "idle", "sleep", "join"];
    for (const by of [[], ["lock-class", "method"], ["kind", "chain"], ...(foldTo === 1_000 ? [["owner-method", "caller"]] : [])]) {
      const request = { selection: { kinds }, by, limit: 50_000 };
      const sums = (answer) => Object.entries(groupsByKey(answer)).map(([key, { duration_ns, contentions, max_ns }]) => [key, duration_ns, contentions, ...(by.includes("owner-method") ? [] : [max_ns])]);
      assert.deepEqual(sums(query(data, request)), sums(askOf(path, "query", request)), JSON.stringify(by));
    }
  });

  test(`without the parts of waits nothing is lost: ${trace}`, () => {
    const spread = new Data({ ...raw, parts: null, model: { ...raw.model, exact: false } });
    const random = new Random(seed + 4);
    for (let at = 0; at < CASES / 2; at++) {
      const selection = randomSelection(random, raw);
      // Answers about the waiting side do not depend on how owners share a piece.
      selection.filter = selection.filter?.filter(({ aspect }) => !aspect.startsWith("owner-"));
      const by = random.pick([["thread"], ["lock-class", "method"], []]);
      const [exact, even] = [data, spread].map((one) => query(one, { selection, by, limit: 50_000 }));
      const withoutContentions = (answer) => Object.entries(groupsByKey(answer)).map(([key, { contentions: _contentions, ...group }]) => [key, group]);
      assert.deepEqual(withoutContentions(even), withoutContentions(exact), JSON.stringify(selection));
      const owners = query(spread, { selection, by: ["owner-chain"], limit: 50_000, buckets: 13 }).groups;
      const [total, ...rest] = owners;
      assert.equal(rest.reduce((sum, group) => sum + group.duration_ns, 0), total.duration_ns);
      for (const group of owners) assert.equal(group.series.reduce((sum, ns) => sum + ns, 0), group.duration_ns, "series");
    }
  });

  test(`histograms on ${trace}`, () => {
    const random = new Random(seed + 1);
    for (let at = 0; at < CASES / 2; at++) {
      const selection = randomSelection(random, raw);
      const { progress: _progress, ...theirs } = ask("histogram", { selection });
      assert.deepEqual(histogram(data, selection), theirs, JSON.stringify(selection));
    }
  });

  test(`single waits on ${trace}`, () => {
    const random = new Random(seed + 2);
    for (let at = 0; at < CASES / 4; at++) {
      const request = { selection: randomSelection(random, raw), sort: random.pick(["duration", "start"]), limit: 50, cursor: null };
      const fields = ["lock", "thread", "chain", "method"];
      const [theirs, ours] = [ask("waits", request), waits(data, request)];
      assert.deepEqual(named(ours, fields), named(theirs, fields), JSON.stringify(request));
      if (theirs.waits.length === 0) continue;
      const { id } = random.pick(theirs.waits);
      assert.deepEqual(named(wait(data, id), fields), named(ask("wait", { id }), fields), `wait ${id}`);
    }
  });

  test(`lanes on ${trace}`, () => {
    const random = new Random(seed + 3);
    for (let at = 0; at < CASES / 4; at++) {
      const request = { selection: randomSelection(random, raw), by: random.pick(["lock", "lock-class", "thread"]), px: random.pick([7, 100, 1_000]), limit: 200 };
      const fields = ["value", "owner", "thread", "lock"];
      const keyed = (answer) => {
        const lanes = answer.lanes.map((lane) => (lane.bins ? { ...lane, bins: lane.bins.map((bin) => binOf(bin, answer.values)) } : lane));
        const { lanes: all, ...rest } = named({ ...answer, lanes }, fields);
        return { ...rest, lanes: all.sort((a, b) => (a.value < b.value ? -1 : 1)) };
      };
      assert.deepEqual(keyed(lanes(data, request)), keyed(ask("lanes", request)), JSON.stringify(request));
    }
  });
}
