import type { Names } from "../api/types";
import type { Data } from "./data";

/** Numbers the values and frames that an answer refers to, in the order in which they come up. */
export class NamesUsed {
  readonly names: Names = { values: [], frames: [] };
  private readonly values = new Map<number, number>();
  private readonly frames = new Map<number, number>();

  constructor(private readonly data: Data) {}

  value(index: number): number {
    const known = this.values.get(index);
    if (known !== undefined) return known;
    const value = this.data.values[index]!;
    const chain = value.chain && { ...value.chain, frames: value.chain.frames.map((frame) => this.frame(frame)) };
    this.names.values.push(chain ? { ...value, chain } : value);
    this.values.set(index, this.names.values.length - 1);
    return this.names.values.length - 1;
  }

  private frame(index: number): number {
    const known = this.frames.get(index);
    if (known !== undefined) return known;
    this.names.frames.push(this.data.frames[index]!);
    this.frames.set(index, this.names.frames.length - 1);
    return this.names.frames.length - 1;
  }
}
