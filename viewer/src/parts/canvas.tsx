import { useEffect, useRef, useState } from "preact/hooks";
import type { Ink } from "../state/colours";

/** The context to draw with, on the page or off screen. */
export type Drawing = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

/** The theme's colours, as a canvas needs them. */
export class Theme {
  private readonly probe: HTMLElement;
  private readonly known = new Map<string, string>();

  constructor() {
    this.probe = document.createElement("span");
    this.probe.hidden = true;
    document.body.append(this.probe);
  }

  colour(name: string): string {
    let colour = this.known.get(name);
    if (colour === undefined) {
      this.probe.style.color = `var(${name})`;
      colour = getComputedStyle(this.probe).color;
      this.known.set(name, colour);
    }
    return colour;
  }

  /** Fills a rectangle with an owner's colour, or with what stands for nobody. */
  fill(context: Drawing, ink: Ink, x: number, y: number, width: number, height: number): void {
    context.fillStyle = this.colour(ink.name);
    context.fillRect(x, y, width, height);
    const pattern = this.hatch(context, ink.hatch);
    if (pattern === null || width < 2) return;
    context.fillStyle = pattern;
    context.fillRect(x, y, width, height);
  }

  private readonly patterns = new Map<string, CanvasPattern | null>();

  private hatch(context: Drawing, hatch: Ink["hatch"]): CanvasPattern | null {
    if (hatch === "none") return null;
    if (!this.patterns.has(hatch)) this.patterns.set(hatch, this.newPattern(context, hatch));
    return this.patterns.get(hatch) ?? null;
  }

  private newPattern(context: Drawing, hatch: Ink["hatch"]): CanvasPattern | null {
    const tile = new OffscreenCanvas(6, 6);
    const drawing = tile.getContext("2d")!;
    drawing.strokeStyle = drawing.fillStyle = this.colour(hatch === "others" ? "--surface" : "--hatch");
    drawing.lineWidth = 1;
    drawing.globalAlpha = 0.75;
    if (hatch === "unknown") drawing.fillRect(2, 2, 1.5, 1.5);
    else if (hatch === "others") drawing.fillRect(0, 2, 6, 1);
    else {
      drawing.beginPath();
      for (const at of [-6, 0, 6]) {
        drawing.moveTo(at, 6);
        drawing.lineTo(at + 6, 0);
      }
      drawing.stroke();
    }
    return context.createPattern(tile, "repeat");
  }

  dispose(): void {
    this.probe.remove();
  }
}

/** Counts up when the colours change. */
function useThemeChanges(): number {
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const update = () => setChanges((count) => count + 1);
    const media = ["(prefers-color-scheme: dark)", "print"].map((query) => matchMedia(query));
    media.forEach((query) => query.addEventListener("change", update));
    const observer = new MutationObserver(update);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      media.forEach((query) => query.removeEventListener("change", update));
      observer.disconnect();
    };
  }, []);
  return changes;
}

/** The width of an element, in CSS pixels. */
export function useWidth<T extends HTMLElement>() {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    if (element.current === null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry!.contentRect.width)));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return { element, width };
}

export type Draw = (context: CanvasRenderingContext2D, width: number, height: number, theme: Theme) => void;

/** Draws on a canvas of the given size, again whenever something changed. */
export function useDrawing(width: number, height: number, draw: Draw) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useRef<Theme | null>(null);
  const changes = useThemeChanges();
  // Looking up colours costs more than a frame may take, so they are kept from frame to frame.
  useEffect(() => {
    const current = new Theme();
    theme.current = current;
    return () => current.dispose();
  }, [changes]);
  useEffect(() => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context || width === 0) return;
    const frame = requestAnimationFrame(() => {
      if (theme.current === null) return;
      const ratio = devicePixelRatio || 1;
      resize(element, Math.round(width * ratio), Math.round(height * ratio));
      element.style.height = `${height}px`;
      context.save();
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width, height);
      draw(context, width, height, theme.current);
      context.restore();
    });
    return () => cancelAnimationFrame(frame);
  }, [width, height, draw, changes]);
  return canvas;
}

/** A canvas gets new memory whenever its size is set. */
function resize(element: HTMLCanvasElement, width: number, height: number): void {
  if (element.width !== width) element.width = width;
  if (element.height !== height) element.height = height;
}
