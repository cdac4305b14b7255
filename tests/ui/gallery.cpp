#include "tests/ui/gallery.h"

#include "app/ui/kit/data_table.h"
#include "app/ui/kit/menu.h"
#include "app/ui/kit/plot.h"
#include "render/page.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>

namespace pentamesh::ui {

namespace {

using Draw = std::function<void(Ui&, Rect)>;
enum class At : std::uint8_t { plain, hovered, rested, held, focused };
constexpr float kCaption = 130, kWidth = 890, kTile = 190, kLine = 40, kHigh = 170;

class Gallery {
  public:
    explicit Gallery(ThemeId theme) : theme_(theme), surface_({kWidth, kHigh}, 1, mark_fonts()) {}

    // Adds a row: the widget as it is, under the mouse, pressed, and with the keyboard.
    void states(const std::string& name, const Draw& draw) {
        caption(name, kLine);
        for (const At at : {At::plain, At::hovered, At::held, At::focused}) tile(draw, {kTile, kLine}, at);
        end_row(kLine);
    }
    // Adds a row of widgets that look one way only, or are large.
    void row(const std::string& name, float height, const std::vector<std::pair<At, Draw>>& widgets) {
        caption(name, height);
        const float width = (kWidth - kCaption) / static_cast<float>(widgets.size());
        for (const auto& [at, draw] : widgets) tile(draw, {width, height}, at);
        end_row(height);
    }
    [[nodiscard]] GalleryPicture finish() {
        out_.image.height = static_cast<int>(place_.y);
        return std::move(out_);
    }

  private:
    ThemeId theme_;
    Offscreen surface_;
    std::shared_ptr<const TypeFaces> faces_ = load_faces(mark_fonts());
    GalleryPicture out_{{static_cast<int>(kWidth), 0, {}}, {}};
    Vec2 place_{};
    double time_s_ = 0;

    void caption(const std::string& name, float height) {
        out_.image.pixels.resize(static_cast<std::size_t>(kWidth)
                                 * static_cast<std::size_t>(place_.y + height) * 4);
        tile(
            [&](Ui& ui, Rect r) {
                ui.canvas().text_in({r.x, r.y, r.w, 18}, name, ui.small());
            },
            {kCaption, height}, At::plain);
    }
    void end_row(float height) { place_ = {0, place_.y + height}; }

    void tile(const Draw& draw, Vec2 size, At at) {
        UiState state;
        SyntheticInput input;
        input.mouse = {-1, -1};
        const Rect widget = Rect{0, 0, size.x, size.y}.inset(6);
        const auto frame = [&](Page* page = nullptr) {
            surface_.frame(input, time_s_ += 1.0 / 60, [&](const FrameInfo& info) {
                Ui ui(state, info, theme_of(theme_), frame_canvas(info, page));
                ui.canvas().rect({0, 0, kWidth, kHigh}, ui.theme().window);
                draw(ui, widget);
                ui.move_focus();
            });
        };
        frame();
        if (at != At::plain && at != At::focused) input.mouse = {widget.x + 24, widget.y + 14};
        if (at == At::focused) input.keys_down = {Key::tab};
        frame();
        input.keys_down.clear();
        input.down[0] = at == At::held;
        frame();
        if (at == At::rested) time_s_ += 2;
        out_.marks.push_back({"tile", {static_cast<double>(place_.x), static_cast<double>(place_.y)}, "#"});
        auto marks = std::make_unique<MarkPage>(faces_, out_.marks);
        marks->push_clip({0, 0, size.x, size.y});
        Page page(std::move(marks));
        frame(&page);
        paste(size);
        input.down[0] = false;
        input.mouse = {-1, -1};
        frame();
    }

    void paste(Vec2 size) {
        const Image tile = surface_.read();
        const auto w = static_cast<std::size_t>(std::min(size.x, kWidth - place_.x)) * 4;
        for (std::size_t y = 0; y < static_cast<std::size_t>(size.y); ++y) {
            const auto from = tile.pixels.begin()
                              + static_cast<std::ptrdiff_t>(y * static_cast<std::size_t>(tile.width) * 4);
            const std::size_t row = static_cast<std::size_t>(place_.y) + y;
            const std::size_t to =
                (row * static_cast<std::size_t>(kWidth) + static_cast<std::size_t>(place_.x)) * 4;
            std::copy(from, from + static_cast<std::ptrdiff_t>(w),
                      out_.image.pixels.begin() + static_cast<std::ptrdiff_t>(to));
        }
        place_.x += size.x;
    }
};

Table table_of_kit() {
    Table t;
    t.columns = {{"stage", Shown::plain},
                 {"what it holds"},
                 {"memory", Shown::memory},
                 {"time", Shown::seconds},
                 {"share", Shown::share}};
    t.rows = {{0, "embedding, four layers", 71'253'000'000, 0.0123, 0.25},
              {1, "four layers; words that are long wrap where the table is narrow", 64'000'000'000, 0.5, 1},
              {2, "head and loss", 12'345, 1e-6, Cell()}};
    t.left_out = 12;
    return t;
}

void draw_kit_table(Ui& ui, Rect r, int selected, const RowLooks& looks = {}) {
    TableState state;
    draw_table(ui, "table", r, table_of_kit(), state, selected, looks);
}

void draw_kit_plot(Ui& ui, Rect r, ScaleKind kind) {
    const auto label = [](double v) { return std::to_string(static_cast<int>(v)); };
    const Plot plot = draw_axes(ui, r, {.low = 0, .high = 10, .label = label, .title = "stages"},
                                {.low = 1, .high = 1000, .kind = kind, .label = label, .title = "GiB"});
    for (const double v : {1.0, 4.0, 9.0}) ui.canvas().circle(plot.at(v, 100 * v), 3, ui.theme().good);
}

}  // namespace

GalleryPicture draw_gallery(ThemeId theme) {
    Gallery g(theme);
    g.row("", 24,
          {{At::plain, [](Ui& ui, Rect r) { ui.label(r, "as it is", ui.small()); }},
           {At::plain, [](Ui& ui, Rect r) { ui.label(r, "under the mouse", ui.small()); }},
           {At::plain, [](Ui& ui, Rect r) { ui.label(r, "pressed", ui.small()); }},
           {At::plain, [](Ui& ui, Rect r) { ui.label(r, "with the keyboard", ui.small()); }}});
    g.states("button", [](Ui& ui, Rect r) { ui.button("b", r, "Open the plan"); });
    g.states("quiet button", [](Ui& ui, Rect r) { ui.button("b", r, "Copy", 0, true, true); });
    g.states("not possible", [](Ui& ui, Rect r) { ui.button("b", r, "Save", 0, false); });
    static constexpr std::array<std::string_view, 3> kSegments{"stages", "saved", "off"};
    g.states("segments", [](Ui& ui, Rect r) { ui.segments("s", r, kSegments, 0, std::nullopt, 4); });
    g.states("stepper", [](Ui& ui, Rect r) { ui.stepper("s", r, "1,024", true, true, true); });
    g.states("stepper at its end", [](Ui& ui, Rect r) { ui.stepper("s", r, "1", false, true, false); });
    g.states("dropdown", [](Ui& ui, Rect r) { ui.dropdown("d", r, "schedule", "1f1b"); });
    g.states("text field", [](Ui& ui, Rect r) {
        std::string text = "0-7, 12";
        ui.text_field("t", r, text, "ranks");
    });
    g.states("empty text field", [](Ui& ui, Rect r) {
        std::string text;
        ui.text_field("t", r, text, "ranks that hang or fail");
    });
    g.states("link", [](Ui& ui, Rect r) { ui.link("l", r.min(), "open that layout"); });
    g.states("player", [](Ui& ui, Rect r) {
        const auto cells = columns(r, {px(28), px(28), px(28), px(28)}, 6);
        for (std::size_t i = 0; i < cells.size(); ++i)
            (void)player_button(ui, std::to_string(i), cells[i], static_cast<PlayerMark>(i), "what it does");
    });
    g.states("row", [](Ui& ui, Rect r) {
        row_ground(ui, r, ui.area("r", r));
        text_row(ui, r,
                 {{"tp exposed", share(), ui.style(12)}, {"12.3 ms", px(60), ui.small(), Align::right}});
    });
    g.states("picked row", [](Ui& ui, Rect r) {
        row_ground(ui, r, ui.area("r", r), true);
        text_row(
            ui, r,
            {{"a name that is cut", px(80), ui.style(12)}, {"1.23 s", share(), ui.small(), Align::right}});
    });
    g.row("badges, swatch", kLine,
          {{At::plain, [](Ui& ui, Rect r) { ui.badge(r, "NVLink", ui.theme().good, Dash::solid); }},
           {At::plain, [](Ui& ui, Rect r) { ui.badge(r, "InfiniBand", ui.theme().amber, Dash::dashed); }},
           {At::plain, [](Ui& ui, Rect r) { ui.badge_off(r, "off"); }},
           {At::plain, [](Ui& ui, Rect r) { ui.swatch(r.min(), ui.theme().axis[0]); }}});
    g.row("type", kLine,
          {{At::plain, [](Ui& ui, Rect r) { ui.section(r, "WHERE THE STEP GOES", "12.3 s"); }},
           {At::plain, [](Ui& ui, Rect r) { ui.label(r, "title", ui.title()); }},
           {At::plain,
            [](Ui& ui, Rect r) {
                ui.label({r.x, r.y, 90, r.h}, "a label that has no room", ui.style(13));
            }},
           {At::plain, [](Ui& ui, Rect r) { ui.label(r, "all_gather(q)", ui.mono()); }}});
    g.row("tooltips", 90,
          {{At::rested,
            [](Ui& ui, Rect r) {
                if (ui.area("t", r).hovered)
                    ui.tooltip("Headroom\nthe share of the memory that stays free", {r.x, r.y, r.w, 16});
            }},
           {At::rested, [](Ui& ui, Rect r) {
                ui.label({r.x, r.y, 90, 20}, "a label that has no room", ui.style(13));
            }}});
    g.row("rows, columns", 60, {{At::plain, [](Ui& ui, Rect r) {
                                     const auto cells = columns(r, {em(8), share(), share(2), px(84)}, 12);
                                     for (const Rect& cell : cells) {
                                         const auto [upper, lower] = rows(cell, {share(), px(18)}, 4);
                                         ui.canvas().frame(upper, ui.theme().secondary);
                                         ui.canvas().rect(lower, ui.theme().raised);
                                     }
                                 }}});
    g.row("table", 140, {{At::plain, [](Ui& ui, Rect r) { draw_kit_table(ui, r, 1); }}});
    g.row("narrow, painted", 130,
          {{At::hovered, [](Ui& ui, Rect r) { draw_kit_table(ui, r, -1); }},
           {At::plain, [](Ui& ui, Rect r) {
                static constexpr std::array kTones{RowTone::heading, RowTone::plain, RowTone::faint};
                draw_kit_table(ui, r, -1,
                               {.tone = kTones,
                                .paint =
                                    [&](Rect cell, std::size_t row, std::size_t column) {
                                        if (column != 1) return false;
                                        ui.canvas().rect({cell.x, cell.center().y - 4,
                                                          40 * static_cast<float>(row + 1), 8},
                                                         ui.theme().good);
                                        return true;
                                    },
                                .drawn_column = 1});
            }}});
    const std::vector<MenuItem> items{{.label = "Open…", .right = "Ctrl+O"},
                                      {.label = "by its content", .checked = true},
                                      {.label = "Not now", .enabled = false, .separator = true}};
    g.row("menu", 150,
          {{At::plain,
            [&](Ui& ui, Rect r) {
                MenuState state{.filter = "", .cursor = 1, .fresh = false};
                draw_menu(ui, "menu", {r.x, r.y, r.w, 4}, items, state, false);
            }},
           {At::plain, [&](Ui& ui, Rect r) {
                MenuState state{.filter = "o", .fresh = false};
                draw_menu(ui, "menu", {r.x, r.y, r.w, 4}, items, state, true);
            }}});
    g.row("plot", 160,
          {{At::plain, [](Ui& ui, Rect r) { draw_kit_plot(ui, r, ScaleKind::linear); }},
           {At::plain, [](Ui& ui, Rect r) { draw_kit_plot(ui, r, ScaleKind::logarithmic); }}});
    g.row("scroll, rich text", 110,
          {{At::hovered,
            [](Ui& ui, Rect r) {
                ScrollState state{.at = 30};
                ScrollArea area(ui, "scroll", r, state);
                for (int i = 0; i < 12; ++i)
                    ui.label(area.room.cut_top(20), "row " + std::to_string(i), ui.style(13));
            }},
           {At::plain, [](Ui& ui, Rect r) {
                rich_text(ui, r, "A **bold** word, `code`, and a paragraph that wraps where its box ends.",
                          {});
            }}});
    return g.finish();
}

}  // namespace pentamesh::ui
