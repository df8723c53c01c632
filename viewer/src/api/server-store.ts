import type { Frame, LanesRequest, Progress, QueryRequest, Selection, SourceAnswer, Store, WaitsRequest } from "./types";

function question(body: unknown, signal?: AbortSignal): RequestInit {
  return { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body), signal };
}

async function answer<T>(path: string, init: RequestInit): Promise<T> {
  const response = await fetch(path, init);
  if (!response.ok) {
    const body: unknown = await response.json().catch(() => null);
    const text = body !== null && typeof body === "object" && "error" in body ? String(body.error) : `status ${response.status}`;
    throw new Error(text);
  }
  return (await response.json()) as T;
}

function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return answer<T>(path, { signal });
}

function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return answer<T>(path, question(body, signal));
}

/** Asks `locktrace view`, which served the page. */
export class ServerStore implements Store {
  readonly exportAddress = "export.html";

  model(signal?: AbortSignal) {
    return get<Awaited<ReturnType<Store["model"]>>>("api/model", signal);
  }

  query(request: QueryRequest, signal?: AbortSignal) {
    return post<Awaited<ReturnType<Store["query"]>>>("api/query", request, signal);
  }

  /** A server keeps the answers about a trace that is read. */
  async expect(request: QueryRequest, signal?: AbortSignal) {
    const response = await fetch("api/query", question(request, signal)).catch(() => null);
    await response?.body?.cancel();
  }

  histogram(request: { selection: Selection }, signal?: AbortSignal) {
    return post<Awaited<ReturnType<Store["histogram"]>>>("api/histogram", request, signal);
  }

  waits(request: WaitsRequest, signal?: AbortSignal) {
    return post<Awaited<ReturnType<Store["waits"]>>>("api/waits", request, signal);
  }

  wait(id: number, signal?: AbortSignal) {
    return get<Awaited<ReturnType<Store["wait"]>>>(`api/wait/${id}`, signal);
  }

  lanes(request: LanesRequest, signal?: AbortSignal) {
    return post<Awaited<ReturnType<Store["lanes"]>>>("api/lanes", request, signal);
  }

  async source(frame: Frame, context: number, signal?: AbortSignal): Promise<SourceAnswer | null> {
    const question = new URLSearchParams({
      class: frame.class,
      file: frame.file,
      line: String(frame.line),
      context: String(context),
    });
    const response = await fetch(`api/source?${question}`, { signal });
    return response.ok ? ((await response.json()) as SourceAnswer) : null;
  }

  onProgress(callback: (progress: Progress | null) => void): () => void {
    const events = new EventSource("api/progress");
    events.onmessage = (event: MessageEvent<string>) => {
      const progress = JSON.parse(event.data) as Progress;
      callback(progress);
      if (progress.done) events.close();
    };
    // The browser goes on trying.
    events.onerror = () => callback(null);
    return () => events.close();
  }
}
