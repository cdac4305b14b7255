// What the program asks of the page (app/web/page.js holds what these use).
mergeInto(LibraryManager.library, {
  page_set_title: function (title) { document.title = UTF8ToString(title); },
  page_copy_text: function (text) {
    if (!navigator.clipboard) return tellProgram('This browser lets no page copy from a plain address');
    navigator.clipboard.writeText(UTF8ToString(text)).catch((e) => tellProgram('The browser did not take the text: ' + e.message));
  },
  page_set_fullscreen: function (on) {
    if (!document.fullscreenEnabled) return tellProgram('This browser has no full screen for pages');
    (on ? document.documentElement.requestFullscreen() : document.exitFullscreen()).catch((e) => tellProgram('The browser allows no full screen: ' + e.message));
  },
  page_is_fullscreen: function () { return document.fullscreenElement ? 1 : 0; },
  page_wants_text: function (on) {
    wantsText = on !== 0;
    if (!bare || document.hasFocus()) tapTyping();  // a frame takes the keyboard from nobody
  },
  // `ask` is handed back by page_picked.
  page_pick_file: function (endings, ask) {
    picker.accept = UTF8ToString(endings);
    picker.value = '';
    const answer = (path) => withText(path, (p) => _page_picked(ask, p));
    picker.onchange = () => takeFile(picker.files[0], answer);
    picker.oncancel = () => answer('');
    picker.click();
  },
  page_download: function (path) { download(UTF8ToString(path)); },
  page_copy_picture: function (bytes, size) {
    const picture = new Blob([HEAPU8.slice(bytes, bytes + size)], { type: 'image/png' });
    if (!window.ClipboardItem) return 0;
    navigator.clipboard.write([new ClipboardItem({ 'image/png': picture })])
      .catch((e) => tellProgram('The browser did not take the picture: ' + e.message));
    return 1;
  },
  // Texts of the page, as UTF-8 that the caller frees.
  page_hash: function () { return stringToNewUTF8(startLink); },
  page_hash__deps: ['$stringToNewUTF8'],
  page_address: function () { return stringToNewUTF8(location.href.split('#')[0]); },
  page_address__deps: ['$stringToNewUTF8'],
  page_start: function () { return stringToNewUTF8(document.getElementById('start').textContent); },
  page_start__deps: ['$stringToNewUTF8'],
  page_post: function (message) { tellHost(JSON.parse(UTF8ToString(message))); },
  page_ready: function () {
    performance.mark('pentamesh.first');
    dropStill();
    tell('');
  },
  page_failed: function (why) { tell(UTF8ToString(why)); },
  page_speak: function (words) { document.getElementById('spoken').textContent = UTF8ToString(words); },
  page_keep: function () { keepFiles(); },
});
