// What the tests of the page share: counting failures, and pictures to look at.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export class Checks {
  constructor(folder) {
    this.folder = folder;
    this.failed = 0;
    mkdirSync(folder, { recursive: true });
  }
  check(ok, what) {
    console.log((ok ? 'ok    ' : 'FAIL  ') + what);
    if (!ok) ++this.failed;
  }
  equal(got, wanted, what) {
    this.check(got === wanted, what + (got === wanted ? '' : ': ' + JSON.stringify(got) + ', not ' + JSON.stringify(wanted)));
  }
  async picture(page, name) {
    const bytes = await page.picture();
    writeFileSync(join(this.folder, name + '.png'), bytes);
    return bytes;
  }
}
