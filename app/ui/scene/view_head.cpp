#include "app/ui/scene/view_head.h"

#include "app/ui/scene/scene.h"
#include "core/plan/edit_words.h"
#include "core/plan/problem.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace pentamesh::ui {

Rect head_place(Rect& head_row, Rect& room, float width) {
    if (head_row.w < width && room.h > 90) {
        head_row = room.cut_top(24);
        room.cut_top(6);
    }
    const Rect place = head_row.cut_left(std::min(head_row.w, width));
    head_row.cut_left(std::min(head_row.w, 16.0f));
    return place;
}

float segments_width(Ui& ui, std::span<const std::string_view> labels, float least, int selected) {
    const bool words = ui.state().for_picture;
    float sum = 0, widest = 0;
    const bool one = words && selected >= 0 && selected < static_cast<int>(labels.size());
    for (const auto label : one ? labels.subspan(static_cast<std::size_t>(selected), 1) : labels) {
        const float w = ui.canvas().text_width(label, ui.style(words ? 13 : 12, Tone::text, Face::semibold))
                        + (one ? 2.0f : 20.0f);
        sum += w;
        widest = std::max(widest, w);
    }
    return std::ceil(words ? widest : std::max(least, sum));
}

Rect head_words(Rect head_row, Rect& room, float width) {
    if (head_row.w >= width || room.h <= 110) return head_row;
    const Rect row = room.cut_top(20);
    room.cut_top(4);
    return row;
}

void head_sentence(Ui& ui, Rect head_row, Rect& room, std::string_view words, float least_height) {
    Canvas& c = ui.canvas();
    const TextStyle style = ui.style(13, Tone::secondary);
    if (c.text_width(words, style) > head_row.w && room.h > least_height)
        room.cut_top(c.paragraph(room, words, style, 18) + 6);
    else
        ui.label(head_row, words, style);
}

bool takes_space(Ui& ui, Rect room, const Scene& scene) {
    UiState& s = ui.state();
    const auto focus = s.focus != 0 ? s.rect_of(s.focus) : std::nullopt;
    if (focus && (s.focus_visible || !room.contains(focus->center()))) return false;
    if (!scene.keys.pressed({Key::space})) return false;
    s.focus = 0;
    return true;
}

void answer_player_keys(Ui& ui, const Scene& scene, Playback& played, const Film& film, bool space) {
    if (space) play_or_pause(ui, played, film);
    if (scene.keys.pressed({Key::right}, true)) step_film(played, film, 1);
    if (scene.keys.pressed({Key::left}, true)) step_film(played, film, -1);
    play_on(ui, played, film);
}

void draw_void(Ui& ui, Rect room, const Scene& scene) {
    Canvas& c = ui.canvas();
    const auto& problems = scene.evaluation.problems;
    const auto wrong = std::find_if(problems.begin(), problems.end(),
                                    [](const Problem& p) { return p.severity == Severity::error; });
    if (wrong == problems.end()) return;
    std::string why = wrong->message + "\nNo figures until this is mended";
    why += wrong->fix.empty() ? "." : ": " + words_of(wrong->fix) + ".";
    constexpr float kInset = 16;
    const float w =
        std::min({room.w - 2 * kInset, 640.0f, c.text_width(wrong->message, ui.style(13)) + 2 * kInset});
    const float h = c.paragraph_height(w, why, ui.style(13), 20) + 24;
    Rect box{room.center().x - w / 2, std::max(room.y, room.center().y - h / 2), w, h};
    const Canvas::Clip clip = c.clip(room);
    c.pattern(room, Pattern::hatched, ui.theme().bad.alpha(0.5f));
    c.rect(box.inset(-kInset), ui.theme().window, 6);
    c.text_in(box.cut_top(24), title_of(wrong->code), ui.title());
    c.paragraph(box, why, ui.style(13, Tone::secondary), 20);
}

}  // namespace pentamesh::ui
