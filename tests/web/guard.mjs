// What a stranger may send: links that are damaged, huge or hostile, and what a page could be made to ask of a
// network. The program says what is wrong, keeps its own plan, and nothing leaves the page.
import { createServer } from 'node:http';
import { deflateSync } from 'node:zlib';

const packed = (text) => deflateSync(Buffer.from(text)).toString('base64url');

const kBadLinks = {
  'cut short': 'plan=AAAA',
  'of signs that no link has': 'plan=%3Cscript%3Ealert(1)%3C/script%3E',
  'that unpacks to 200 MB': 'plan=' + packed(' '.repeat(200e6)),
  'of brackets a hundred thousand deep': 'plan=' + packed('['.repeat(1e5)),
  'of a plan of 10^18 GPUs': 'plan=' + packed(JSON.stringify({ format: 'pentamesh.plan/1', model: 'llama-3-70b', cluster: { preset: 'h100-sxm-ib', gpus: 1e18 } })),
  'of no plan': 'plan=' + packed('{"format":"something/1"}'),
  'of bytes that are no text': 'plan=' + deflateSync(Buffer.from([0xff, 0xfe, 0, 0xc3, 0x28])).toString('base64url'),
  'to a file': 'lesson=../../etc/passwd',
  'to no step': 'lesson=03&step=99999999999999999999',
  'to no view': 'view=<img src=x onerror=alert(1)>',
  'to no page': 'view=mesh&page=<img src=x onerror=alert(1)>',
  'of no theme': 'view=mesh&theme=url(x)',
};

async function refusesLinks(browser, address, t) {
  const page = await browser.open(address);
  await page.key('Escape');
  const own = JSON.stringify((await page.state()).plan);
  const files = await page.value('JSON.stringify(FS.readdir("/files"))');
  for (const [what, link] of Object.entries(kBadLinks)) {
    await page.value(`(history.replaceState(null, '', '#'), location.hash = ${JSON.stringify(link)}, 0)`);
    await page.until('pentameshState().message !== ""', 'a word about a link ' + what);
    const state = await page.state();
    t.check(JSON.stringify(state.plan) === own && state.message.length < 400, 'a link ' + what + ' is refused: ' + state.message);
    await page.until('pentameshState().message === ""', 'the end of it');
  }
  t.equal(await page.value('JSON.stringify(FS.readdir("/files"))'), files, 'no file was written');
  t.check(page.errors.length === 0, 'no error is logged' + (page.errors.length ? ': ' + page.errors[0] : ''));
  await t.picture(page, 'after-bad-links');
  await page.close();
}

const kRules = ['connect-src', 'img-src', 'script-src-elem', 'style-src-elem', 'frame-src', 'object-src', 'media-src', 'worker-src', 'form-action'];

// Each way that a page has to load or send; a server listens for what gets through.
async function reachesNothing(browser, address, t) {
  let came = 0;
  const server = createServer((request, answer) => { ++came; answer.end('x'); });
  await new Promise((go) => server.listen(0, '127.0.0.1', go));
  const there = 'http://127.0.0.1:' + server.address().port + '/';
  const page = await browser.open(address);
  await page.value(`(async () => {
    const broken = [];
    document.addEventListener('securitypolicyviolation', (e) => broken.push(e.effectiveDirective));
    const there = ${JSON.stringify(there)};
    const add = (name, set) => { const e = document.createElement(name); Object.assign(e, set); document.body.append(e); };
    await fetch(there).catch(() => 0);
    try { const x = new XMLHttpRequest(); x.open('GET', there); x.send(); } catch (e) {}
    try { new WebSocket(there.replace('http', 'ws')); } catch (e) {}
    try { new EventSource(there); } catch (e) {}
    try { new Worker(URL.createObjectURL(new Blob(['1']))); } catch (e) {}
    navigator.sendBeacon(there, 'x');
    add('img', { src: there });
    add('script', { src: there });
    add('link', { rel: 'stylesheet', href: there });
    add('iframe', { src: there });
    add('object', { data: there });
    add('video', { src: there });
    add('script', { textContent: 'window.was_run = 1' });
    add('form', { action: there, method: 'post' });
    document.forms[0].submit();
    try { setTimeout('window.was_run = 1', 0); } catch (e) {}
    try { eval('window.was_run = 1'); } catch (e) {}
    window.broken = broken;
  })()`);
  for (const rule of kRules) {
    await page.until(`window.broken.includes('${rule}')`, 'a refusal by ' + rule);
    t.check(true, 'its policy refuses: ' + rule);
  }
  t.equal(came, 0, 'nothing reaches a server that listens');
  t.check(await page.value('window.was_run !== 1'), 'no script that was put into the page runs');
  server.close();
  await page.close();
}

export async function refusesStrangers(browser, address, t) {
  await refusesLinks(browser, address, t);
  await reachesNothing(browser, address, t);
}
