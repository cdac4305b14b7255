// The page in a real Chromium, opened from disk: node tests/web/page_test.mjs PAGE CHROMIUM FOLDER_FOR_PICTURES
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Browser } from './browser.mjs';

const [page_file, chromium, out] = process.argv.slice(2);
const address = pathToFileURL(resolve(page_file)).href;
const kMostBytes = 12e6, kMostFirstFrame_ms = Number(process.env.PENTAMESH_FIRST_FRAME_MS || 2000);
mkdirSync(out, { recursive: true });

let failed = 0;
function check(ok, what) {
  console.log((ok ? 'ok    ' : 'FAIL  ') + what);
  if (!ok) ++failed;
}

async function picture(page, name) {
  const bytes = await page.picture();
  writeFileSync(join(out, name + '.png'), bytes);
  return bytes;
}


async function starts(browser) {
  check(statSync(page_file).size < kMostBytes, 'the page is smaller than 12 MB: ' + (statSync(page_file).size / 1e6).toFixed(1));
  const page = await browser.open(address);
  const first = await page.value('performance.getEntriesByName("pentamesh.first")[0].startTime');
  check(first < kMostFirstFrame_ms, 'the first frame comes in ' + Math.round(first) + ' ms (at most ' + kMostFirstFrame_ms + ')');
  await picture(page, 'welcome');
  await page.key('Escape');
  await picture(page, 'dashboard');
  return page;
}

async function views(page) {
  const names = { 1: 'mesh', 2: 'zoom', 3: 'shards', 4: 'map', 5: 'memory', 6: 'timeline', 7: 'comm', 8: 'compare', 9: 'search' };
  const seen = new Set();
  for (const key of Object.keys(names)) {
    await page.key(key);
    const state = await page.state();
    check(state.view !== 'dashboard' && !seen.has(state.view), 'the key ' + key + ' shows a view: ' + state.view);
    seen.add(state.view);
    const bytes = await picture(page, 'view-' + state.view);
    check(bytes.length > 8000, 'it is drawn: ' + bytes.length + ' bytes of PNG');
    await page.key('Escape');
  }
}

async function edits(page) {
  const before = await page.state();
  await page.press('layout.tp.minus');
  const after = await page.state();
  check(after.plan.layout.tp !== before.plan.layout.tp, 'a click changes tp: ' + before.plan.layout.tp + ' to ' + after.plan.layout.tp);
  await page.key('z', { code: 'KeyZ', ctrl: true });
  check((await page.state()).plan.layout.tp === before.plan.layout.tp, 'Ctrl+Z takes it back');
  await page.key('z', { code: 'KeyZ', ctrl: true, shift: true });
  check((await page.state()).plan.layout.tp === after.plan.layout.tp, 'Ctrl+Shift+Z brings it again');
  await page.key('d', { code: 'KeyD', ctrl: true });
  check((await page.state()).message !== '', 'Ctrl+D pins: ' + (await page.state()).message);
}

// The search runs between frames: the page answers meanwhile.
async function searches(page) {
  await page.key('9');
  const slow = await page.value(`new Promise((done) => {
    let most = 0, last = performance.now(), until = last + 3000;
    const look = (now) => { most = Math.max(most, now - last); last = now; now < until ? requestAnimationFrame(look) : done(most); };
    requestAnimationFrame(look);
  })`);
  check(slow < 1000, 'while it searches the longest frame takes ' + Math.round(slow) + ' ms');
  await page.rest();
  check(!(await page.state()).works, 'the search ends');
  await picture(page, 'searched');
  await page.key('Escape');
}

async function links(browser, page) {
  await page.value('navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }');
  await page.key('p', { code: 'KeyP', ctrl: true });
  await page.type('Copy link');
  await page.key('Enter');
  const text = await page.value('window.copied || ""');
  check(text.startsWith(address + '#plan=') && text.length < 2000, 'Copy link copies ' + text.length + ' characters');
  const tp = (await page.state()).plan.layout.tp;
  const other = await browser.open(text);
  check((await other.state()).plan.layout.tp === tp, 'the link opens with the same plan');
  const lesson = await browser.open(address + '#lesson=03&step=2');
  const state = await lesson.state();
  check(state.lesson.startsWith('03') && state.step === 1, 'a link opens a lesson at its step');
  await lesson.press('lesson.next');
  check((await lesson.state()).step !== 1, 'its next step is clicked');
  await picture(lesson, 'lesson');
  const damaged = await browser.open(address + '#plan=AAAA');
  check((await damaged.state()).message.includes('link'), 'a damaged link says so: ' + (await damaged.state()).message);
  return [other, lesson, damaged];
}

// What was not saved is offered after a reload.
async function survives(page) {
  const before = await page.state();
  await page.send('Page.reload');
  await page.until('document.getElementById("notice") && document.getElementById("notice").hidden', 'the page again');
  await page.rest();
  const state = await page.state();
  check(state.dialog !== 0, 'after a reload the unsaved plan is offered');
  await picture(page, 'offered');
  await page.key('Enter');
  await page.rest();
  const open = await page.state();
  if (open.plan.layout.tp !== before.plan.layout.tp && await page.place('recover.open')) await page.press('recover.open');
  check((await page.state()).plan.layout.tp === before.plan.layout.tp, 'and comes back as it was');
}

async function downloads(browser, page) {
  const folder = resolve(out, 'downloads');
  mkdirSync(folder, { recursive: true });
  await browser.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
  const end = Date.now() + 20000;
  await page.key('s', { code: 'KeyS', ctrl: true });
  while (!readdirSync(folder).some((f) => f.endsWith('.json')) && Date.now() < end) await new Promise((go) => setTimeout(go, 50));
  const file = readdirSync(folder).find((f) => f.endsWith('.json'));
  check(file !== undefined, 'Ctrl+S downloads the plan: ' + file);
  if (file) check(JSON.parse(readFileSync(join(folder, file))).format === 'pentamesh.plan/1', 'which is a plan file');
}

async function phone(browser) {
  const page = await browser.open(address + '#view=memory', { width: 390, height: 844, density: 3, mobile: true });
  await picture(page, 'phone');
  const at = await page.place('menu.File') || { x: 30, y: 16 };
  await page.tap(at.x, at.y);
  await picture(page, 'phone-menu');
  return page;
}

const browser = new Browser(chromium);
try {
  const page = await starts(browser);
  await views(page);
  await edits(page);
  const others = await links(browser, page);
  await downloads(browser, page);
  await edits(page);
  await searches(page);
  await survives(page);
  const small = await phone(browser);
  const all = [page, ...others, small];
  const errors = all.flatMap((p) => p.errors);
  check(errors.length === 0, 'no error is logged' + (errors.length ? ': ' + errors.slice(0, 5).join(' | ') : ''));
  const asked = all.flatMap((p) => p.requests).filter((r) => !r.startsWith(address.split('#')[0]) && !r.startsWith('data:') && !r.startsWith('blob:'));
  check(asked.length === 0, 'nothing is asked of a network' + (asked.length ? ': ' + asked[0] : ''));
} catch (e) {
  check(false, String(e.stack));
}
await browser.close();
process.exit(failed === 0 ? 0 : 1);
