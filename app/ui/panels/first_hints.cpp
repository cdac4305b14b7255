#include "app/ui/panels/first_hints.h"

#include "app/ui/kit/format.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace pentamesh::ui {

namespace {

struct Hint {
    Rect control;
    std::string words;
    bool done = false;
};

// Returns nullopt where its control is not drawn, or it would not be true of the plan.
std::optional<Hint> hint_of(Ui& ui, const Scene& scene, int seen) {
    const UiState& state = ui.state();
    const Layout& layout = scene.plan.layout;
    const auto at = [&](std::string_view name, std::uint64_t index) { return state.rect_of(name, index); };
    if (seen == 0) {
        const auto plus = at("layout.tp.plus", 0);
        if (!plus) return std::nullopt;
        return Hint{*plus, "Press + here: tp cuts every layer into more parts.",
                    scene.change != nullptr && scene.change->touched == Axis::tp};
    }
    if (seen == 1) {
        const auto two = at("mod.zero", 2);
        const std::int64_t copies = layout.dp_shard;
        if (!two || copies <= 1 || scene.change != nullptr)
            return std::nullopt;  // after the card of the edit
        return Hint{*two,
                    "Press 2: " + thousands(copies)
                        + " GPUs then share out gradients and optimizer, in place of " + "a copy each.",
                    layout.zero == 2};
    }
    const auto name = at("layout.tp.toggle", 0);
    if (!name || scene.change != nullptr) return std::nullopt;
    return Hint{*name, "Hold Space: the plan before. F1 on any name says what it is.",
                pressed({Key::space}) || pressed({Key::f1})};
}

}  // namespace

int draw_first_hint(Ui& ui, const Scene& scene, int seen) {
    const auto hint = hint_of(ui, scene, seen);
    if (!hint) return seen;
    if (hint->done) return seen + 1;
    const auto badge = ui.state().rect_of("layout.tp.badge");
    const float x =
        std::max(hint->control.right(), badge ? badge->right() : 0);  // right of the panel's columns
    constexpr float kWide = 250, kPad = 10, kGap = 12, kLine = 18;
    Canvas front = frame_canvas(ui.frame(), ui.canvas().page(), true);
    const TextStyle words = ui.style(13);
    const float h = front.paragraph_height(kWide - 2 * kPad, hint->words, words, kLine) + 2 * kPad;
    const Rect box{x + kGap, hint->control.center().y - h / 2, kWide, h};
    const std::array<Vec2, 3> tip{Vec2{box.x - 7, hint->control.center().y},
                                  Vec2{box.x + 1, hint->control.center().y - 6},
                                  Vec2{box.x + 1, hint->control.center().y + 6}};
    front.polygon(tip, ui.theme().text);
    front.rect(box, ui.theme().raised, 6);
    front.frame(box, ui.theme().text, 1.5f, 6);
    front.paragraph(box.inset(kPad, kPad), hint->words, words, kLine);
    return seen;
}

}  // namespace pentamesh::ui
