// Draws a frame over an image that can be dragged, resized and moved by keyboard. It sets the numbers in the form. Without
// this script, people enter the numbers.
'use strict';

const form = document.getElementById('crop');
const whole = { width: Number(form.dataset.width), height: Number(form.dataset.height) };
const least = Math.min(16, whole.width, whole.height); // pixels of a side
const names = ['left', 'top', 'width', 'height'];
const clamp = (value, from, to) => Math.min(Math.max(value, from), to);

const stage = form.querySelector('.crop-picture');
const frame = document.createElement('div');
frame.className = 'crop-frame';
frame.tabIndex = 0;
frame.setAttribute('role', 'group');
frame.setAttribute('aria-roledescription', 'crop frame');
for (const corner of ['nw', 'ne', 'sw', 'se']) {
  const handle = document.createElement('span');
  handle.className = `crop-handle ${corner}`;
  handle.dataset.corner = corner;
  frame.append(handle);
}
stage.append(frame);
const size = document.createElement('p');
size.className = 'faint';
size.setAttribute('role', 'status');
form.querySelector('.crop-stage').append(size);

const turned = () => Number(form.elements.turn.value) % 2 === 1;

// ratio returns the width of the part for a height of 1, or 0 for any.
function ratio() {
  const chosen = Number(form.querySelector('[name=shape]:checked').dataset.ratio);
  return chosen && turned() ? 1 / chosen : chosen;
}

// part returns the part that the numbers in the form describe, limited to the image.
function part() {
  const [left, top, width, height] = names.map((name) => Math.round(Number(form.elements[name].value)) || 0);
  const within = { width: clamp(width, least, whole.width), height: clamp(height, least, whole.height) };
  return { ...within, left: clamp(left, 0, whole.width - within.width), top: clamp(top, 0, whole.height - within.height) };
}

// draw shows the frame of the numbers in the form.
function draw() {
  const now = part();
  frame.style.left = `${now.left / whole.width * 100}%`;
  frame.style.top = `${now.top / whole.height * 100}%`;
  frame.style.width = `${now.width / whole.width * 100}%`;
  frame.style.height = `${now.height / whole.height * 100}%`;
  const [width, height] = turned() ? [now.height, now.width] : [now.width, now.height];
  size.textContent = translate('The new image has %s × %s pixels.', width, height);
  frame.setAttribute('aria-label', translate('Crop frame, %s × %s pixels, %s from the left, %s from the top. Arrow keys move it, with Shift they change its size.', now.width, now.height, now.left, now.top));
}

// set writes a part to the form, in whole pixels and with the chosen shape.
function set(next) {
  let [width, height] = [Math.floor(next.width), Math.floor(next.height)];
  const shape = ratio();
  const wide = shape ? Math.floor(height * shape + 1e-6) : width; // as the server computes it in integers
  if (wide < width) width = wide;
  else if (wide > width) height = Math.floor(width / shape + 1e-6);
  const left = clamp(Math.round(next.left), 0, whole.width - width);
  const top = clamp(Math.round(next.top), 0, whole.height - height);
  for (const [name, value] of Object.entries({ left, top, width, height })) form.elements[name].value = value;
  draw();
}

// fit returns the largest part of a shape around the center of a part.
function fit(now, shape) {
  if (!shape) return now;
  const width = Math.min(now.width, now.height * shape);
  const height = Math.min(now.height, now.width / shape);
  return { left: now.left + (now.width - width) / 2, top: now.top + (now.height - height) / 2, width, height };
}

// resize returns a part with a moved corner, with the chosen shape and within the image.
function resize(from, corner, dx, dy) {
  const west = corner.includes('w');
  const north = corner.includes('n');
  const room = { width: west ? from.left + from.width : whole.width - from.left, height: north ? from.top + from.height : whole.height - from.top };
  let width = clamp(from.width + (west ? -dx : dx), least, room.width);
  let height = clamp(from.height + (north ? -dy : dy), least, room.height);
  const shape = ratio();
  if (shape) {
    width = clamp(Math.max(width, height * shape), least * Math.max(1, shape), Math.min(room.width, room.height * shape));
    height = width / shape;
  }
  return { left: west ? from.left + from.width - width : from.left, top: north ? from.top + from.height - height : from.top, width, height };
}

const move = (from, dx, dy) => ({ ...from, left: clamp(from.left + dx, 0, whole.width - from.width), top: clamp(from.top + dy, 0, whole.height - from.height) });

// turn shows the image as it is after the rotation, small enough for its place.
function turn() {
  const by = Number(form.elements.turn.value) % 4;
  stage.dataset.turn = by;
  const [a, b] = [stage.clientWidth, stage.clientHeight];
  stage.style.scale = by % 2 === 1 ? Math.min(a, b) / Math.max(a, b) : '';
}

// upright returns a movement on the screen as a movement on the image before its rotation.
function upright(x, y) {
  return [[x, y], [y, -x], [-x, -y], [-y, x]][Number(form.elements.turn.value) % 4];
}

let drag = null;
frame.addEventListener('pointerdown', (event) => {
  if (event.button !== 0) return;
  event.preventDefault();
  frame.focus({ preventScroll: true });
  frame.setPointerCapture(event.pointerId);
  drag = { x: event.clientX, y: event.clientY, from: part(), corner: event.target.dataset.corner };
});
frame.addEventListener('pointermove', (event) => {
  if (!drag) return;
  const scale = whole.width / stage.clientWidth / (Number(stage.style.scale) || 1);
  const [dx, dy] = upright((event.clientX - drag.x) * scale, (event.clientY - drag.y) * scale);
  set(drag.corner ? resize(drag.from, drag.corner, dx, dy) : move(drag.from, dx, dy));
});
for (const end of ['pointerup', 'pointercancel']) frame.addEventListener(end, () => { drag = null; });

const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
frame.addEventListener('keydown', (event) => {
  const arrow = arrows[event.key];
  if (!arrow) return;
  event.preventDefault();
  const step = Math.max(1, Math.round(Math.max(whole.width, whole.height) / 100));
  const [dx, dy] = upright(...arrow.map((direction) => direction * step));
  set(event.shiftKey ? resize(part(), 'se', dx, dy) : move(part(), dx, dy));
});

form.addEventListener('change', (event) => {
  if (event.target.name === 'shape') set(fit({ left: 0, top: 0, ...whole }, ratio()));
  if (event.target.name === 'turn') {
    set(fit(part(), ratio()));
    turn();
  }
});
const turns = form.querySelector('[data-turn]');
turns.hidden = false;
form.querySelector('[data-turn-list]').hidden = true;
turns.addEventListener('click', (event) => {
  const button = event.target.closest('button');
  if (!button) return;
  form.elements.turn.value = (Number(form.elements.turn.value) + Number(button.value)) % 4;
  form.elements.turn.dispatchEvent(new Event('change', { bubbles: true }));
});
form.addEventListener('input', (event) => { if (names.includes(event.target.name)) draw(); });
draw();
if (stage.querySelector('img').complete) turn();
else stage.querySelector('img').addEventListener('load', turn);
