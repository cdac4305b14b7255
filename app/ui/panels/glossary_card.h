// The glossary: a dotted term anywhere opens its card; a sheet with a search holds all of them.
#pragma once

#include "app/ui/kit/scroll.h"
#include "app/ui/kit/ui.h"
#include "app/ui/scene/scene.h"
#include "core/teach/glossary.h"

#include <string>
#include <string_view>

namespace pentamesh::ui {

// Text with a dotted line under it, as wide as it is drawn; a click or Enter opens the card of glossary entry
// `id`. `key` tells apart several of one term on the screen. Returns true where the text was cut.
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
// What lies over the views: the card, the sheet. Takes what term() asked for.
void draw_glossary(Ui& ui, Scene& scene, GlossaryState& state);

// Term, other names, meaning and what it is in the plan; returns the height it takes, and draws unless
// `measure`.
float glossary_text(Ui& ui, Rect room, const Scene& scene, const GlossaryEntry& entry, bool measure);

}  // namespace pentamesh::ui
