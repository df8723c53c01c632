import type { LanesRequest, QueryRequest, Selection, Store, WaitsRequest } from "../api/types";
import { Data, unpack } from "./data";
import { histogram } from "./histogram";
import { lanes } from "./lanes";
import { query } from "./query";
import { wait, waits } from "./waits";

/** Answers from the model in the page, where there is no server. */
export class EmbeddedStore implements Store {
  readonly exportAddress = null;
  private readonly data: Promise<Data>;

  constructor(base64: string) {
    this.data = unpack(base64);
  }

  async model() {
    return (await this.data).model;
  }

  /** Lets a question that is no longer asked go unanswered. */
  private async answer<T>(signal: AbortSignal | undefined, find: (data: Data) => T): Promise<T> {
    const data = await this.data;
    // Key presses and frames come first.
    await new Promise((resolve) => setTimeout(resolve));
    signal?.throwIfAborted();
    return find(data);
  }

  query(request: QueryRequest, signal?: AbortSignal) {
    return this.answer(signal, (data) => query(data, request));
  }

  /** Answers are not kept. */
  async expect() {}

  histogram(request: { selection: Selection }, signal?: AbortSignal) {
    return this.answer(signal, (data) => histogram(data, request.selection));
  }

  waits(request: WaitsRequest, signal?: AbortSignal) {
    return this.answer(signal, (data) => waits(data, request));
  }

  wait(id: number, signal?: AbortSignal) {
    return this.answer(signal, (data) => wait(data, id));
  }

  lanes(request: LanesRequest, signal?: AbortSignal) {
    return this.answer(signal, (data) => lanes(data, request));
  }

  async source() {
    return null;
  }

  onProgress() {
    return () => {};
  }
}
