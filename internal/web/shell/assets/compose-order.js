// Reorders images and videos by dragging. Without this script, and by keyboard, use the buttons Up and Down.
'use strict';

let dragged = null; // the item that is being dragged
let orderBefore = []; // the list's items before

const itemsOf = (list) => [...list.children];

form.addEventListener('pointerdown', (event) => {
  const grip = event.target.closest('.thumb');
  if (event.button !== 0 || !grip?.querySelector('.grip') || sending) return;
  event.preventDefault();
  dragged = grip.closest('li.file');
  orderBefore = itemsOf(dragged.parentElement);
  grip.setPointerCapture(event.pointerId);
  dragged.classList.add('dragged');
});

form.addEventListener('pointermove', (event) => {
  if (!dragged?.isConnected) return;
  const list = dragged.parentElement;
  const before = itemsOf(list).find((item) => {
    const box = item.getBoundingClientRect();
    return item !== dragged && event.clientY < box.top + box.height / 2;
  });
  if (before !== dragged.nextElementSibling && before !== dragged) list.insertBefore(dragged, before ?? null);
});

// drop ends a drag. The server renders the list again, because its buttons depend on the order.
function drop(keep) {
  const item = dragged;
  dragged = null;
  item.classList.remove('dragged');
  if (!item.isConnected) return;
  const list = item.parentElement;
  if (!keep) list.append(...orderBefore);
  else if (itemsOf(list).some((other, i) => other !== orderBefore[i])) changeOrder();
}

form.addEventListener('pointerup', () => { if (dragged) drop(true); });
form.addEventListener('pointercancel', () => { if (dragged) drop(false); });
document.addEventListener('keydown', (event) => { if (dragged && event.key === 'Escape') drop(false); });
