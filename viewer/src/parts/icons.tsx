function Icon({ path }: { path: string }) {
  return (
    <svg viewBox="0 0 16 16" width="15" height="15" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round">
      <path d={path} />
    </svg>
  );
}

export const UndoIcon = () => <Icon path="M3 6h7a3.5 3.5 0 0 1 0 7H7M3 6l3-3M3 6l3 3" />;
export const RedoIcon = () => <Icon path="M13 6H6a3.5 3.5 0 0 0 0 7h3M13 6l-3-3M13 6l-3 3" />;
export const CloseIcon = () => <Icon path="M4.5 4.5l7 7M11.5 4.5l-7 7" />;
export const SearchIcon = () => <Icon path="M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.8 10.8L14 14" />;
export const SunIcon = () => <Icon path="M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v1M8 14v1M1 8h1M14 8h1M3 3l.7.7M12.3 12.3l.7.7M3 13l.7-.7M12.3 3.7l.7-.7" />;
export const CopyIcon = () => <Icon path="M6 6h7v8H6zM3 10V2h7" />;

export function Twist() {
  return (
    <svg viewBox="0 0 10 10" aria-hidden="true"><path d="M3 1l4 4-4 4" fill="none" stroke="currentColor" stroke-width="1.6" /></svg>
  );
}

/** Two bars side by side in time, the second begins where the first ends. */
export function Brand() {
  return (
    <svg viewBox="0 0 20 20" aria-hidden="true">
      <rect x="1" y="4" width="11" height="5" rx="1.5" fill="var(--owner)" />
      <rect x="4" y="11" width="15" height="5" rx="1.5" fill="var(--waiter)" />
    </svg>
  );
}
