#include "app/ui/shell/sheets.h"

#include "app/ui/kit/format.h"
#include "app/ui/panels/import_sheet.h"
#include "app/ui/panels/plan_panel.h"
#include "app/ui/scene/colors.h"
#include "core/base/files.h"
#include "core/interop/import.h"
#include "core/io/presets.h"
#include "core/plan/edits.h"
#include "core/plan/names.h"
#include "core/teach/glossary.h"

#include <algorithm>
#include <string>
#include <utility>

namespace pentamesh::ui {

namespace {

constexpr double kRests_s = 0.4;  // the mouse rests so long on a name before its card opens
constexpr float kWide = 460, kBrief = 300, kPad = 14, kLine = 20, kPicture = 84;

Axis axis_of(const UiState::Named& named) {
    return static_cast<Axis>(named.subject);
}

AxisTry try_factor(const Scene& scene, Axis axis, std::int64_t factor, bool now) {
    AxisTry out{.factor = factor, .now = now, .memory = {}, .step_s = {}, .filled = 0, .note = {}};
    Evaluation made;
    if (!now) evaluate(with_factor(scene.plan, axis, factor, true), made);
    const Evaluation& e = now ? scene.evaluation : made;
    if (!e.valid || !e.step) {
        out.note = e.problems.empty() ? "not possible" : title_of(e.problems.front().code);
        return out;
    }
    out.memory = e.memory.peak();
    out.filled = e.memory.peak() / e.memory.hbm;
    out.step_s = e.step->time_s;
    if (now)
        out.note = "now";
    else if (e.memory.fit() != MemoryFit::yes)
        out.note = name_of(e.memory.fit());
    return out;
}

// Tries the factor below, the one in force, and two above.
std::vector<AxisTry> tries_of(const Scene& scene, Axis axis) {
    const std::int64_t now = std::max<std::int64_t>(factor_in_force(scene.plan, axis), 1);
    if (axis == Axis::ep && !scene.plan.model.moe) return {};
    const std::vector<std::int64_t> legal = legal_factors(scene.plan, axis);
    std::vector<AxisTry> out;
    const auto from = std::lower_bound(legal.begin(), legal.end(), now);
    const auto above = std::upper_bound(from, legal.end(), now);
    if (from != legal.begin()) out.push_back(try_factor(scene, axis, *(from - 1), false));
    out.push_back(try_factor(scene, axis, now, true));
    for (auto i = above; i != legal.end() && i - above < 2; ++i)
        out.push_back(try_factor(scene, axis, *i, false));
    return out;
}

struct Fact {
    std::string_view label;
    std::string text;
};

// Says what the axis costs in this plan, line by line.
std::vector<Fact> facts_of(const Scene& scene, const MapRow& row, GroupKind kind) {
    const Evaluation& e = scene.evaluation;
    if (!e.valid) return {{"here", "this plan is impossible and has no figures"}};
    if (e.groups[kind].degree <= 1) return {{"here", "off: " + row.reason}};
    std::vector<Fact> out{{"talks", caption_of(scene.plan, e, kind).where}};
    if (!row.often.empty()) out.push_back({"says", row.talk + ", " + row.often});
    if (row.sent_bytes > 0)
        out.push_back(
            {"sends", traffic_text(row.sent_bytes) + " a step from each GPU, in " + time_text(row.time_s)});
    if (e.step && row.sent_bytes > 0)
        out.push_back({"waits", row.waits_s > 0 ? percent(row.waits_s / e.step->time_s) + " of the step"
                                                : std::string("nothing waits for it")});
    if (e.step && row.bubble_s > 0)
        out.push_back({"idles", percent(row.bubble_s / e.step->time_s) + " of the step: the bubble"});
    return out;
}

bool is_over(const UiState& state, const UiState::Named& named) {
    return named.layer == state.top_layer && named.rect.contains(state.mouse);
}

// Returns where a card of this size stands: right or left of what it keeps clear, below or above it. Without
// room on any side it covers a part of that if it `must` be seen; else there is no card.
std::optional<Rect> place_card(Rect clear, Vec2 size, Vec2 screen, bool must) {
    constexpr float kGap = 12, kEdge = 8;
    const auto within = [&](float at, float most) { return held_between(at, kEdge, most); };
    const float x = within(clear.x, screen.x - size.x - kEdge),
                y = within(clear.y, screen.y - size.y - kEdge);
    const float right = clear.right() + kGap, left = clear.x - kGap - size.x, below = clear.bottom() + kGap,
                above = clear.y - kGap - size.y;
    if (right + size.x <= screen.x - kEdge) return Rect{right, y, size.x, size.y};
    if (left >= kEdge) return Rect{left, y, size.x, size.y};
    if (below + size.y <= screen.y - kEdge) return Rect{x, below, size.x, size.y};
    if (above >= kEdge) return Rect{x, above, size.x, size.y};
    return must ? std::optional(Rect{within(right, screen.x - size.x - kEdge), y, size.x, size.y})
                : std::nullopt;
}

class AxisCard {
  public:
    AxisCard(Ui& ui, const Scene& scene, AxisCardState& state, const UiState::Named& by)
        : ui_(ui), scene_(scene), state_(state), by_(by), axis_(axis_of(by)), kind_(group_of(axis_)),
          color_(color_of(ui.theme(), kind_)), canvas_(frame_canvas(ui.frame(), ui.canvas().page(), true)),
          whole_(state.asked || by.whole) {
        const std::vector<MapRow>& rows = state.figures->rows;
        const int at = row_of(rows, kind_);
        if (at < 0) return;
        row_ = &rows[static_cast<std::size_t>(at)];
        facts_ = facts_of(scene, *row_, kind_);
    }
    // Returns false if there is no room next to the name.
    bool draw() {
        if (row_ == nullptr) return false;
        const float wide = whole_ ? kWide : kBrief;
        const float h = put(Rect{0, 0, wide - 2 * kPad, 0}, true) + 2 * kPad;
        const auto box = place_card(by_.clear, {wide, h}, ui_.frame().size, state_.asked.has_value());
        if (!box) return false;
        canvas_.rect(*box, ui_.theme().panel, 6);
        canvas_.frame(*box, color_, 1.5f, 6);
        put(box->inset(kPad, kPad), false);
        return true;
    }

  private:
    Ui& ui_;
    const Scene& scene_;
    AxisCardState& state_;
    const UiState::Named& by_;
    Axis axis_;
    GroupKind kind_;
    Color color_;
    Canvas canvas_;
    bool whole_;  // else it says only where the axis' groups lie
    const MapRow* row_ = nullptr;
    std::vector<Fact> facts_;

    // Writes all of it from the top; returns its height. With `measure` nothing is drawn.
    float put(Rect room, bool measure) {
        const float top = room.y;
        if (!measure) put_head(room);
        room.y += 26;
        return (whole_ ? put_rest(room, measure) : put_brief(room, measure)) - top;
    }
    // Both return where their words end.
    float put_brief(Rect room, bool measure) {
        const auto line = [&](std::string_view words, const TextStyle& style) {
            if (!measure) canvas_.paragraph({room.x, room.y, room.w, 100}, words, style, 17);
            room.y += canvas_.paragraph_height(room.w, words, style, 17);
        };
        if (!facts_.empty()) line(facts_.front().text, ui_.small(Tone::text));
        if (!by_.action.empty()) line(by_.action, ui_.small());
        line("F1: what it costs here", ui_.small());
        return room.y;
    }
    float put_rest(Rect room, bool measure) {
        const TextStyle words = ui_.style(13);
        const std::string_view sentence = sentence_of(axis_);
        if (!measure) canvas_.paragraph({room.x, room.y, room.w, 200}, sentence, words, 19);
        room.y += canvas_.paragraph_height(room.w, sentence, words, 19) + 8;
        if (!measure) put_picture({room.x, room.y, room.w, kPicture});
        room.y += kPicture + 8;
        put_section(room, "WHAT IT COSTS HERE", measure);
        for (const Fact& f : facts_) {
            const TextStyle s = ui_.small(Tone::text);
            const Rect at{room.x + 56, room.y, room.w - 56, 100};
            if (!measure) canvas_.text_in({room.x, room.y, 50, 17}, f.label, ui_.small());
            if (!measure) canvas_.paragraph(at, f.text, s, 17);
            room.y += canvas_.paragraph_height(at.w, f.text, s, 17) + 3;
        }
        if (state_.figures->tries.size() >= 2) {
            room.y += 6;
            put_section(room, "ONE PRESS FURTHER", measure);
            for (const AxisTry& t : state_.figures->tries) {
                if (!measure) put_try({room.x, room.y, room.w, kLine}, t);
                room.y += kLine;
            }
        }
        room.y += 8;
        const auto small = [&](std::string_view line) {
            if (line.empty()) return;
            if (!measure) canvas_.paragraph({room.x, room.y, room.w, 100}, line, ui_.small(), 17);
            room.y += canvas_.paragraph_height(room.w, line, ui_.small(), 17);
        };
        small(by_.action);
        small(flag_words());
        return room.y;
    }
    // Returns the setting of the framework whose settings are shown; empty where it has none.
    [[nodiscard]] std::string flag_words() const {
        if (!scene_.flags) return {};
        const std::string_view flag =
            interop::flag_of(scene_.flags->name, "/layout/" + std::string(name_of(axis_)));
        return flag.empty() ? "" : std::string(scene_.flags->title) + ": " + std::string(flag);
    }
    void put_head(Rect room) {
        canvas_.rect({room.x, room.y + 4, 12, 12}, color_, 3);
        const std::int64_t factor = std::max<std::int64_t>(factor_in_force(scene_.plan, axis_), 1);
        const TextStyle bold = ui_.style(14, Tone::text, Face::semibold);
        canvas_.text_in({room.x + 20, room.y, room.w - 80, 20},
                        std::string(name_of(axis_)) + ", " + std::string(words_of(row_->id).name), bold);
        canvas_.text_in({room.right() - 60, room.y, 60, 20}, factor > 1 ? thousands(factor) : "off", bold,
                        Align::right);
    }
    void put_picture(Rect room) {
        const Loaf& loaf = (*state_.loaves)[static_cast<std::size_t>(row_->id)];
        draw_mini(canvas_, ui_.theme(), {room.x, room.y + 4, 150, room.h - 8}, loaf, color_, true);
        const bool copied = std::any_of(loaf.slices.begin(), loaf.slices.end(), [](const LoafSlice& slice) {
            return std::any_of(slice.blocks.begin(), slice.blocks.end(),
                               [](const LoafBlock& block) { return block.copies > 1; });
        });
        canvas_.paragraph(
            {room.x + 176, room.y + 12, room.w - 176, room.h},
            std::string("The step of a small model") + (row_->id == MapRowId::zero ? ", with ZeRO-3," : ",")
                + " cut like this over two GPUs." + (copied ? " Hatched: both have it whole." : ""),
            ui_.small(), 17);
    }
    void put_section(Rect& room, std::string_view words, bool measure) {
        if (!measure) {
            canvas_.line({room.x, room.y}, {room.right(), room.y}, ui_.theme().hairline);
            canvas_.text_in({room.x, room.y + 6, room.w, 16}, words, ui_.style(11, Tone::secondary));
        }
        room.y += 26;
    }
    // Draws a factor with its memory as a bar, a line where a GPU is full, and the step's time.
    void put_try(Rect room, const AxisTry& t) {
        const Theme& theme = ui_.theme();
        if (t.now) canvas_.rect(room.inset(-4, 0), theme.raised, 4);
        const TextStyle style = ui_.style(12, Tone::text, t.now ? Face::semibold : Face::regular);
        canvas_.text_in(room.cut_left(104), std::string(name_of(axis_)) + " " + thousands(t.factor), style);
        if (t.memory && t.step_s) {
            Rect bar = room.cut_left(70).inset(0, 6);
            canvas_.rect(bar, theme.hairline, 2);
            constexpr double kFull = 0.85;  // a full GPU's share of the bar
            const auto part = static_cast<float>(std::min(1.0, kFull * t.filled));
            canvas_.rect({bar.x, bar.y, bar.w * part, bar.h}, t.filled > 1 ? theme.bad : theme.text, 2);
            const float line = bar.x + bar.w * static_cast<float>(kFull);
            canvas_.line({line, bar.y - 3}, {line, bar.bottom() + 3}, theme.bad);
            canvas_.text_in(room.cut_left(74), memory_text(*t.memory), style, Align::right);
            canvas_.text_in(room.cut_left(62), time_text(*t.step_s), style, Align::right);
            room.cut_left(10);
        }
        canvas_.text_in(room, t.note, ui_.small(t.now ? Tone::text : Tone::secondary));
    }
};

}  // namespace

const UiState::Named* named_axis(const UiState& state) {
    const auto& named = state.named;
    auto at = std::find_if(named.rbegin(), named.rend(), [&](const auto& n) { return is_over(state, n); });
    if (at == named.rend() && state.focus_visible && state.focus != 0)
        at = std::find_if(named.rbegin(), named.rend(),
                          [&](const auto& n) { return n.control == state.focus; });
    return at == named.rend() ? nullptr : &*at;
}

void draw_axis_card(Ui& ui, Scene& scene, AxisCardState& state, std::uint64_t revision) {
    UiState& s = ui.state();
    const FrameInfo& frame = ui.frame();
    const bool escaped = pressed({Key::escape}), sent_away = frame.clicked[0] || escaped;
    if (std::exchange(state.shown, false) && escaped) scene.keys.took_escape = true;
    if (state.asked && (!(s.mouse == state.asked_at) || sent_away)) state.asked.reset();
    const UiState::Named* named = named_axis(s);
    if (named != nullptr && !is_over(s, *named)) named = nullptr;
    const Rect over = named != nullptr ? named->rect : Rect{};
    if (over != state.over) state.over = over, state.since_s = frame.time_s, state.dismissed = false;
    if (sent_away) state.dismissed = true;
    if (state.asked)
        named = &*state.asked;
    else if (named == nullptr || state.dismissed)
        return;
    else if (frame.time_s - state.since_s < kRests_s) {
        s.tooltip_pending = true;
        return;
    }
    if (!state.loaves) state.loaves = mini_loaves(scene.presets);
    const Axis axis = axis_of(*named);
    state.figures.update({revision, axis}, [&](AxisCardFigures& f) {
        f.rows = map_rows(scene.plan, scene.evaluation, MapStyle::own_rows);
        f.tries = tries_of(scene, axis);
    });
    state.shown = AxisCard(ui, scene, state, *named).draw();
    if (state.shown) s.tooltips_rest_at = frame.mouse;  // it says the same
}

// Frameworks' own settings in and out of the window, and which framework's flags the plan's fields show.

namespace {

// Settings::flags is one of these or a framework's name.
constexpr std::string_view kBySoftware = "software", kNoFlags = "none";

bool has_flags(const interop::Tool& tool) {
    return tool.write && tool.reader != interop::Reader::none;
}

std::string flags_label(std::string_view flags) {
    if (flags == kBySoftware) return "of the plan's software";
    const interop::Tool* tool = interop::tool_called(flags);
    return tool ? "of " + std::string(tool->title) : "none";
}

}  // namespace

const interop::Tool* flags_tool(const Settings& settings, Software software) {
    if (settings.flags == kBySoftware) return interop::tool_for(software);
    const interop::Tool* tool = interop::tool_called(settings.flags);
    return tool && has_flags(*tool) ? tool : nullptr;
}

Effects Sheets::draw(Ui& ui, Scene& scene) {
    const std::string hosts = window_.host_names.list;
    draw_blame_panel(ui, scene, blame_, window_.host_names);
    if (hosts != window_.host_names.list) window_.state.redraw_all = true;
    draw_interop(ui, scene);
    const std::uint64_t revision = window_.document.revision();
    Effects out = draw_plan_editor(ui, scene, editor_, revision);
    out.add(draw_stage_editor(ui, scene, stages_, revision));
    return out;
}

void Sheets::begin_new_model() {
    window_.apply(new_model_edit(window_.document.plan()));
    open_fields(FieldTopic::size);
}

void Sheets::close() {
    editor_ = {}, stages_ = {}, blame_ = {}, import_ = {}, export_ = {};
}

void Sheets::draw_interop(Ui& ui, const Scene& scene) {
    if (auto imported = draw_import_sheet(ui, scene, import_))
        window_.later("Import", [this, in = std::move(*imported)]() mutable {
            if (!in.run.empty()) return window_.open_run(in.run);
            if (in.edits)
                window_.edit_plan(std::move(in.plan), in.what);
            else
                window_.replace_plan({std::move(in.plan), {}, false}, in.what);
            if (!in.hosts.empty()) window_.host_names.list = in.hosts;
        });
    switch (draw_export_sheet(ui, scene, export_, window_.document.revision())) {
    case ExportAction::none: break;
    case ExportAction::copy:
        if (!window_.host.set_clipboard) break;
        window_.host.set_clipboard(export_.made.text);
        window_.say("Copied the settings of " + std::string(export_.target->title));
        break;
    case ExportAction::save:
        window_.ask(
            DialogKind::settings,
            window_.proposed_file(std::string(export_.target->name) + std::string(export_.target->ending)),
            nullptr);
        break;
    }
}

void Sheets::save_settings_text(const std::filesystem::path& path) {
    write_file(path.string(), export_.made.text);
    window_.say(window_.host.in_page ? "Downloaded " + path.filename().string() : "Saved " + path.string());
}

void Sheets::add_interop_commands(std::vector<Command>& commands) {
    for (const interop::Tool* tool : interop::written_tools()) {
        commands.push_back({.id = "export.to." + std::string(tool->name),
                            .title = "As " + std::string(tool->title) + "…",
                            .menu = "Export",
                            .separator = tool == interop::written_tools().front(),
                            .run = [this, tool] { export_.open_at(*tool); },
                            .enabled = [this] { return window_.evaluation.valid; }});
    }
}

// One line in the menu goes from choice to choice; the palette has each.
void Sheets::add_flags_commands(std::vector<Command>& commands) {
    std::vector<std::string> choices{std::string(kBySoftware), std::string(kNoFlags)};
    for (const interop::Tool* tool : interop::written_tools())
        if (has_flags(*tool)) choices.emplace_back(tool->name);
    commands.push_back(
        {.id = "flags.next",
         .title = "Next framework whose flags are shown on hover",
         .menu = "View",
         .run =
             [this, choices] {
                 const auto at = std::find(choices.begin(), choices.end(), window_.settings.flags);
                 const auto next = at == choices.end() ? 0 : (at - choices.begin() + 1) % std::ssize(choices);
                 window_.settings.flags = choices[static_cast<std::size_t>(next)];
                 window_.say("Flags on hover: " + flags_label(window_.settings.flags));
             },
         .label = [this] { return "Flags on hover: " + flags_label(window_.settings.flags); }});
    for (const std::string& choice : choices)
        commands.push_back({.id = "flags." + choice,
                            .title = "Show on hover the flags: " + flags_label(choice),
                            .run = [this, choice] { window_.settings.flags = choice; },
                            .checked = [this, choice] { return window_.settings.flags == choice; }});
}

// ---- notes ----------------------------------------------------------------------------------------------
namespace {
constexpr double kPause_s = 0.9, kLongest_s = 1;
constexpr const char* kTyping = "notes";  // merge key: one step of undo while it lasts
}  // namespace

// Returns the edit of notes that were typed and are not in the plan yet.
std::optional<PlanEdit> Sheets::typed_notes() {
    if (!notes_ || notes_->changed_s < 0) return std::nullopt;
    notes_->changed_s = -1;
    if (notes_->text == window_.document.plan().notes) return std::nullopt;
    PlanEdit edit{window_.document.plan(), "Notes", kTyping};
    edit.plan.notes = notes_->text;
    return edit;
}

// Returns true if there was no pause since the last letter.
bool Sheets::types_notes() const {
    return notes_ && window_.now_s < notes_->letter_s + kPause_s;
}

std::optional<PlanEdit> Sheets::draw_notes(Ui& ui) {
    if (!notes_) return std::nullopt;
    const Vec2 size = ui.frame().size;
    const float w = std::min(640.0f, size.x - 32), h = std::min(420.0f, size.y - 32);
    const Rect box{(size.x - w) / 2, (size.y - h) / 2, w, h};
    const auto layer = ui.open_layer("notes", box, true);
    Rect room = box.inset(20, 16);
    Rect head = room.cut_top(28);
    bool close = ui.button("notes.close", head.cut_right(72), "Close") || (!layer.stays() && !notes_->fresh);
    ui.canvas().text_in(head, "Notes of the plan", {Face::semibold, 14, ui.theme().text, 0});
    room.cut_top(8);
    const Rect foot = room.cut_bottom(20);
    room.cut_bottom(6);
    ui.label(foot, "Saved with the plan, shown in its reports.", ui.small());
    // Undo, or another plan, brings other notes.
    if (notes_->changed_s < 0) notes_->text = window_.document.plan().notes;
    if (ui.text_box("edit.notes", room, notes_->text, notes_->known, "Why this layout? What was tried?",
                    notes_->fresh)) {
        notes_->letter_s = window_.now_s;
        if (notes_->changed_s < 0) notes_->changed_s = window_.now_s;
    }
    if (ui.state().edit == ui.id("edit.notes")) notes_->fresh = false;
    const bool undo = key_down(Key::z) && ui.frame().ctrl && !ui.frame().alt;
    const bool wants_undo = undo && !std::exchange(notes_->undo_held, undo);
    notes_->undo_held = undo;
    if (notes_->changed_s >= 0 || types_notes()) ui.state().wants_frame = true;
    std::optional<PlanEdit> edit;
    const bool due = !types_notes() || window_.now_s >= notes_->changed_s + kLongest_s;
    if (close || wants_undo || (notes_->changed_s >= 0 && due)) edit = typed_notes();
    if (wants_undo)
        window_.later("Notes", [this, redo = ui.frame().shift] {
            redo ? window_.document.redo() : window_.document.undo();
        });
    if (close) {
        notes_.reset();
        window_.dirty = true;
    }
    return edit;
}

void Sheets::open_notes() {
    notes_ = NotesEdit{.text = window_.document.plan().notes};
    window_.dirty = true;
}

}  // namespace pentamesh::ui
