// Collapses the later parts of a long page on a narrow screen. The target of a link is expanded, and so is every part in
// print. Without this script, every part is expanded and can be collapsed manually.
'use strict';

const left = 2; // parts that stay open
const parts = [...document.querySelectorAll('details.fold')];

// reveal expands the part that contains the element of a URL fragment.
function reveal(hash) {
  const target = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
  const part = target && target.closest('details.fold');
  if (!part) return;
  part.open = true;
  target.scrollIntoView();
}

if (matchMedia('(max-width: 48rem)').matches) for (const part of parts.slice(left)) part.open = false;
reveal(location.hash);
addEventListener('hashchange', () => reveal(location.hash));
document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href^="#"]');
  if (link) reveal(link.hash); // even if the address already has the fragment
});

let folded = [];
addEventListener('beforeprint', () => {
  folded = parts.filter((part) => !part.open);
  for (const part of folded) part.open = true;
});
addEventListener('afterprint', () => {
  for (const part of folded) part.open = false;
});
