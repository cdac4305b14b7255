// The page on a phone's screen, by touch alone: one pane at a time, taps, swipes that scroll, drags that do not.
const kPhone = { width: 390, height: 844, density: 3, mobile: true };

async function press(page, id, index = 0) {
  const at = await page.place(id, index);
  if (!at) throw new Error('there is no control ' + id);
  if (at.x < 0 || at.x > kPhone.width || at.y < 0 || at.y > kPhone.height)
    throw new Error(id + ' lies outside of the screen: ' + JSON.stringify(at));
  await page.tap(at.x, at.y);
}

const kPlanPane = 1, kViewPane = 2, kFirstPane = 0;  // of the switch: lesson or advice, plan, view

async function showPane(page, index) { await press(page, 'side.tab', index); }

async function edits(page, t) {
  await showPane(page, kPlanPane);
  await t.picture(page, 'phone-plan');
  const before = await page.state();
  await press(page, 'layout.tp.plus');
  const tp = (await page.state()).plan.layout.tp;
  t.check(tp > before.plan.layout.tp, 'a tap changes tp: ' + before.plan.layout.tp + ' to ' + tp);

  const plan = JSON.stringify((await page.state()).plan), stood = await page.place('layout.tp');
  await page.swipe(stood.x, stood.y, 0, -300);
  const stands = await page.place('layout.tp');
  // The plan is a little longer than the pane: it goes to its end.
  t.check(!stands || stands.y < stood.y - 30, 'a swipe over the plan scrolls it');
  t.equal(JSON.stringify((await page.state()).plan), plan, 'and changes nothing in it');
  await t.picture(page, 'phone-plan-scrolled');
  await showPane(page, kFirstPane);
  await t.picture(page, 'phone-advice');
  await showPane(page, kViewPane);
}

async function looks(page, t) {
  for (const name of ['memory', 'timeline', 'map', 'search']) {
    await page.value(`location.hash = 'view=${name}'`);
    await page.until(`pentameshState().view === '${name}'`, 'the view ' + name);
    const bytes = await t.picture(page, 'phone-' + name);
    t.check(bytes.length > 20000, 'the view ' + name + ' is drawn: ' + bytes.length + ' bytes of PNG');
  }
  await press(page, 'menu.Learn');
  await t.picture(page, 'phone-menu');
  await page.tap(370, 832);  // below the menu: it closes
}

async function learns(page, t) {
  await page.value(`location.hash = 'lesson=03'`);
  await page.until(`pentameshState().lesson.startsWith('03')`, 'the lesson');
  await t.picture(page, 'phone-lesson');
  await press(page, 'lesson.next');
  t.equal((await page.state()).step, 1, 'a tap goes to the lesson\'s next step');
  await page.swipe(200, 500, 0, -200);
  t.equal((await page.state()).step, 1, 'a swipe reads on');
  await t.picture(page, 'phone-lesson-read');
  await showPane(page, kViewPane);
  await t.picture(page, 'phone-lesson-view');
  await showPane(page, kFirstPane);
}

export async function fitsPhone(browser, address, t) {
  const page = await browser.open(address + '#view=mesh', kPhone);
  await t.picture(page, 'phone');
  await edits(page, t);
  await looks(page, t);
  await learns(page, t);
  return page;
}
