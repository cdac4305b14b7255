// A headless Chromium, driven by its DevTools protocol over a pipe: nothing but Node is needed.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const kMostWait_ms = Number(process.env.PENTAMESH_WAIT_MS || 60000);

export class Browser {
  constructor(program) {
    this.folder = mkdtempSync(join(tmpdir(), 'pentamesh-web-'));
    const options = ['--headless=new', '--remote-debugging-pipe', '--no-first-run', '--no-sandbox',
      '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-quic', '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--disable-dev-shm-usage', '--user-data-dir=' + this.folder, 'about:blank'];
    this.process = spawn(program, options, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] });
    this.said = '';
    this.process.stderr.on('data', (text) => { this.said = (this.said + text).slice(-4000); });
    this.waiting = new Map();
    this.number = 0;
    this.heard = [];
    let rest = Buffer.alloc(0);
    this.process.stdio[4].on('data', (part) => {
      rest = Buffer.concat([rest, part]);
      for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1)) this.take(JSON.parse(rest.subarray(0, end)));
    });
    this.process.on('exit', () => {
      for (const { refuse } of this.waiting.values()) refuse(new Error('Chromium ended: ' + this.said));
    });
  }
  take(message) {
    const wait = this.waiting.get(message.id);
    if (!wait) return this.heard.forEach((hear) => hear(message));
    this.waiting.delete(message.id);
    if (message.error) wait.refuse(new Error(message.error.message));
    else wait.answer(message.result);
  }
  send(method, params = {}, sessionId = undefined) {
    const id = ++this.number;
    this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + '\0');
    return new Promise((answer, refuse) => {
      const late = setTimeout(() => refuse(new Error(method + ' was not answered; ' + this.said)), kMostWait_ms);
      const done = (then) => (value) => { clearTimeout(late); then(value); };
      this.waiting.set(id, { answer: done(answer), refuse: done(refuse) });
    });
  }
  // A page that is not the program's own (`waits` is false) says by itself when it is there.
  async open(address, size = { width: 1280, height: 720, density: 1, mobile: false }, waits = true) {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    await page.begin(size);
    if (waits) await page.go(address);
    else await page.send('Page.navigate', { url: address });
    return page;
  }
  async close() {
    const ended = new Promise((done) => this.process.once('exit', done));
    this.send('Browser.close').catch(() => {});
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export class Page {
  constructor(browser, session, target) {
    Object.assign(this, { browser, session, target, errors: [], requests: [] });
    browser.heard.push((message) => { if (message.sessionId === session) this.hear(message); });
  }
  send(method, params) { return this.browser.send(method, params, this.session); }
  hear({ method, params }) {
    if (method === 'Runtime.exceptionThrown')
      this.errors.push(params.exceptionDetails.exception?.description || params.exceptionDetails.text);
    if (method === 'Log.entryAdded' && params.entry.level === 'error') this.errors.push(params.entry.text);
    if (method === 'Runtime.consoleAPICalled' && ['error', 'assert'].includes(params.type))
      this.errors.push(params.args.map((a) => a.value ?? a.description).join(' '));
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
  }
  async begin({ width, height, density, mobile }) {
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await this.send(domain + '.enable');
    await this.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: density, mobile });
    await this.send('Emulation.setTouchEmulationEnabled', { enabled: mobile });
  }
  async go(address) {
    await this.send('Page.navigate', { url: address });
    await this.until('document.getElementById("notice")?.hidden === true', 'the first frame');
  }
  // Only the page in front draws frames.
  async show() { await this.send('Page.bringToFront'); }
  async value(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true,
      allowUnsafeEvalBlockedByCSP: false });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
    return result.value;
  }
  async until(expression, what) {
    const end = Date.now() + kMostWait_ms;
    while (Date.now() < end) {
      if (await this.value(expression)) return;
      await new Promise((go) => setTimeout(go, 30));
    }
    throw new Error(what + ' did not come; the page says: ' + await this.value('document.getElementById("notice")?.textContent')
      + '; errors: ' + this.errors.join(' | '));
  }
  // Until nothing more is drawn.
  async rest() { await this.until('pentameshRests()', 'rest'); }
  async picture() {
    await this.rest();
    return Buffer.from((await this.send('Page.captureScreenshot', { format: 'png' })).data, 'base64');
  }
  async mouse(type, x, y, button = 'left', buttons = 0) {
    await this.send('Input.dispatchMouseEvent', { type, x, y, button: type === 'mouseMoved' && !buttons ? 'none' : button, buttons, clickCount: 1 });
  }
  async click(x, y) {
    await this.mouse('mouseMoved', x, y);
    await this.rest();
    await this.mouse('mousePressed', x, y, 'left', 1);
    await this.mouse('mouseReleased', x, y);
    await this.rest();
  }
  async tap(x, y) {
    const down = this.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
    await Promise.all([down, this.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })]);
    await this.rest();
  }
  // A finger that moves so far.
  async swipe(x, y, by_x, by_y, steps = 10) {
    await this.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x, y }] });
    for (let i = 1; i <= steps; ++i)
      await this.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x: x + by_x * i / steps, y: y + by_y * i / steps }] });
    await this.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await this.rest();
  }
  // Then all that it sets off is drawn, unless `rests` is false.
  async key(key, { code = '', ctrl = false, shift = false } = {}, rests = true) {
    const modifiers = (ctrl ? 2 : 0) | (shift ? 8 : 0);
    await this.send('Input.dispatchKeyEvent', { type: 'rawKeyDown', key, code, modifiers });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', key, code, modifiers });
    if (rests) await this.rest();
  }
  async type(text) { for (const key of text) await this.key(key); }
  // The middle of a control by its id, in pixels of the page; null: it is not there.
  async place(id, index = 0) {
    return this.value(`pentameshPlace(${JSON.stringify(id)}, ${index})`);
  }
  async press(id, index = 0) {
    const at = await this.place(id, index);
    if (!at) throw new Error('there is no control ' + id);
    await this.click(at.x, at.y);
  }
  async close() { await this.browser.send('Target.closeTarget', { targetId: this.target }); }
  state() { return this.value('pentameshState()'); }
}
