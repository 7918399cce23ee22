// Searches the pages for all words of the query. Pages with the words in their titles come first.
const { root } = document.currentScript.dataset;
const input = document.getElementById("q");
const found = document.getElementById("found");
let index;

async function search() {
  index ??= await (await fetch(root + "index.json")).json();
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = words.length === 0 ? [] : index.filter((p) => {
    const text = (p.title + " " + p.text).toLowerCase();
    return words.every((w) => text.includes(w));
  });
  const inTitle = (p) => words.some((w) => p.title.toLowerCase().includes(w));
  matches.sort((a, b) => inTitle(b) - inTitle(a));
  found.hidden = words.length === 0;
  found.replaceChildren(...matches.slice(0, 20).map((p) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = root + p.path;
    link.textContent = p.title;
    const before = Math.max(0, p.text.toLowerCase().indexOf(words[0]) - 40);
    const at = before && p.text.indexOf(" ", before) + 1; // the beginning of a word
    item.append(link, " " + p.text.slice(at, at + 120) + "…");
    return item;
  }));
  if (matches.length === 0) found.textContent = "No matches.";
}
if (matchMedia("(max-width: 48rem)").matches) { // the page comes before its neighbors
  for (const section of document.querySelectorAll("nav details")) section.open = false;
}
input.addEventListener("input", search);
