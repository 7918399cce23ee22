// Collapses the later parts of a long page on a narrow screen, and marks the part that is read in the contents. The target of
// a link is expanded, and so is every part in print. Without this script, every part is expanded and can be collapsed manually.
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

const contents = document.querySelector('.contents ul');
const entries = [...document.querySelectorAll('.contents a')].map((link) => [link, document.getElementById(link.hash.slice(1))])
  .filter(([, target]) => target);
const readFrom = 150; // pixels from the top of the window, below the bars
let marked = null;

// isBeside reports whether a part is in a second column.
function isBeside(target) {
  const aside = target.closest('aside');
  return aside && getComputedStyle(aside).display !== 'contents';
}

// readPart returns the link of the last part that begins above the reader's place, or of the last part at the end of the page.
function readPart() {
  const placed = entries.filter(([, target]) => !isBeside(target))
    .map(([link, target]) => [link, target.getBoundingClientRect().top]).sort(([, a], [, b]) => a - b);
  const atEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
  return (atEnd ? placed.at(-1) : placed.findLast(([, top]) => top < readFrom) ?? placed[0])?.[0];
}

// mark marks the part that is read.
function mark() {
  const link = readPart();
  if (!link || link === marked) return;
  marked?.removeAttribute('aria-current');
  link.setAttribute('aria-current', 'true');
  marked = link;
  const [bar, box] = [contents.getBoundingClientRect(), link.getBoundingClientRect()];
  if (box.left < bar.left || box.right > bar.right) contents.scrollLeft += box.left - bar.left - 16;
}

addEventListener('scroll', mark, { passive: true });
mark();
