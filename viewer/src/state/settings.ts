/** Settings that a browser keeps of the page; where it keeps none, the page works all the same. */
export function readSetting(name: string): string | null {
  try {
    return localStorage.getItem(`locktrace.${name}`);
  } catch {
    return null;
  }
}

export function writeSetting(name: string, value: string): void {
  try {
    localStorage.setItem(`locktrace.${name}`, value);
  } catch {
    // Not kept: it holds until the page is closed.
  }
}

const THEMES = ["system", "light", "dark"];

export function showTheme(): void {
  const theme = readSetting("theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset["theme"] = theme;
  else delete document.documentElement.dataset["theme"];
}

/** Switches to the next theme, and returns its name. */
export function nextTheme(): string {
  const now = document.documentElement.dataset["theme"] ?? "system";
  const next = THEMES[(THEMES.indexOf(now) + 1) % THEMES.length]!;
  writeSetting("theme", next);
  if (next === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = next;
  return next;
}
