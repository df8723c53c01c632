import { useEffect, useRef, useState } from "preact/hooks";

/** Draws of many rows of one height only those in sight. */
export function useWindow(rows: number, rowHeight: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const update = () => setView({ top: element.scrollTop, height: element.clientHeight });
    const observer = new ResizeObserver(update);
    observer.observe(element);
    element.addEventListener("scroll", update, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", update);
    };
  }, []);

  const isPrinted = usePrinted();
  const first = isPrinted ? 0 : Math.max(0, Math.floor(view.top / rowHeight) - 8);
  const last = isPrinted ? Math.min(rows, 2_000) : Math.min(rows, Math.ceil((view.top + view.height) / rowHeight) + 8);
  const show = (row: number) => {
    const element = scroller.current;
    if (element === null) return;
    const top = row * rowHeight;
    // The sticky head hides one row.
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + 2 * rowHeight > element.scrollTop + element.clientHeight) element.scrollTop = top + 2 * rowHeight - element.clientHeight;
  };
  return { scroller, first, last, show };
}

/** On paper there is no scrolling. */
function usePrinted(): boolean {
  const [isPrinted, setPrinted] = useState(false);
  useEffect(() => {
    const query = matchMedia("print");
    const update = () => setPrinted(query.matches);
    query.addEventListener("change", update);
    return () => query.removeEventListener("change", update);
  }, []);
  return isPrinted;
}
