import { ASPECTS, type Aspect, type Frame, type Model, type Value } from "../api/types";

/** The model as it is embedded: docs/viewer-api.md. */
export interface RawModel {
  model: Model;
  values: Value[];
  frames: Frame[];
  waiters: Record<string, number[]>;
  owners: Record<string, number[]>;
  waits: { id: number[]; waiter: number[]; start_ns: number[]; duration_ns: number[]; safepoint_ns: number[]; flags: number[]; shares: number[] };
  shares: { owner: number[]; duration_ns: number[]; contentions: number[] };
  parts: { count: number[]; share: number[]; duration_ns: number[] } | null;
  folded: {
    waiter: number[];
    from_ns: number[];
    to_ns: number[];
    waits: number[];
    duration_ns: number[];
    max_ns: number[];
    histogram: [number, number][][];
    shares: number[];
  };
  folded_shares: { owner: number[]; waits: number[]; duration_ns: number[]; contentions: number[]; max_ns: number[] };
}

/** Returns the begin of each row's entries in a table that belongs to another; one more than
 * rows. */
function offsets(counts: number[]): Float64Array {
  const begins = new Float64Array(counts.length + 1);
  counts.forEach((count, row) => (begins[row + 1] = begins[row]! + count));
  return begins;
}

/** The embedded model with what queries look up. Columns are indexed by row. */
export class Data {
  readonly model: Model;
  readonly values: Value[];
  readonly frames: Frame[];
  /** For each aspect of the waiting side, the value of each waiter. */
  readonly waiters: Record<string, number[]>;
  readonly owners: Record<string, number[]>;
  readonly waits: RawModel["waits"];
  readonly start: Float64Array;
  readonly shares: RawModel["shares"];
  readonly sharesOf: Float64Array;
  readonly parts: RawModel["parts"];
  readonly partsOf: Float64Array;
  readonly folded: RawModel["folded"];
  readonly foldedShares: RawModel["folded_shares"];
  readonly foldedSharesOf: Float64Array;
  /** The longest wait: what began this long before a range cannot be in it. */
  readonly longest: number;
  private readonly rowOfId: Map<number, number>;

  constructor(raw: RawModel) {
    this.model = raw.model;
    // A position among the traces is a value like others.
    const traces = raw.model.traces.map((trace, at): Value => ({ aspect: "trace", key: String(at), label: trace.path }));
    const first = raw.values.length;
    this.values = [...raw.values, ...traces];
    this.frames = raw.frames;
    this.waiters = { ...raw.waiters, trace: (raw.waiters["trace"] ?? []).map((at) => first + at) };
    this.owners = raw.owners;
    this.waits = raw.waits;
    this.start = new Float64Array(raw.waits.start_ns.length);
    let start = 0;
    raw.waits.start_ns.forEach((difference, row) => (this.start[row] = start += difference));
    this.shares = raw.shares;
    this.sharesOf = offsets(raw.waits.shares);
    this.parts = raw.parts;
    this.partsOf = offsets(raw.parts?.count ?? []);
    this.folded = raw.folded;
    this.foldedShares = raw.folded_shares;
    this.foldedSharesOf = offsets(raw.folded.shares);
    this.longest = raw.waits.duration_ns.reduce((longest, duration) => Math.max(longest, duration), 0);
    this.rowOfId = new Map(raw.waits.id.map((id, row) => [id, row]));
  }

  row(id: number): number | undefined {
    return this.rowOfId.get(id);
  }

  /** The values of an aspect by waiter or by owner. */
  column(aspect: Aspect): { ofOwner: boolean; values: number[] } {
    const ofOwner = aspect.startsWith("owner-");
    const values = (ofOwner ? this.owners : this.waiters)[aspect];
    if (values === undefined || !ASPECTS.includes(aspect)) throw new Error(`unknown aspect "${aspect}"`);
    return { ofOwner, values };
  }
}

/** Unpacks the model from base64 and gzip. */
export async function unpack(base64: string): Promise<Data> {
  const packed = Uint8Array.from(atob(base64.trim()), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const raw = JSON.parse(await new Response(stream).text()) as RawModel;
  return new Data(raw);
}
