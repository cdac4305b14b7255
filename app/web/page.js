// The page around the program: hands over what the browser reports (render/window_web.cpp) and does what only a
// browser can. scripts/web_page.py puts it before the program's own script, and both share their names. The linker
// never reads it: its optimiser loses declarations of more than one name.
var Module = {};

const kHome = '/home/pentamesh';     // what is kept in the browser's storage
const kKept = 'pentamesh:';          // before a file's path there
const kKeepEvery_ms = 250;

const canvas = document.getElementById('canvas');
const typing = document.getElementById('typing');
const picker = document.getElementById('picker');
const notice = document.getElementById('notice');

function tell(text) {
  notice.textContent = text;
  notice.hidden = text === '';
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

function restoreFiles() {
  const kept = storage();
  FS.mkdirTree(kHome);
  for (let i = 0; kept && i < kept.length; ++i) {
    const key = kept.key(i);
    if (!key.startsWith(kKept + kHome + '/')) continue;
    const path = key.slice(kKept.length), text = kept.getItem(key);
    makeFolders(path);
    FS.writeFile(path, text);
    stored.set(path, text);
  }
}

// Only what this page changed: another one may be open beside it.
function keepFiles() {
  const kept = storage();
  if (!kept || !Module.calledRun) return;
  const there = new Set(filesIn(kHome));
  for (const path of there) {
    const text = FS.readFile(path, { encoding: 'utf8' });
    if (stored.get(path) === text) continue;
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
  addRunDependency('data');
  putData().then(() => removeRunDependency('data'), (e) => tell('Pentamesh could not start: ' + e));
  restoreFiles();
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
const fingers = new Map();
let spread = 0, middle = null;

function between() {
  const [a, b] = [...fingers.values()];
  return { apart: Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY),
           x: (a.clientX + b.clientX) / 2, y: (a.clientY + b.clientY) / 2 };
}

function onFinger(e, down) {
  if (down) fingers.set(e.pointerId, e);
  if (fingers.size === 1 && down) {
    point(e, 0);
    point(e, 1);
  } else if (fingers.size === 2) {
    const now = between();
    if (!middle) {
      point(e, 0);  // one finger's press is taken back
      spread = now.apart, middle = now;
    }
  }
  if (!down) {
    fingers.delete(e.pointerId);
    if (fingers.size === 0) {
      if (!middle) point(e, 0);
      middle = null;
      tapTyping();
    }
  }
}

// Two fingers: pinching is the wheel with Ctrl's meaning of a view, moving is the wheel.
function onFingerMove(e) {
  if (!fingers.has(e.pointerId)) return;
  fingers.set(e.pointerId, e);
  if (fingers.size === 1 && !middle) return point(e, 1);
  if (fingers.size !== 2 || !middle) return;
  const now = between();
  point({ clientX: now.x, clientY: now.y }, 0);
  const zoom = Math.log(now.apart / Math.max(1, spread)) / Math.log(kPinchStep);
  const moved = (now.y - middle.y) / 40;
  if (Math.abs(zoom) > Math.abs(moved) && Math.abs(zoom) > 0.25) _page_wheel(zoom, 1);
  else if (Math.abs(moved) > 0.1) _page_wheel(moved, 0);
  else return;
  spread = now.apart, middle = now;
}

function onWheel(e) {
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
    if (finger(e)) return onFinger(e, true);
    tapTyping();
    point(e, e.buttons);
  });
  canvas.addEventListener('pointermove', (e) => finger(e) ? onFingerMove(e) : point(e, e.buttons));
  for (const over of ['pointerup', 'pointercancel'])
    canvas.addEventListener(over, (e) => finger(e) ? onFinger(e, false) : point(e, e.buttons));
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
  window.addEventListener('hashchange', () => withText(location.hash, (h) => _page_link(h)));
  window.addEventListener('dragover', (e) => e.preventDefault());
  window.addEventListener('drop', (e) => {
    e.preventDefault();
    for (const file of e.dataTransfer ? e.dataTransfer.files : []) takeFile(file, drop);
  });
  window.addEventListener('pagehide', keepFiles);
  document.addEventListener('visibilitychange', keepFiles);
  setInterval(keepFiles, kKeepEvery_ms);
}

Module.onRuntimeInitialized = () => {
  measure();
  listen();
  canvas.focus({ preventScroll: true });
};
