// The page left open and used for long: node tests/web/hours_test.mjs PAGE CHROMIUM MINUTES. What the program has of
// memory at the end is held against what it had after half of the time: what is kept, as steps to undo, has its
// bound, and a leak has none. Not a part of CI: it takes hours.
import { readFileSync, readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { resolve } from 'node:path';
import { Browser } from './browser.mjs';

const [page_file, chromium, minutes] = process.argv.slice(2);
const kMost = 1.1;  // of what the first half ended with

// A seed that is printed makes the same turns again.
let seed = Number(process.env.PENTAMESH_SEED || Date.now() % 2 ** 31);
console.log('seed ' + seed);
const chance = (n) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * n);
};

// What Chromium's processes of this browser have in memory, MB.
function resident(folder) {
  let kb = 0;
  for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync('/proc/' + id + '/cmdline', 'utf8').includes(folder)) continue;
      kb += Number(/VmRSS:\s+(\d+)/.exec(readFileSync('/proc/' + id + '/status', 'utf8'))?.[1] || 0);
    } catch { /* it ended meanwhile */ }
  }
  return kb / 1e3;
}

async function turn(page) {
  const steppers = ['tp', 'pp', 'cp', 'dp_shard', 'dp_replicate'].flatMap((a) => ['layout.' + a + '.minus', 'layout.' + a + '.plus']);
  const what = chance(10);
  if (what < 4) return page.press(steppers[chance(steppers.length)]).catch(() => page.key('Escape'));
  if (what < 6) return page.key('z', { code: 'KeyZ', ctrl: true, shift: chance(2) === 1 });
  if (what < 8) return page.key(String(1 + chance(9)), {}, false);
  if (what < 9) return page.key('Escape');
  return page.mouse('mouseMoved', chance(1280), chance(720));
}

const browser = new Browser(chromium);
const page = await browser.open(pathToFileURL(resolve(page_file)).href);
await page.key('Escape');
const look = async () => {
  await page.send('HeapProfiler.collectGarbage');
  return { wasm_mb: (await page.value('HEAPU8.length')) / 1e6, script_mb: (await page.send('Runtime.getHeapUsage')).usedSize / 1e6,
    stored_kb: (await page.value('JSON.stringify(localStorage).length')) / 1e3, resident_mb: resident(browser.folder) };
};
const begun = Date.now(), length = Number(minutes) * 60e3;
let early = null, turns = 0, told = 0;
for (let now = 0; now < length; now = Date.now() - begun) {
  await turn(page);
  ++turns;
  if (!early && now > length / 2) early = await look();
  if (now < told) continue;
  console.log(Math.round(now / 60e3) + ' min, ' + turns + ' turns: ' + JSON.stringify(await look()));
  told += length / 20;
}
const late = await look();
console.log(turns + ' turns; after half of the time ' + JSON.stringify(early) + ', at the end ' + JSON.stringify(late) + ', errors: ' + page.errors.length);
const grown = Object.keys(late).filter((what) => late[what] > kMost * early[what]);
await browser.close();
if (grown.length > 0 || page.errors.length > 0) {
  console.log('grown: ' + grown.join(', ') + '; ' + page.errors.join('\n'));
  process.exit(1);
}
