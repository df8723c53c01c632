// Lists the findings.
async function model() {
  const embedded = document.getElementById("locktrace-model");
  if (!embedded) return (await fetch("api/model")).json();
  const bytes = Uint8Array.from(atob(embedded.textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(stream).json()).model;
}
model().then((model) => {
  const list = document.createElement("ol");
  for (const finding of model.findings) {
    const item = document.createElement("li");
    item.textContent = finding.title;
    list.append(item);
  }
  document.getElementById("app").append(list);
});
