import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Model, type Store } from "./api/types";
import { Brand, SearchIcon, SunIcon } from "./parts/icons";
import { Help } from "./parts/help";
import { copyText } from "./parts/copy-menu";
import { LiveBar } from "./parts/live-bar";
import { Search } from "./parts/search";
import { SelectionBar } from "./parts/selection-bar";
import { Strip } from "./parts/strip";
import { printAddress, VIEWS, type View } from "./state/address";
import { ownerColours, OWNER_COLOURS } from "./state/colours";
import { following, LAST } from "./state/following";
import { useNavigation } from "./state/navigation";
import { PageContext } from "./state/page";
import { askAhead } from "./state/questions";
import { commandOf, withRange } from "./state/selection";
import { nextTheme, readSetting, showTheme, writeSetting } from "./state/settings";
import { duration, fileName, percent, share, wallClock } from "./text/units";
import { VIEW_NAMES, ViewOf } from "./views/views";

/** Time after which questions are asked again while the traces are read, in milliseconds. */
const EPOCH_MS = 1_000;
/** After all is read, before what other views will ask is asked. */
const ASK_AHEAD_MS = 500;
/** The thread that reads the traces also answers: questions get at most about a tenth of its
 * time, as long as it has more to read. */
const EPOCH_SHARE = 10;

export function App({ store }: { store: Store }) {
  const [model, setModel] = useState<Model | null>(null);
  const [epoch, setEpoch] = useState(0);
  const [error, setError] = useState<string | null>(null);
  const [ranked, setRanked] = useState<string[]>([]);
  const answerMs = useRef(0);
  const [isPaused, setPaused] = useState(false);
  const [isLost, setLost] = useState(false);
  const isStill = useRef({ paused: false, frozen: false, missed: false });

  useEffect(() => {
    const controller = new AbortController();
    const asked = Date.now();
    store.model(controller.signal).then(setModel, (reason: unknown) => {
      if (!controller.signal.aborted) setError(reason instanceof Error ? reason.message : String(reason));
    });
    const owners = store.query({ selection: {}, by: ["owner-thread"], limit: 4 * OWNER_COLOURS }, controller.signal);
    owners.then((answer) => {
      answerMs.current = Date.now() - asked;
      const groups = answer.groups.filter((group) => group.path.length === 1).sort((a, b) => b.duration_ns - a.duration_ns);
      setRanked(groups.map((group) => answer.values[group.path[0]!]!.key).filter((key) => !key.startsWith("<")));
    }, () => {});
    return () => controller.abort();
  }, [store, epoch]);

  useEffect(() => {
    let last = 0;
    let later = 0;
    const ask = () => {
      clearTimeout(later);
      isStill.current.missed = isStill.current.paused || isStill.current.frozen;
      if (isStill.current.missed) return;
      last = Date.now();
      setEpoch((before) => before + 1);
    };
    const end = store.onProgress((progress) => {
      setLost(progress === null);
      if (progress === null) return;
      clearTimeout(later);
      // News that comes too soon may be the last for some time.
      const share = progress.live ? 1 : EPOCH_SHARE;
      const rest = last + Math.max(EPOCH_MS, share * answerMs.current) - Date.now();
      if (progress.done || rest <= 0) ask();
      else later = window.setTimeout(ask, rest);
    });
    return () => {
      clearTimeout(later);
      end();
    };
  }, [store]);

  const goOn = () => {
    const { paused, frozen, missed } = isStill.current;
    if (paused || frozen || !missed) return;
    isStill.current.missed = false;
    setEpoch((before) => before + 1);
  };
  const pause = (paused: boolean) => {
    isStill.current.paused = paused;
    setPaused(paused);
    goOn();
  };
  const freeze = (frozen: boolean) => {
    isStill.current.frozen = frozen;
    goOn();
  };

  if (error !== null && model === null) return <main class="main"><p class="notice bad">The trace cannot be shown: {error}</p></main>;
  if (model === null) return <main class="main"><p class="empty">Reading the trace…</p></main>;
  return <Frame store={store} model={model} epoch={epoch} ranked={ranked} freeze={freeze} pause={{ isPaused, onPause: pause, isLost }} />;
}

interface FrameProps {
  store: Store;
  model: Model;
  epoch: number;
  ranked: string[];
  freeze: (isFrozen: boolean) => void;
  pause: { isPaused: boolean; onPause: (isPaused: boolean) => void; isLost: boolean };
}

type Open = "help" | "search" | null;

function Frame({ store, model, epoch, ranked, freeze, pause }: FrameProps) {
  const navigation = useNavigation();
  const { address, go } = following(navigation, model);
  const isLive = model.live !== null && store.exportAddress !== null;
  const [open, setOpen] = useState<Open>(null);
  // A dialog says a moment late that it was closed. Another one may be open by then, and stays.
  const close = (dialog: Open) => setOpen((now) => (now === dialog ? null : now));
  const [said, setSaid] = useState("");
  const [sourceRoot, setSourceRoot] = useState(readSetting("source-root") ?? "");
  const rankedKey = JSON.stringify(ranked);
  const colours = useMemo(() => ownerColours(ranked), [rankedKey]);
  const say = (text: string) => {
    setSaid(text);
    setTimeout(() => setSaid((now) => (now === text ? "" : now)), 2_500);
  };

  const wasLive = useRef(false);
  useEffect(() => {
    if (wasLive.current && model.progress.done) say("The program has ended");
    wasLive.current = isLive;
  }, [isLive, model.progress.done]);
  useEffect(() => {
    if (!model.progress.done) return;
    const controller = new AbortController();
    // The questions of the first view come first.
    const later = setTimeout(() => void askAhead(store, controller.signal), ASK_AHEAD_MS);
    return () => {
      clearTimeout(later);
      controller.abort();
    };
  }, [store, model.progress.done]);
  useEffect(() => {
    document.title = `${model.traces.map((trace) => fileName(trace.path)).join(", ")} · locktrace`;
  }, [model]);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest("input, select, textarea, dialog[open]") !== null) return;
      const actions: Record<string, () => void> = {
        "/": () => setOpen("search"),
        "?": () => setOpen("help"),
        u: () => history.back(),
        U: () => history.forward(),
        "0": () => go({ selection: withRange(address.selection, 0, model.duration_ns, model.duration_ns) }),
        c: () => {
          void copyText(commandOf(address.selection, address.by, model.traces.map((trace) => trace.path), model.libraries));
          say("Copied the command");
        },
        ...(isLive ? {
          p: () => pause.onPause(!pause.isPaused),
          l: () => go({ last: address.last === null ? LAST[1]![0] : null }),
        } : {}),
        Escape: () => {
          if (address.search !== "") go({ search: "" });
        },
      };
      VIEWS.forEach((view, at) => (actions[String(at + 1)] = () => go({ view, wait: null })));
      const action = actions[event.key];
      if (action === undefined || event.defaultPrevented) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  });

  const page = { store, model, epoch, address, go, freeze, colours, say, sourceRoot };
  return (
    <PageContext.Provider value={page}>
      <a class="skip" href="#main" onClick={(event) => {
        event.preventDefault();
        document.getElementById("main")?.focus();
      }}>To the view</a>
      <header class="bar">
        <span class="brand"><Brand />locktrace</span>
        <TraceName model={model} />
        <button class="searchbox" onClick={() => setOpen("search")} aria-label="Search">
          <span class="row"><SearchIcon /><span class="hint">{address.search === "" ? "Search" : address.search}</span></span><kbd>/</kbd>
        </button>
        {store.exportAddress !== null && <a class="quiet wide-only" href={store.exportAddress} download="">Export</a>}
        <button class="icon quiet" onClick={() => say(`Theme: ${nextTheme()}`)} title="Light, dark, or as the system" aria-label="Change the theme"><SunIcon /></button>
        <button class="icon quiet" onClick={() => setOpen("help")} title="Keys (?)" aria-label="Help">?</button>
      </header>
      <nav class="tabs" aria-label="Views">
        {VIEWS.map((view) => <Tab key={view} view={view} href={printAddress({ ...address, view, wait: null })} isCurrent={view === address.view} />)}
      </nav>
      {isLive ? <LiveBar {...pause} /> : !model.progress.done && store.exportAddress !== null && <ProgressLine model={model} />}
      <section class="selection" aria-label="What the views are about">
        <SelectionBar navigation={navigation} />
        <Strip />
      </section>
      <main class="main" id="main" tabIndex={-1} aria-label={VIEW_NAMES[address.view]}>
        <h1 class="hidden">{VIEW_NAMES[address.view]}</h1>
        <ViewOf view={address.view} />
      </main>
      {open === "help" && <Help onClose={() => close("help")} sourceRoot={sourceRoot} onSourceRoot={(root) => {
        writeSetting("source-root", root);
        setSourceRoot(root);
      }} />}
      {open === "search" && <Search onClose={() => close("search")} />}
      <div role="status" class={said === "" ? "hidden" : "toast"}>{said}</div>
    </PageContext.Provider>
  );
}

function Tab({ view, href, isCurrent }: { view: View; href: string; isCurrent: boolean }) {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (isCurrent) link.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [isCurrent]);
  return <a ref={link} href={href} aria-current={isCurrent ? "page" : undefined}>{VIEW_NAMES[view]}</a>;
}

function TraceName({ model }: { model: Model }) {
  const [first] = model.traces;
  const names = model.traces.map((trace) => fileName(trace.path)).join(", ");
  return (
    <span class="trace-name" title={names}>
      <b>{names}</b> · {duration(model.duration_ns)}{first && ` from ${wallClock(model.start_unix_ns)}`}
    </span>
  );
}

function ProgressLine({ model }: { model: Model }) {
  const part = share(model.progress.bytes, model.progress.total_bytes);
  return (
    <div class="progress" role="progressbar" aria-label="Reading the traces" aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(part * 100)} title={percent(part)}>
      <div style={{ width: `${part * 100}%` }} />
    </div>
  );
}

showTheme();
