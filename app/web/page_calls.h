// The program calls its page with these (app/web/library.js).
#pragma once

#include <cstdint>

extern "C" {
// Opens the browser's file dialog; page_picked(ask, path) answers, with "" where nothing was picked.
void page_pick_file(const char* endings, std::int32_t ask);
void page_download(const char* path);
std::int32_t page_copy_picture(const void* png, std::int32_t bytes);  // 0: this browser cannot
// Return texts that the caller frees: the part after # in the address, or the link that the page carries; the
// address before it; the page's own beginning.
char* page_hash();
char* page_address();
char* page_start();
void page_post(const char* message);  // to the page around a bare view, as JSON
void page_ready();
void page_failed(const char* why);
void page_speak(const char* words);  // to a screen reader
void page_keep();                    // files of the settings' folder go to the browser's storage
}
