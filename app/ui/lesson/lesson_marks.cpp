// Marks over the window: outlined controls, and the cover of a picture that would be the answer.
#include "app/ui/lesson/lesson_panel.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace pentamesh::ui {

ControlName control_of(const std::string& text) {
    const std::size_t space = text.find_last_of(' ');
    ControlName out{text.substr(0, space), 0};
    if (space == std::string::npos) return out;
    const auto [end, error] = std::from_chars(text.data() + space + 1, text.data() + text.size(), out.index);
    if (error != std::errc() || end != text.data() + text.size()) return {text, 0};
    return out;
}

std::vector<std::string> marked_controls(const LessonStep& step) {
    if (!step.scene.highlight.empty() || !step.task) return step.scene.highlight;
    struct Control {
        std::string_view field, name;
    };
    static constexpr std::array kControls{Control{"layout.zero", "mod.zero"},
                                          Control{"layout.schedule", "mod.schedule"},
                                          Control{"layout.virtual_stages", "mod.schedule"},
                                          Control{"training.recompute", "mod.recompute"},
                                          Control{"training.micro_batch", "mod.batch"},
                                          Control{"training.offload", ""}};
    std::vector<std::string> out;
    for (const std::string& field : step.task->allow) {
        const auto at = std::find_if(kControls.begin(), kControls.end(),
                                     [&](const Control& c) { return c.field == field; });
        if (at != kControls.end() && at->name.empty()) return {};  // only the sheet of every field has it
        out.push_back(at == kControls.end() ? field : std::string(at->name));
    }
    return out;
}

std::optional<Rect> rect_of_marked(const UiState& state, const std::string& name) {
    const ControlName control = control_of(name);
    if (control.name != name) return state.rect_of(control.name, control.index);
    std::optional<Rect> out;
    for (std::uint64_t i = 0; const auto r = state.rect_of(name, i); ++i)
        out = out ? Rect{std::min(out->x, r->x), std::min(out->y, r->y),
                         std::max(out->right(), r->right()) - std::min(out->x, r->x),
                         std::max(out->bottom(), r->bottom()) - std::min(out->y, r->y)}
                  : *r;
    return out;
}

void draw_highlights(Ui& ui, const LessonSession& session) {
    const LessonStep* step = session.current();
    if (!session.open || step == nullptr) return;
    for (const std::string& name : marked_controls(*step))
        if (const auto r = rect_of_marked(ui.state(), name))
            ui.canvas().frame(r->inset(-4), ui.theme().text, 2, 8);
}

void draw_cover(Ui& ui, Rect room) {
    Canvas& c = ui.canvas();
    const float w = std::min(420.0f, room.w - 32), h = 96;
    if (w < 120) return;
    const Rect plate{room.center().x - w / 2, room.center().y - h / 2, w, h};
    c.rect(plate, ui.theme().panel, 8);
    c.frame(plate, ui.theme().hairline, 1, 8, Dash::dashed);
    Rect text = plate.inset(20, 18);
    c.text_in(text.cut_top(24), "The picture is the answer", ui.title(), Align::center);
    text.cut_top(4);
    c.text_in(text.cut_top(20), "It is drawn as soon as you have said what you think.",
              ui.style(13, Tone::secondary), Align::center);
}

}  // namespace pentamesh::ui
