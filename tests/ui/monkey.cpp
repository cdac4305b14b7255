#include "tests/ui/monkey.h"

#include "core/advice/advice.h"
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "render/page.h"
#include "render/png.h"
#include "tests/ui/last_events.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

namespace pentamesh::ui {
namespace {

const std::filesystem::path kHouse(SOURCE_DIR);

// Bounds a frame's CPU time. Instrumented code is slower by this factor.
#if defined(__SANITIZE_ADDRESS__)
constexpr double kSlower = 4;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr double kSlower = 4;
#else
constexpr double kSlower = 1;
#endif
#else
constexpr double kSlower = 1;
#endif
constexpr double kLongestFrame_s = 1 * kSlower;

constexpr std::array<Vec2, 6> kSizes{
    {{900, 600}, {1120, 700}, {1600, 900}, {640, 480}, {760, 500}, {300, 200}}};

constexpr std::array<std::string_view, 26> kTyped{
    "1",      "2",        "8",  "0",  "-1",  "16",   "3.5", "1e9",     "999999999999999999999",
    "12 GiB", "400 Gb/s", "k",  "tp", "gpu", "mesh", "x",   "mixtral", "\"",
    "é ü",    "𝔘𝕟𝕚",      "\t", "  ", "7%",  "12,5", "zoo", "lesson"};

constexpr std::array<Key, 18> kPlainKeys{
    Key::tab,     Key::enter,     Key::escape, Key::space, Key::up,           Key::down,
    Key::left,    Key::right,     Key::home,   Key::end,   Key::del,          Key::page_down,
    Key::page_up, Key::backspace, Key::minus,  Key::equal, Key::left_bracket, Key::right_bracket};

std::string changed(std::string text, std::mt19937_64& rng) {
    if (text.empty()) return text;
    for (std::uint64_t n = rng() % 4; n < 4; ++n) {
        const std::size_t at = rng() % text.size();
        switch (rng() % 3) {
        case 0: text[at] = static_cast<char>(rng()); break;
        case 1: text.erase(at, 1 + rng() % 20); break;
        default: text.insert(at, text.substr(rng() % text.size(), rng() % 40)); break;
        }
        if (text.empty()) break;
    }
    return text;
}

// Makes plans, configs, lessons and pictures, each whole and broken, under names without a folder.
std::vector<std::string> make_files(const Presets& presets, std::mt19937_64& rng) {
    std::vector<std::string> names;
    const auto put = [&](const std::string& name, const std::string& text) {
        write_file(name, text);
        names.push_back(name);
    };
    const auto both = [&](const std::string& stem, const std::string& ending, const std::string& text) {
        put(stem + ending, text);
        put(stem + "-broken" + ending, changed(text, rng));
    };
    for (const Presets::Entry& e : presets.list(PresetKind::plan))
        both(e.id, ".plan.json", write_plan(presets.plan(e.id)));
    for (const char* config : {"llama-3-8b", "mixtral-8x7b", "deepseek-v3", "gpt2"})
        both(config, ".json", read_file((kHouse / "tests/golden/hf_configs" / config).string() + ".json"));
    for (const char* id : {"01-two-walls", "08-mesh", "13-mistakes", "tour"})
        both(id, ".md", read_file((kHouse / "assets/lessons" / id).string() + ".md"));
    for (const char* settings : {"launch.sh", "titan.toml", "ds.json", "nanotron.yaml"})
        put(settings, read_file((kHouse / "tests/fuzz/seeds/import" / settings).string()));
    const Image dot{1, 1, {0, 0, 0, 255}};
    both("picture", ".png", encode_png(dot, {{"pentamesh.plan", write_plan(presets.plan("mesh-8"))}}));
    put("plain.png", encode_png(dot, {}));
    if (pages_available())
        for (const auto& [format, ending] :
             {std::pair{PageFormat::svg, ".svg"}, std::pair{PageFormat::pdf, ".pdf"}}) {
            Page page(format, {200, 150}, find_fonts(kHouse / "assets"), "page",
                      write_plan(presets.plan("hsdp-64")));
            both("page", ending, page.finish());
        }
    put("empty.json", "");
    std::string noise(3000, ' ');
    for (char& c : noise) c = static_cast<char>(rng());
    put("noise.bin", noise);
    names.emplace_back("nowhere.json");
    names.emplace_back(".");
    return names;
}

// Returns true for "nan" or "inf" as a word of its own, which no figure may be. "nan…" is the beginning of
// another word; a message may quote what stands in a broken file.
bool says_no_number(std::string_view text) {
    text = text.substr(0, text.find("last read: "));
    for (const std::string_view bad : {"nan", "inf", "-nan", "-inf"})
        for (std::size_t at = text.find(bad); at != std::string_view::npos; at = text.find(bad, at + 1)) {
            const auto letter = [&](std::size_t i) {
                return i < text.size() && (std::isalpha(static_cast<unsigned char>(text[i])) != 0);
            };
            const bool cut = text.substr(at + bad.size()).starts_with("…");
            const bool path = at > 0 && text[at - 1] == '/';  // a folder that was typed
            if ((at == 0 || !letter(at - 1)) && !letter(at + bad.size()) && !cut && !path) return true;
        }
    return false;
}

}  // namespace

Monkey::Monkey(std::uint64_t seed, const std::filesystem::path& folder)
    : rng_(seed), driver_("mesh-8", kSizes[0], 1, folder / "config", {}, folder) {
    files_ = make_files(driver_.presets, rng_);
    begin_events(seed);
}

Vec2 Monkey::anywhere() {
    const Vec2 size = driver_.shell.ui_state().size;
    return {static_cast<float>(below(static_cast<std::size_t>(size.x) + 1)),
            static_cast<float>(below(static_cast<std::size_t>(size.y) + 1))};
}

// Returns a point in something that was drawn; the topmost layer is the likelier.
Vec2 Monkey::some_area(std::string& name) {
    const UiState& ui = driver_.shell.ui_state();
    const auto& areas = ui.last_areas;
    if (areas.empty()) return anywhere();
    std::size_t at = below(areas.size());
    for (int i = 0; i < 4 && areas[at].layer != ui.top_layer; ++i) at = below(areas.size());
    const Rect r = areas[at].rect;
    name = name_of_area(areas[at].id);
    return {r.x + r.w * static_cast<float>(1 + below(9)) / 10,
            r.y + r.h * static_cast<float>(1 + below(9)) / 10};
}

void Monkey::begin(const std::string& what) {
    add_event(what);
}

void Monkey::frame() {
    driver_.frame();
    const double took = driver_.surface.last_cost().build_s;
    slowest_s_ = std::max(slowest_s_, took);
    if (took > kLongestFrame_s) fail_events("a frame took " + std::to_string(took) + " s of the processor");
    check_frame();
}

// ---- events -------------------------------------------------------------------------------------------

void Monkey::click(Vec2 at, std::size_t button, bool twice) {
    driver_.input.mouse = at;
    frame();
    for (int i = twice ? 2 : 1; i > 0; --i) {
        driver_.input.down[button] = true;
        frame();
        driver_.input.down[button] = false;
        frame();
    }
    if (!twice) driver_.time_s += 0.5;
}

void Monkey::drag() {
    std::string name;
    driver_.input.mouse = chance(3) ? anywhere() : some_area(name);
    begin("drag from " + name);
    frame();
    driver_.input.down[0] = true;
    frame();
    for (std::size_t n = 1 + below(5); n > 0; --n) {
        driver_.input.mouse = anywhere();
        frame();
    }
    if (chance(20)) driver_.input.mouse = {-1, -1};  // let go outside of the window
    driver_.input.down[0] = false;
    frame();
}

void Monkey::wheel() {
    std::string name;
    driver_.input.mouse = some_area(name);
    driver_.input.wheel = static_cast<float>(below(9)) - 4;
    driver_.input.ctrl = chance(8);
    begin("wheel " + std::to_string(driver_.input.wheel) + " over " + name);
    frame();
    driver_.input.ctrl = false;
}

void Monkey::key() {
    const Key k = chance(3) ? static_cast<Key>(1 + below(static_cast<std::size_t>(Key::count) - 1))
                            : kPlainKeys[below(kPlainKeys.size())];
    const Chord c{.key = k, .ctrl = chance(8), .shift = chance(6), .alt = chance(12)};
    begin("key " + chord_text(c));
    driver_.input.ctrl = c.ctrl, driver_.input.shift = c.shift, driver_.input.alt = c.alt;
    driver_.input.keys_down = {k};
    frame();
    driver_.input.keys_down.clear();
    driver_.input.ctrl = driver_.input.shift = driver_.input.alt = false;
    frame();
}

void Monkey::chord() {
    const auto& all = driver_.shell.commands();
    const Command& c = all[below(all.size())];
    if (c.chord.key == Key::none || c.id == "file.quit") return;
    begin("chord of " + c.id);
    driver_.input.ctrl = c.chord.ctrl, driver_.input.shift = c.chord.shift, driver_.input.alt = c.chord.alt;
    driver_.input.keys_down = {c.chord.key};
    frame();
    driver_.input.keys_down.clear();
    driver_.input.ctrl = driver_.input.shift = driver_.input.alt = false;
    frame();
}

void Monkey::type() {
    driver_.input.text = kTyped[below(kTyped.size())];
    begin("type " + driver_.input.text);
    frame();
    if (chance(2)) return;
    driver_.input.keys_down = {Key::enter};
    frame();
    driver_.input.keys_down.clear();
    frame();
}

// Runs a command by its title, as a person finds it.
void Monkey::palette() {
    const auto& all = driver_.shell.commands();
    const std::string title = all[below(all.size())].title;
    begin("palette: " + title);
    for (const Key k : {Key::escape, Key::p}) {
        driver_.input.ctrl = k == Key::p;
        driver_.input.keys_down = {k};
        frame();
        driver_.input.keys_down.clear();
        driver_.input.ctrl = false;
        frame();
    }
    frame();
    driver_.input.text = title;
    frame();
    driver_.input.keys_down = {Key::enter};
    frame();
    driver_.input.keys_down.clear();
    frame();
}

void Monkey::resize() {
    const Vec2 size = kSizes[below(kSizes.size())];
    const float scale = chance(30) ? 1.5f : 1.0f;
    begin("resize to " + std::to_string(size.x) + " x " + std::to_string(size.y));
    driver_.surface.resize(size, scale);
    frame();
}

void Monkey::drop() {
    const std::string& file = files_[below(files_.size())];
    begin("drop " + file);
    driver_.shell.open_file(file);
    frame();
}

void Monkey::paste() {
    const std::string& file = files_[below(files_.size())];
    begin("paste " + file);
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored)) driver_.clipboard = read_file(file);
    driver_.input.ctrl = true;
    driver_.input.keys_down = {Key::v};
    frame();
    driver_.input.keys_down.clear();
    driver_.input.ctrl = false;
    frame();
}

void Monkey::lesson() {
    const auto& all = driver_.shell.lessons();
    if (all.empty()) return;
    const LessonEntry& entry = all[below(all.size())];
    begin("lesson " + entry.id);
    driver_.shell.open_lesson(entry.file);
    frame();
}

// The author of an open lesson writes while the window shows it.
void Monkey::change_lesson() {
    begin("lesson file changes");
    const std::string whole = read_file((kHouse / "assets/lessons/08-mesh.md").string());
    write_file("08-mesh.md", chance(2) ? whole : changed(whole, rng_));
    driver_.time_s += 2;
    frame();
}

void Monkey::wait() {
    const double seconds = static_cast<double>(1 + below(80)) / 10;
    begin("wait " + std::to_string(seconds));
    driver_.time_s += seconds;
    for (int i = 0; i < 4; ++i) frame();
    driver_.shell.autosave();
}

void Monkey::close() {
    begin("close the window");
    static_cast<void>(driver_.shell.may_close());
    frame();
}

void Monkey::event() {
    ++count_;
    std::string name;
    try {
        switch (below(40)) {
        case 0: drop(); break;
        case 1: paste(); break;
        case 2: chance(3) ? lesson() : chord(); break;
        case 3: wait(); break;
        case 4: chance(6) ? change_lesson() : type(); break;
        case 5: chance(8) ? close() : wheel(); break;
        case 6: chance(3) ? resize() : key(); break;
        case 7:
        case 8: palette(); break;
        case 9:
        case 10:
        case 11: drag(); break;
        case 12:
        case 13: wheel(); break;
        case 14:
        case 15: type(); break;
        case 16:
        case 17: chord(); break;
        case 18:
        case 19:
        case 20:
        case 21: key(); break;
        case 22:
        case 23:
            begin("move");
            driver_.input.mouse = anywhere();
            frame();
            break;
        default: {
            const Vec2 at = chance(8) ? anywhere() : some_area(name);
            const std::size_t button = chance(12) ? 1 + below(2) : 0;
            const bool twice = chance(10);
            begin("click " + name + " at " + std::to_string(at.x) + ", " + std::to_string(at.y) + " button "
                  + std::to_string(button) + (twice ? " twice" : ""));
            click(at, button, twice);
        }
        }
        if (count_ % 8 == 0) check_words();
        if (count_ % 40 == 0) check_plan();
    } catch (const std::exception& e) {
        fail_events(std::string("an exception left the window: ") + e.what());
    }
}

// ---- what must hold -----------------------------------------------------------------------------------

void Monkey::check_frame() {
    const UiState& ui = driver_.shell.ui_state();
    if (ui.stale_parts != 0) fail_events("what is kept of a part is not what is drawn");
    for (const UiState::Area& a : ui.areas)
        if (!std::isfinite(a.rect.x + a.rect.y + a.rect.w + a.rect.h))
            fail_events("the place of " + name_of_area(a.id) + " is no number");
}

void Monkey::check_words() {
    driver_.surface.record_text(true);
    frame();
    for (const TextRun& run : driver_.surface.text_runs())
        if (says_no_number(run.text)) fail_events("the window says " + run.text);
    driver_.surface.record_text(false);
}

void Monkey::check_plan() {
    const Plan& plan = driver_.plan();
    const std::string text = write_plan(plan);
    try {
        if (!(parse_plan(text, "written", driver_.presets) == plan))
            fail_events("the plan reads differently from what was written:\n" + text);
    } catch (const Error& e) {
        fail_events("the plan cannot be read again: " + std::string(e.what()) + "\n" + text);
    }
    Document history = driver_.shell.document();
    if (history.undo() && (!history.redo() || !(history.plan() == plan)))
        fail_events("redo does not bring back what undo took");
    if (++plans_checked_ % 4 != 0 || driver_.shell.wants_frame()) return;
    Evaluation shown = std::as_const(driver_.shell).evaluation(), expected = assess(plan);
    if (driver_.shell.lesson().open) shown.problems = expected.problems;  // a task's advice is another
    if (!(shown == expected)) fail_events("the evaluation shown is not the plan's:\n" + text);
}

}  // namespace pentamesh::ui
