// The page in a real Chromium, opened from disk: node tests/web/page_test.mjs PAGE CHROMIUM FOLDER_FOR_PICTURES [PROGRAM]
// PROGRAM is the native one, which writes figures for the pages of others.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Browser } from './browser.mjs';
import { Checks } from './checks.mjs';
import { livesInAPage } from './embed.mjs';
import { refusesStrangers } from './guard.mjs';
import { fitsPhone } from './phone.mjs';

const [page_file, chromium, out, program] = process.argv.slice(2);
const address = pathToFileURL(resolve(page_file)).href;
const kMostBytes = 12e6, kMostFirstFrame_ms = Number(process.env.PENTAMESH_FIRST_FRAME_MS || 2000);
const t = new Checks(out);

// The page says which dialog is open by its place in DialogKind.
const kinds = readFileSync(new URL('../../app/ui/shell/window.h', import.meta.url), 'utf8').match(/enum class DialogKind[^{]*\{([^}]*)\}/)[1];
const openDialog = Object.fromEntries(kinds.replace(/\/\/.*/g, '').split(',').map((name, at) => [name.trim(), at]));

async function starts(browser) {
  t.check(statSync(page_file).size < kMostBytes, 'the page is smaller than 12 MB: ' + (statSync(page_file).size / 1e6).toFixed(1));
  const page = await browser.open(address);
  const first = await page.value('performance.getEntriesByName("pentamesh.first")[0].startTime');
  t.check(first < kMostFirstFrame_ms, 'the first frame comes in ' + Math.round(first) + ' ms (at most ' + kMostFirstFrame_ms + ')');
  await t.picture(page, 'welcome');
  await page.key('Escape');
  await t.picture(page, 'dashboard');
  return page;
}

async function views(page) {
  const names = { 1: 'map', 2: 'mesh', 3: 'shards', 4: 'memory', 5: 'timeline', 6: 'comm', 7: 'step', 8: 'layer', 9: 'search' };
  for (const [key, name] of Object.entries(names)) {
    await page.key(key);
    t.equal((await page.state()).view, name, 'the key ' + key + ' shows the view ' + name);
    const bytes = await t.picture(page, 'view-' + name);
    t.check(bytes.length > 8000, 'it is drawn: ' + bytes.length + ' bytes of PNG');
    await page.key('Escape');
  }
  await page.key('Escape');
  t.equal((await page.state()).view, 'dashboard', 'Escape leaves the last one');
}

async function edits(page) {
  const tp = async () => (await page.state()).plan.layout.tp;
  const before = await tp();
  await page.press('layout.tp.minus');
  const after = await tp();
  t.check(after < before, 'a click changes tp: ' + before + ' to ' + after);
  await page.key('z', { code: 'KeyZ', ctrl: true });
  t.equal(await tp(), before, 'Ctrl+Z takes it back');
  await page.key('z', { code: 'KeyZ', ctrl: true, shift: true });
  t.equal(await tp(), after, 'Ctrl+Shift+Z brings it again');
  await page.key('z', { code: 'KeyZ', ctrl: true });
}

// What the keyboard reaches stands in a part of the page that a screen reader reads aloud.
async function speaks(page) {
  const said = new Set();
  for (let i = 0; i < 6; ++i) {
    await page.key('Tab');
    said.add(await page.value('document.getElementById("spoken").textContent'));
  }
  t.check(said.size > 2, 'Tab is said aloud: ' + [...said].join(' | '));
}

// A field is clicked, typed into and left by Enter.
async function types(page) {
  await page.press('layout.dp_shard');
  await page.key('a', { code: 'KeyA', ctrl: true });
  await page.type('4');
  await page.key('Enter');
  t.equal((await page.state()).plan.layout.dp_shard, 4, 'a figure that is typed is in the plan');
}

async function pins(page) {
  t.check(!(await page.state()).pinned, 'nothing is pinned at first');
  await page.key('d', { code: 'KeyD', ctrl: true });
  t.check((await page.state()).pinned, 'Ctrl+D pins the plan');
  await page.press('layout.tp.plus');
  await page.key('8');
  await t.picture(page, 'pinned');
  await page.key('Escape');
  await page.key('Escape');
}

// The search runs between frames: the page answers meanwhile.
async function searches(page) {
  await page.key('9', {}, false);
  const seen = await page.value(`new Promise((done) => {
    let most = 0, frames = 0, last = performance.now(), until = last + 1500;
    const look = (now) => { most = Math.max(most, now - last); last = now; ++frames; now < until ? requestAnimationFrame(look) : done({ most, frames }); };
    requestAnimationFrame(look);
  })`);
  t.check(seen.most < 1000, 'while it searches the longest frame takes ' + Math.round(seen.most) + ' ms, of ' + seen.frames);
  await page.rest();
  t.check(!(await page.state()).works, 'the search ends');
  await t.picture(page, 'searched');
  await page.key('Escape');
}

async function links(browser, page) {
  await page.value('navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }');
  await page.key('p', { code: 'KeyP', ctrl: true });
  await page.type('Copy link');
  await page.key('Enter');
  const text = await page.value('window.copied || ""');
  t.check(text.startsWith(address + '#plan=') && text.length < 2000, 'Copy link copies ' + text.length + ' characters');
  const plan = JSON.stringify((await page.state()).plan);
  const other = await browser.open(text);
  t.equal(JSON.stringify((await other.state()).plan), plan, 'the link opens with the same plan');
  t.equal((await other.state()).dialog, openDialog.none, 'what another page has open is not offered');
  await other.value(`location.hash = 'view=memory'`);
  await other.until(`pentameshState().view === 'memory'`, 'the view of a link that is typed');
  t.check(true, 'a link that is typed into the address is followed');
  return other;
}

async function lesson(browser) {
  const page = await browser.open(address + '#lesson=03&step=2');
  const begun = await page.state();
  t.check(begun.lesson.startsWith('03') && begun.step === 1, 'a link opens a lesson at its step');
  await page.press('lesson.entry');
  await page.type('504');  // 126 layers, 4 waits each
  await page.press('lesson.check');
  await t.picture(page, 'lesson-answered');
  t.check(!await page.place('lesson.check'), 'the right answer is taken');
  for (let step = begun.step, turns = 0; turns < 20; ++turns) {
    await page.press('lesson.next');
    const state = await page.state();
    if (state.lesson !== begun.lesson || state.step === step) break;
    t.equal(state.step, ++step, 'Next goes to step ' + (step + 1) + ' of the lesson');
  }
  const after = await page.state();
  t.check(after.lesson !== begun.lesson, 'the lesson is clicked through to its end; then comes ' + (after.lesson || 'the plan again'));
  await t.picture(page, 'lesson-after');
  return page;
}

// What a teacher mails: the page with a course opened in it, written by the command line beside the page.
async function course(browser) {
  const cli = resolve(page_file, '..', 'pentamesh-cli.js'), folder = resolve(out, 'course');
  const written = spawnSync(process.execPath, [cli, 'lesson', '--course', '40-minutes', '--web', folder]);
  t.equal(written.status, 0, 'a page with a course inside is written ' + written.stderr);
  const page = await browser.open(pathToFileURL(join(folder, '40-minutes.html')).href);
  t.equal((await page.state()).lesson, '40-minutes', 'it opens the course');
  await page.press('lesson.next');
  t.equal((await page.state()).step, 1, 'and its next step is clicked');
  await t.picture(page, 'course');
  return page;
}

// Some edits and views later the program takes no more memory than after the first of them.
async function keepsMemory(page) {
  const round = async () => {
    for (let i = 0; i < 30; ++i) {
      await page.key('z', { code: 'KeyZ', ctrl: true, shift: i % 2 === 1 }, false);
      if (i % 6 === 0) await page.key(String(1 + (i / 6) % 9), {}, false);
      if (i % 6 === 3) await page.key('Escape', {}, false);
    }
    await page.rest();
    return page.value('HEAPU8.length');
  };
  await round();
  const early = await round();
  let late = 0;
  for (let i = 0; i < 2; ++i) late = await round();
  t.check(late <= early, 'edits and views fill no memory: ' + early / 1e6 + ' MB, later ' + late / 1e6);
}

async function fileIn(folder, ending) {
  const end = Date.now() + 20000;
  while (Date.now() < end) {
    const name = readdirSync(folder).find((f) => f.endsWith(ending));
    if (name) return join(folder, name);
    await new Promise((go) => setTimeout(go, 50));
  }
  return null;
}

async function downloads(browser, page) {
  const folder = resolve(out, 'downloads');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await browser.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder });
  await page.key('e', { code: 'KeyE', ctrl: true });
  t.equal((await page.state()).dialog, openDialog.picture, 'Ctrl+E asks what a picture is to look like');
  await t.picture(page, 'picture-dialog');
  await page.press('picture.to_file');
  const picture = await fileIn(folder, '.png');
  const bytes = picture ? readFileSync(picture) : Buffer.alloc(24);
  t.equal(bytes.toString('latin1', 1, 4), 'PNG', 'a picture is downloaded: ' + picture);
  t.check(bytes.length > 20000 && bytes.readUInt32BE(16) >= 1280, 'of ' + bytes.readUInt32BE(16) + ' pixels, ' + bytes.length + ' bytes');
  t.check((await page.state()).message.startsWith('Downloaded'), 'and the page says so: ' + (await page.state()).message);
  await page.key('s', { code: 'KeyS', ctrl: true });
  const plan = await fileIn(folder, '.json');
  t.check(plan !== null, 'Ctrl+S downloads the plan: ' + plan);
  if (plan) t.equal(JSON.parse(readFileSync(plan)).format, 'pentamesh.plan/1', 'which is a plan file');
}

// What was not saved is offered after a reload.
async function survives(page) {
  await page.press('layout.tp.minus');
  const before = (await page.state()).plan.layout.tp;
  await page.until('localStorage.length > 0', 'what is kept');
  await page.value('window.is_old = true');
  await page.send('Page.reload');
  await page.until('!window.is_old && document.getElementById("notice")?.hidden === true', 'the page again');
  await page.rest();
  t.equal((await page.state()).dialog, openDialog.recover, 'after a reload the unsaved plan is offered');
  await t.picture(page, 'offered');
  await page.press('recover.open');
  t.equal((await page.state()).plan.layout.tp, before, 'and comes back as it was');
}

async function all(browser) {
  const page = await starts(browser);
  await views(page);
  await edits(page);
  await speaks(page);
  await types(page);
  await pins(page);
  const linked = await links(browser, page);
  const taught = await lesson(browser);
  const mailed = await course(browser);
  await page.show();
  await keepsMemory(page);
  await downloads(browser, page);
  await searches(page);
  await survives(page);
  const small = await fitsPhone(browser, address, t);
  const embedded = await livesInAPage(browser, address, page_file, program, t);
  const pages = [page, linked, taught, mailed, small, ...embedded];
  const errors = pages.flatMap((p) => p.errors);
  t.check(errors.length === 0, 'no error is logged' + (errors.length ? ': ' + errors.slice(0, 5).join(' | ') : ''));
  const asked = pages.flatMap((p) => p.requests).filter((r) => !r.startsWith('file:') && !r.startsWith('data:') && !r.startsWith('blob:'));
  t.check(asked.length === 0, 'nothing is asked of a network' + (asked.length ? ': ' + asked[0] : ''));
  for (const p of pages) await p.close();
  await refusesStrangers(browser, address, t);
}

const browser = new Browser(chromium);
try {
  await all(browser);
} catch (e) {
  t.check(false, String(e.stack));
}
await browser.close();
process.exit(t.failed === 0 ? 0 : 1);
