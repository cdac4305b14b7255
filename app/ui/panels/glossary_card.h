// Shows the glossary: a dotted term anywhere opens its card; a sheet with a search holds all of them.
#pragma once

#include "app/ui/kit/scroll.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/teach/glossary.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace pentamesh::ui {

// Draws text with a dotted line under it, as wide as it is drawn; a click or Enter opens the card of glossary
// entry `id`. `key` distinguishes several of one term on the screen. Returns true where the text was cut.
bool term(Ui& ui, Rect r, std::string_view id, std::string_view text, const TextStyle& style,
          std::uint64_t key = 0);

struct GlossaryState {
    bool open = false;  // the sheet
    bool fresh = false;
    std::string search;
    std::string picked;  // id
    ScrollState scroll;
    std::string card;  // id of the card that a term opened; empty: none
    Rect card_at;
};
// Draws the card and the sheet over the views. term() opens the card.
void draw_glossary(Ui& ui, Scene& scene, GlossaryState& state);

// Shows term, other names, meaning and what it is in the plan; returns its height, and draws unless
// `measure`.
float glossary_text(Ui& ui, Rect room, const Scene& scene, const GlossaryEntry& entry, bool measure);

}  // namespace pentamesh::ui
