// What render/window_web.cpp asks of a page, where there is none.
mergeInto(LibraryManager.library, {
  page_set_title: function () {},
  page_copy_text: function () {},
  page_set_fullscreen: function () {},
  page_is_fullscreen: function () { return 0; },
  page_wants_text: function () {},
});
