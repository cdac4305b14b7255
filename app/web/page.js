// The page around the program: hands over what the browser reports (render/window_web.cpp) and does what only a
// browser can. scripts/web_page.py puts it before the program's own script, and both share their names. The linker
// never reads it: its optimiser loses declarations of more than one name.
var Module = {};

const kHome = '/home/pentamesh';     // what is kept in the browser's storage
const kKept = 'pentamesh:';          // before a file's path there
const kKeepEvery_ms = 250;
const kGoing_ms = 300;

const canvas = document.getElementById('canvas');
const typing = document.getElementById('typing');
const picker = document.getElementById('picker');
const notice = document.getElementById('notice');

function tell(text) {
  notice.textContent = text;
  notice.hidden = text === '';
  notice.classList.add('says');
}

// ---- a bare view in a frame of somebody's page (docs/web.md) ----------------------------------------------

const kMostMessage = 1 << 20;  // as app/ui/shell/embed.h reads

// The link that the page begins with: of its address, else the one that `pentamesh embed` wrote into it.
const startLink = location.hash.length > 1 ? location.hash : JSON.parse(document.getElementById('start').textContent).link || '';

function isBare(link) { return link.slice(1).split('&').includes('bare'); }
const bare = isBare(startLink);  // nothing of it is kept in the browser's storage, and only it hears messages
if (bare) document.documentElement.classList.add('bare');

// Whoever shows the view in a frame gave it its plan, so that nothing that it says is a secret.
function tellHost(message) { if (bare && window.parent !== window) window.parent.postMessage(message, '*'); }

// The picture of `pentamesh embed` goes when the program has drawn its first frame.
function dropStill() {
  const still = document.getElementById('still');
  if (still) still.remove();
}

// Only the page around it is heard. What has no key "pentamesh" is for somebody else.
function onMessage(e) {
  if (!bare || e.source !== window.parent || window.parent === window) return;
  if (typeof e.data !== 'object' || e.data === null || !Object.hasOwn(e.data, 'pentamesh')) return;
  let text = '';
  try { text = JSON.stringify(e.data) || ''; } catch (wrong) { /* a loop, or a number without a form in JSON */ }
  if (text === '' || text.length > kMostMessage)
    return tellHost({ pentamesh: 'error', message: text === '' ? 'the message has no form in JSON' : 'the message is longer than a megabyte' });
  withText(text, (t) => _page_message(t));
}

// ---- the program, packed into the page --------------------------------------------------------------------

function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

async function unpacked(id) {
  const packed = bytesOf(document.getElementById(id).textContent.trim());
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

Module.canvas = canvas;
Module.instantiateWasm = (imports, done) => {
  unpacked('program')
    .then((bytes) => WebAssembly.instantiate(bytes, imports))
    .then((made) => done(made.instance, made.module))
    .catch((e) => tell('Pentamesh could not start: ' + e));
  return {};
};
Module.onAbort = (what) => tell('Pentamesh has stopped. Reload the page: what was not saved is offered again. (' + what + ')');

// ---- graphics ---------------------------------------------------------------------------------------------

// Dear ImGui asks for the state that it is to put back, in each frame. What the browser would ask its graphics process for,
// and wait until that has drawn all that came before, is remembered here as it is set.
function rememberState() {
  const gl = WebGL2RenderingContext, asks = gl.prototype.getParameter;
  const state = new Map();
  const names = {
    blendFuncSeparate: [gl.BLEND_SRC_RGB, gl.BLEND_DST_RGB, gl.BLEND_SRC_ALPHA, gl.BLEND_DST_ALPHA],
    blendEquationSeparate: [gl.BLEND_EQUATION_RGB, gl.BLEND_EQUATION_ALPHA],
  };
  const remember = (setter, noted) => {
    const sets = gl.prototype[setter];
    gl.prototype[setter] = function (...values) {
      noted(values);
      sets.apply(this, values);
    };
  };
  const each = (keys, values) => keys.forEach((key, i) => state.set(key, values[i]));
  for (const [setter, keys] of Object.entries(names)) remember(setter, (values) => each(keys, values));
  remember('blendFunc', ([from, to]) => each(names.blendFuncSeparate, [from, to, from, to]));
  remember('blendEquation', ([mode]) => each(names.blendEquationSeparate, [mode, mode]));
  remember('scissor', (box) => state.set(gl.SCISSOR_BOX, new Int32Array(box)));
  remember('viewport', (box) => state.set(gl.VIEWPORT, new Int32Array(box)));
  gl.prototype.getParameter = function (name) { return state.has(name) ? state.get(name) : asks.call(this, name); };
}
if (window.WebGL2RenderingContext) rememberState();

// ---- files that stay --------------------------------------------------------------------------------------

const stored = new Map();  // path -> text, as it stands in the storage

function storage() {
  try { return window.localStorage; } catch (e) { return null; }  // a browser may forbid it
}

function filesIn(folder, into = []) {
  for (const name of FS.readdir(folder)) {
    if (name === '.' || name === '..') continue;
    const path = folder + '/' + name;
    if (FS.isDir(FS.stat(path).mode)) filesIn(path, into);
    else if (!path.endsWith('.lock')) into.push(path);
  }
  return into;
}

function makeFolders(path) {
  FS.mkdirTree(path.slice(0, path.lastIndexOf('/')));
}

// Plans that were not saved belong to the page that edits them, as core/base/files.h locks them on a desktop:
// what another living page has is not offered here. The lock goes with the page, however that ends.
const locked = new Map();  // the window's part of the name -> whether it is this page's, as a promise

function windowOf(path) {
  const found = path.match(/\/unsaved\/([^./]+)\.\d+\.plan\.json$/);
  return found ? found[1] : '';
}

// `own`: nobody else can have it, so it is waited for.
function lockWindow(name, own = false) {
  if (!name || !navigator.locks) return Promise.resolve(true);
  if (!locked.has(name)) {
    locked.set(name, new Promise((answer) => {
      const hold = () => {
        answer(true);
        return new Promise(() => {});  // as long as the page lives
      };
      // A page that is reloaded may still be on its way out.
      navigator.locks.request(kKept + name, own ? {} : { signal: AbortSignal.timeout(kGoing_ms) }, hold)
        .catch((e) => answer(e.name !== 'TimeoutError' && e.name !== 'AbortError'));
    }));
  }
  return locked.get(name);
}

async function restoreFiles() {
  const kept = storage();
  const paths = [];
  for (let i = 0; kept && i < kept.length; ++i)
    if (kept.key(i).startsWith(kKept + kHome + '/')) paths.push(kept.key(i).slice(kKept.length));
  const ours = await Promise.all(paths.map((path) => lockWindow(windowOf(path))));
  for (const path of paths.filter((_, i) => ours[i])) {
    const text = kept.getItem(kKept + path);
    if (text === null) continue;  // another page took it away
    makeFolders(path);
    FS.writeFile(path, text);
    stored.set(path, text);
  }
}

// Only what this page changed: another one may be open beside it.
function keepFiles() {
  if (bare || !Module.calledRun) return;
  const kept = storage();
  if (!kept) return;
  const there = new Set(filesIn(kHome));
  for (const path of there) {
    const text = FS.readFile(path, { encoding: 'utf8' });
    if (stored.get(path) === text) continue;
    lockWindow(windowOf(path), true);
    try {
      kept.setItem(kKept + path, text);
      stored.set(path, text);
    } catch (e) {
      stored.set(path, text);  // it is full; the program goes on without
      console.info('Pentamesh: the browser keeps no more: ' + e);
    }
  }
  for (const path of [...stored.keys()]) {
    if (there.has(path)) continue;
    kept.removeItem(kKept + path);
    stored.delete(path);
  }
}

// Presets, lessons and fonts: { path: base64 }, as scripts/web_page.py packs them.
async function putData() {
  const files = JSON.parse(new TextDecoder().decode(await unpacked('data')));
  for (const [path, text] of Object.entries(files)) {
    makeFolders('/share/pentamesh/' + path);
    FS.writeFile('/share/pentamesh/' + path, bytesOf(text));
  }
}

Module.preRun = () => {
  ENV.HOME = kHome;
  addRunDependency('files');
  FS.mkdirTree(kHome);
  Promise.all([putData(), bare ? null : restoreFiles()])
    .then(() => removeRunDependency('files'), (e) => tell('Pentamesh could not start: ' + e));
  FS.mkdirTree('/files');
  FS.chdir('/files');
};

// ---- files that come and go -------------------------------------------------------------------------------

function safeName(name) {
  return name.replace(/[^\w.() -]/g, '_').slice(-120) || 'file';
}

const kMostBytes = 64 * 1024 * 1024;  // as core/base/files.h reads

async function takeFile(file, then) {
  if (file.size > kMostBytes) return tellProgram(file.name + ' is larger than 64 MB');
  const path = '/files/' + safeName(file.name);
  FS.writeFile(path, new Uint8Array(await file.arrayBuffer()));
  withText(path, (p) => _page_took_in(p));
  then(path);
}

function withText(text, call) {
  const size = lengthBytesUTF8(text) + 1, at = _malloc(size);
  stringToUTF8(text, at, size);
  try { return call(at); } finally { _free(at); }
}

function tellProgram(text) { withText(text, (t) => _page_say(t)); }

function download(path) {
  const bytes = FS.readFile(path);
  const address = URL.createObjectURL(new Blob([bytes]));
  const link = document.createElement('a');
  link.href = address;
  link.download = path.slice(path.lastIndexOf('/') + 1);
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

// ---- the canvas -------------------------------------------------------------------------------------------

let density = 1;  // pixels per pixel of the page

function measure() {
  density = window.devicePixelRatio || 1;
  const room = canvas.getBoundingClientRect();
  _page_resized(Math.round(room.width * density), Math.round(room.height * density), density);
}

// ---- keys -------------------------------------------------------------------------------------------------

function modifiers(e) {
  return (e.ctrlKey || e.metaKey ? 1 : 0) | (e.shiftKey ? 2 : 0) | (e.altKey ? 4 : 0);
}

function pass(e, down) {
  withText(e.key, (key) => withText(e.code, (code) => _page_key(key, code, down ? 1 : 0, modifiers(e))));
}

// What the browser keeps for itself: reload, developer tools, its own zoom.
function isBrowsers(e) {
  const control = e.ctrlKey || e.metaKey;
  if (e.key === 'F5' && control) return true;
  if (e.key === 'F12') return true;
  return control && ['r', 'R', 't', 'w', 'n', 'N', 'T', 'W', '+', '-', '=', '0'].includes(e.key) && !(e.key === 'n' && e.altKey);
}

function onKeyDown(e) {
  if (e.isComposing || e.key === 'Process' || e.key === 'Unidentified') return;  // a soft keyboard: it writes itself
  if (isBrowsers(e)) return;
  const control = e.ctrlKey || e.metaKey;
  if (control && (e.key === 'v' || e.key === 'V')) return;  // the paste event brings the text first
  e.preventDefault();
  if (!e.repeat) pass(e, true);
  if (e.key.length === 1 && !control && !e.altKey || e.key.length === 1 && e.getModifierState('AltGraph'))
    withText(e.key, (t) => _page_text(t));
  tapTyping();
}

function onKeyUp(e) {
  if (!isBrowsers(e)) pass(e, false);
}

// A soft keyboard needs a field: it stands behind the canvas, empty.
function onTyped(e) {
  if (e.isComposing) return;
  if (e.inputType === 'deleteContentBackward') stroke('Backspace', 0);
  else if (e.inputType === 'insertLineBreak') stroke('Enter', 0);
  else if (typing.value) withText(typing.value, (t) => _page_text(t));
  typing.value = '';
}

function stroke(key, mods) {
  withText(key, (k) => withText('', (c) => { _page_key(k, c, 1, mods); _page_key(k, c, 0, mods); }));
}

let wantsText = false;
function tapTyping() {
  const field = wantsText ? typing : canvas;
  if (document.activeElement !== field) field.focus({ preventScroll: true });
}

async function onPaste(e) {
  if (bare) return;
  e.preventDefault();
  const files = [...(e.clipboardData ? e.clipboardData.files : [])];
  if (files.length > 0) return Promise.all(files.map((f) => takeFile(f, drop)));
  const text = e.clipboardData ? e.clipboardData.getData('text/plain') : '';
  withText(text, (t) => _page_clipboard(t));
  stroke('v', 1);
}

// ---- mouse and touch --------------------------------------------------------------------------------------

function place(e) {
  const room = canvas.getBoundingClientRect();
  return [(e.clientX - room.left) * density, (e.clientY - room.top) * density];
}

function point(e, buttons) {
  const [x, y] = place(e);
  _page_pointer(x, y, buttons, modifiers(e));
}

const kPinchStep = 1.15;  // one notch of a wheel
const kSlop = 8;          // a finger that moves less rests
const kLongPress_ms = 450;
const kSlowing = 0.94;    // of what goes on scrolling, each frame
const fingers = new Map();
let spread = 0, middle = null;  // of two fingers
// What one finger does: 'rests' until it moves, then it 'scrolls' what can be scrolled, 'drags' elsewhere, or, held
// long enough, 'points' as a mouse does. '': nothing.
let does = '', from = null, seen = null, speed = 0, later = 0;

function between() {
  const [a, b] = [...fingers.values()];
  return { apart: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY),
           clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 };
}

function inPage(e) {
  const room = canvas.getBoundingClientRect();
  return [e.clientX - room.left, e.clientY - room.top];
}

function swipe(by) { _page_swipe(...inPage(from), by); }

function fling() {
  if (does !== '' || Math.abs(speed) < 0.5) return;
  swipe(speed);
  speed *= kSlowing;
  requestAnimationFrame(fling);
}

function onFinger(e) {
  fingers.set(e.pointerId, e);
  clearTimeout(later);
  if (fingers.size === 1) {
    does = 'rests', from = seen = e, speed = 0;
    later = setTimeout(() => { if (does === 'rests') does = 'points', point(from, 0); }, kLongPress_ms);
  } else if (fingers.size === 2) {
    if (does === 'drags') point(seen, 0);  // one finger's press is let go
    does = '', middle = between(), spread = middle.apart;
  }
}

function onFingerMove(e) {
  if (!fingers.has(e.pointerId)) return;
  fingers.set(e.pointerId, e);
  if (middle) return fingers.size === 2 ? onTwoFingers() : undefined;
  const x = e.clientX - from.clientX, y = e.clientY - from.clientY;
  if (does === 'rests' && Math.hypot(x, y) >= kSlop) {
    does = Math.abs(y) > Math.abs(x) && _page_scrolls(...inPage(from)) ? 'scrolls' : 'drags';
    if (does === 'drags') point(from, 0), point(from, 1);
  }
  if (does === 'scrolls') swipe(speed = e.clientY - seen.clientY);
  else if (does === 'drags') point(e, 1);
  else if (does === 'points') point(e, 0);
  if (does !== 'rests') seen = e;
}

// Pinching is the wheel over a view; moving up and down scrolls, or is the wheel where nothing does.
function onTwoFingers() {
  const now = between();
  const moved = now.clientY - middle.clientY;
  const zoom = Math.log(now.apart / Math.max(1, spread)) / Math.log(kPinchStep);
  point(now, 0);
  if (Math.abs(zoom) > 0.25 && Math.abs(zoom) > Math.abs(moved) / 40) _page_wheel(zoom, 1);
  else if (Math.abs(moved) < 4) return;
  else if (_page_scrolls(...inPage(now))) _page_swipe(...inPage(now), moved);
  else _page_wheel(moved / 40, 0);
  spread = now.apart, middle = now;
}

function onFingerUp(e, ends) {
  fingers.delete(e.pointerId);
  clearTimeout(later);
  if (fingers.size > 0) return;
  const did = does;
  does = '', middle = null;
  // By the events' own time: a busy page may hear of a short touch late.
  const taps = did === 'rests' || did === 'points' && e.timeStamp - from.timeStamp < kLongPress_ms;
  if (taps && ends) point(from, 0), point(from, 1), point(from, 0);
  if (did === 'drags') point(seen, 0);
  if (did === 'scrolls') requestAnimationFrame(fling);
  tapTyping();
}

// The wheel goes to the page around a bare view until the view was clicked.
function onWheel(e) {
  if (bare && !document.hasFocus()) return;
  e.preventDefault();
  const notch = e.deltaMode === 1 ? 3 : e.deltaMode === 2 ? 1 : 100;
  _page_wheel(-(e.deltaY || e.deltaX) / notch, modifiers(e));
}

// For a script that drives the page (tests/web/): what the window shows, and where the middle of a control is.
function given(text) {
  const value = JSON.parse(UTF8ToString(text));
  _free(text);
  return value;
}
function pentameshState() { return given(_page_state()); }
function pentameshPlace(name, index = 0) {
  const r = withText(name, (n) => given(_page_place(n, index)));
  const scale = pentameshState().scale;
  return r && { x: (r.x + r.w / 2) * scale, y: (r.y + r.h / 2) * scale };
}
// All is drawn, once what came before is taken.
async function pentameshRests() {
  for (let i = 0; i < 2; ++i) await new Promise((go) => requestAnimationFrame(go));
  return _page_rests() === 1;
}

function drop(path) { withText(path, (p) => _page_dropped(p)); }

function listen() {
  const finger = (e) => e.pointerType === 'touch';
  canvas.addEventListener('pointerdown', (e) => {
    e.preventDefault();
    canvas.setPointerCapture(e.pointerId);
    if (finger(e)) return onFinger(e);
    tapTyping();
    point(e, e.buttons);
  });
  canvas.addEventListener('pointermove', (e) => finger(e) ? onFingerMove(e) : point(e, e.buttons));
  for (const over of ['pointerup', 'pointercancel'])
    canvas.addEventListener(over, (e) => finger(e) ? onFingerUp(e, over === 'pointerup') : point(e, e.buttons));
  canvas.addEventListener('pointerleave', (e) => { if (!finger(e) && e.buttons === 0) _page_pointer(-1, -1, 0, 0); });
  canvas.addEventListener('wheel', onWheel, { passive: false });
  canvas.addEventListener('contextmenu', (e) => e.preventDefault());
  canvas.addEventListener('webglcontextlost', () => Module.onAbort('the graphics were lost'));
  document.addEventListener('keydown', onKeyDown);
  document.addEventListener('keyup', onKeyUp);
  document.addEventListener('paste', onPaste);
  typing.addEventListener('input', onTyped);
  typing.addEventListener('compositionend', onTyped);
  window.addEventListener('resize', measure);
  window.addEventListener('focus', () => _page_focus(1));
  window.addEventListener('blur', () => _page_focus(0));
  window.addEventListener('hashchange', () => isBare(location.hash) === bare ? withText(location.hash, (h) => _page_link(h)) : location.reload());
  window.addEventListener('message', onMessage);
  window.addEventListener('dragover', (e) => e.preventDefault());
  window.addEventListener('drop', (e) => {
    e.preventDefault();
    if (bare) return;
    for (const file of e.dataTransfer ? e.dataTransfer.files : []) takeFile(file, drop);
  });
  window.addEventListener('pagehide', keepFiles);
  document.addEventListener('visibilitychange', keepFiles);
  setInterval(keepFiles, kKeepEvery_ms);
}

Module.onRuntimeInitialized = () => {
  measure();
  listen();
  if (!bare) canvas.focus({ preventScroll: true });
};
