/** A small curve over time; the numbers are next to it in the row. */
export function Spark({ series }: { series: number[] | undefined }) {
  if (series === undefined || series.length === 0) return null;
  const most = Math.max(...series, 1);
  const points = series.map((value, at) => `${at} ${(1 - value / most).toFixed(3)}L${at + 1} ${(1 - value / most).toFixed(3)}`);
  return (
    <svg class="spark" viewBox={`0 -0.06 ${series.length} 1.06`} preserveAspectRatio="none" aria-hidden="true">
      <path d={`M0 1L${points.join("L")}L${series.length} 1Z`} />
    </svg>
  );
}
