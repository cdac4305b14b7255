// A bare view in a frame of somebody's page: the example of docs/web.md as it stands there, what it hears, and what is
// refused. Without a program (the native one) the figure has no picture inside.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const kStart = '<script type="application/json" id="start">{}</script>';

function writeFigure(page_file, folder, program, t) {
  const file = join(folder, 'figure.html');
  if (program) {
    const made = spawnSync(program, ['embed', 'mesh-8', '--view', 'mesh', '-o', file]);
    t.equal(made.status, 0, 'a figure is written ' + made.stderr);
    t.check(String(made.stdout).startsWith('<iframe src="figure.html"'), 'and the line that shows it: ' + made.stdout);
    return;
  }
  const page = readFileSync(page_file, 'utf8');
  t.check(page.includes(kStart), 'the page has a place for a link');
  writeFileSync(file, page.replace(kStart, kStart.replace('{}', '{"link":"#view=mesh&bare"}')));
}

function example() {
  return readFileSync(new URL('../../docs/web.md', import.meta.url), 'utf8').match(/```html\n([^]*?)```/)[1];
}

const textOf = (page, id) => page.value(`document.getElementById('${id}').textContent`);

// Clicks here and there in the frame until a GPU is hit.
async function clickGpu(page) {
  const frame = await page.value('(({ x, y, width, height }) => ({ x, y, width, height }))(document.getElementById("view").getBoundingClientRect())');
  for (let i = 0; i < 60; ++i) {
    const x = frame.x + frame.width * (0.1 + 0.08 * (i % 10)), y = frame.y + frame.height * (0.25 + 0.1 * Math.floor(i / 10));
    for (const [type, buttons] of [['mouseMoved', 0], ['mousePressed', 1], ['mouseReleased', 0]]) {
      await page.mouse(type, x, y, 'left', buttons);
      await new Promise((go) => setTimeout(go, 60));
    }
    if (/This is GPU \d/.test(await textOf(page, 'selected'))) return true;
  }
  return false;
}

async function hears(browser, folder, t) {
  const host = join(folder, 'lecture.html');
  writeFileSync(host, example());
  const page = await browser.open(pathToFileURL(host).href, undefined, false);
  await page.until(`/A step takes/.test(document.getElementById('plan')?.textContent)`, 'the plan of the frame');
  const before = await textOf(page, 'plan');
  await page.value(`[...document.querySelectorAll('button')].find((b) => b.value === 'tp=4').click()`);
  await page.until(`document.getElementById('plan').textContent !== ${JSON.stringify(before)}`, 'the plan after a set message');
  t.check(true, 'a button of the page sets tp: ' + before + ' ' + await textOf(page, 'plan'));
  t.check(await clickGpu(page), 'the page hears which GPU is clicked: ' + await textOf(page, 'selected'));
  for (const [message, words] of [[`{ pentamesh: 'plot' }`, 'plan, set, view, step'], [`{ pentamesh: 'set', set: ['layout.tpp=4'] }`, 'tp'],
    [`(() => { const a = { pentamesh: 'plan' }; a.plan = a; return a; })()`, 'no form in JSON'],
    [`{ pentamesh: 'plan', plan: 'x'.repeat(2 << 20) }`, 'megabyte'], [`{ pentamesh: 'plan', plan: '['.repeat(1e5) }`, '']]) {
    await page.value(`(document.getElementById('plan').textContent = '', view.contentWindow.postMessage(${message}, '*'), 0)`);
    await page.until(`document.getElementById('plan').textContent !== ''`, 'an answer to ' + message);
    const said = await textOf(page, 'plan');
    t.check(said.includes(words) && said.length < 500, 'a malformed message is answered: ' + said);
  }
  await page.value(`(window.came = 0, window.addEventListener('message', () => ++window.came),
    [null, 7, 'x', [], {}, { type: 'react' }].forEach((m) => view.contentWindow.postMessage(m, '*')), view.contentWindow.postMessage({ pentamesh: 'view', view: 'memory' }, '*'))`);
  await page.until('window.came > 0', 'an answer to the last of them');
  t.equal(await page.value('window.came'), 1, 'what is for somebody else is left unanswered');
  writeFileSync(join(t.folder, 'lecture.png'), Buffer.from((await page.send('Page.captureScreenshot', { format: 'png' })).data, 'base64'));
  return page;
}

// The whole program in a frame is somebody's own: it hears nothing.
async function wholeIsDeaf(browser, address, folder, t) {
  const host = join(folder, 'thief.html');
  writeFileSync(host, `<!DOCTYPE html><iframe id="view" width="900" height="600" src="${address}"></iframe>
<script>window.came = 0; window.addEventListener('message', () => ++window.came);</script>`);
  const page = await browser.open(pathToFileURL(host).href, undefined, false);
  await new Promise((go) => setTimeout(go, 4000));
  await page.value(`(document.getElementById('view').contentWindow.postMessage({ pentamesh: 'plan', plan: 'mesh-8' }, '*'), 0)`);
  await new Promise((go) => setTimeout(go, 500));
  t.equal(await page.value('window.came'), 0, 'the whole program in a frame says nothing and hears nothing');
  await page.close();
}

async function isBare(browser, address, t) {
  const page = await browser.open(address + '#view=memory&page=sheds&bare&theme=light', { width: 420, height: 260, density: 1, mobile: false });
  const state = await page.state();
  t.check(state.bare && state.view === 'memory', 'a link shows one bare view, in a small frame too');
  t.check(!await page.place('menu.File') && !await page.place('layout.tp.plus'), 'nothing of the window is around it');
  const kept = await page.value('localStorage.length');
  await page.key('5');
  t.equal((await page.state()).view, 'memory', 'keys of the window do not answer');
  await page.value('new Promise((go) => setTimeout(go, 600))');
  t.equal(await page.value('localStorage.length'), kept, 'nothing is kept in the storage');
  await t.picture(page, 'bare');
  return page;
}

async function standsStill(browser, folder, t) {
  const page = await browser.open('about:blank', undefined, false);
  await page.send('Emulation.setScriptExecutionDisabled', { value: true });
  await page.send('Page.navigate', { url: pathToFileURL(join(folder, 'figure.html')).href });
  await new Promise((go) => setTimeout(go, 3000));
  const bytes = Buffer.from((await page.send('Page.captureScreenshot', { format: 'png' })).data, 'base64');
  writeFileSync(join(t.folder, 'figure-without-scripts.png'), bytes);
  t.check(bytes.length > 20000, 'without scripts the picture stands there: ' + bytes.length + ' bytes of PNG');
  await page.close();
}

export async function livesInAPage(browser, address, page_file, program, t) {
  const folder = resolve(t.folder, 'embed');
  mkdirSync(folder, { recursive: true });
  writeFigure(page_file, folder, program, t);
  const pages = [await isBare(browser, address, t), await hears(browser, folder, t)];
  await wholeIsDeaf(browser, address, folder, t);
  if (program) await standsStill(browser, folder, t);
  return pages;
}
