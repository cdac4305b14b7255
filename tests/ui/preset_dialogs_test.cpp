// Tests presets of one's own in the window: kept from the sheet of all fields, picked, listed, taken away.
#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "tests/folder.h"
#include "tests/ui/press.h"

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

void open_sheet(Driver& d, FieldTopic section) {
    d.press({.key = Key::e, .ctrl = true, .shift = true});
    REQUIRE(d.click("editor.section", static_cast<std::uint64_t>(section)));
}

void change(Driver& d, const char* pointer, const char* text) {
    d.shell.edit_plan(with_field(d.plan(), pointer, text, d.presets), "by hand");
    d.settle();
}

void save_as_preset(Driver& d, FieldTopic section, std::string_view name) {
    open_sheet(d, section);
    REQUIRE(d.click("editor.preset"));
    REQUIRE(d.drawn("preset.name"));
    d.press({.key = Key::a, .ctrl = true});
    d.type(name);
    d.press({Key::enter});
}

const Presets::Entry* entry(Driver& d, PresetKind kind, std::string_view id) {
    for (const Presets::Entry& e : d.presets.list(kind))
        if (e.id == id && e.own) return &e;
    return nullptr;
}

}  // namespace

TEST_CASE("a model that was changed by hand is kept as a preset, picked again, and the plan stands over it") {
    const test::Folder config;
    Driver d("llama-3-70b-3d", {1280, 720}, 1, config.path);
    change(d, "/model/hidden", "6656");
    save_as_preset(d, FieldTopic::size, "Ours 38B");
    CHECK(d.shell.dialog() == DialogKind::none);
    CHECK(d.plan().model_source.preset == "ours-38b");
    CHECK(d.plan().model.name == "Ours 38B");
    CHECK(d.plan().model.hidden == 6656);
    REQUIRE(entry(d, PresetKind::model, "ours-38b") != nullptr);
    for (const PlanField& f : list_plan_fields(d.plan(), d.presets))
        if (f.pointer.starts_with("/model/")) CHECK(f.preset_value.empty());
    d.press({Key::escape});
    const Plan over = d.plan();
    d.shell.open_plan(d.presets.plan("mesh-8"));
    d.settle();
    REQUIRE(d.click("plan.model"));
    CHECK(says(d, "your own · ours-38b"));
    REQUIRE(d.click("menu.model", 0));  // one's own come first
    CHECK(d.plan().model == over.model);
    CHECK(d.plan().model_source.preset == "ours-38b");
    // A field changed after that is marked, and goes back to the preset's value.
    change(d, "/model/layers", "12");
    open_sheet(d, FieldTopic::size);
    REQUIRE(d.click("editor.back", id_of("/model/layers")));
    CHECK(d.plan().model == over.model);
}

TEST_CASE("a name that cannot be is refused while it is typed, and one that is there is asked about") {
    const test::Folder config;
    Driver d("llama-3-70b-3d", {1280, 720}, 1, config.path);
    open_sheet(d, FieldTopic::attention);
    REQUIRE(d.click("editor.preset"));
    CHECK(says(d, "Save the model as a preset"));
    for (const auto& [name, reason] : std::initializer_list<std::pair<const char*, const char*>>{
             {"llama-3-8b", "ships"}, {"++", "digit"}, {" ", "needs"}}) {
        d.press({.key = Key::a, .ctrl = true});
        d.type(name);
        CHECK(says(d, reason));
        d.press({Key::enter});
        CHECK(d.shell.dialog() == DialogKind::preset);
    }
    CHECK_FALSE(std::filesystem::exists(config.path / "models"));
    REQUIRE(d.click("dialog.cancel"));
    d.press({Key::escape});
    save_as_preset(d, FieldTopic::attention, "mine");
    CHECK(d.presets.model("mine").layers == 80);
    d.press({Key::escape});
    change(d, "/model/layers", "40");
    const Plan forty = d.plan();
    save_as_preset(d, FieldTopic::size, "Mine");
    CHECK(d.shell.dialog() == DialogKind::preset);
    CHECK(d.shell.dialog_error().find("is there already") != std::string::npos);
    CHECK(d.presets.model("mine").layers == 80);
    REQUIRE(d.click("preset.save"));
    CHECK(d.shell.dialog() == DialogKind::none);
    CHECK(d.presets.model("mine").layers == 40);
    CHECK(d.plan().model_source.preset == "mine");
    // Undo goes to plans that mean the same as before, and say so in their files.
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan().model == forty.model);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan().model.layers == 80);
    CHECK(parse_plan(write_plan(d.plan()), "", d.presets).model.layers == 80);
}

TEST_CASE("a GPU and a cluster are kept, picked from their lists and named by a plan file") {
    const test::Folder config;
    Driver d("llama-3-70b-3d", {1280, 720}, 1, config.path);
    change(d, "/cluster/gpu/hbm_bytes", "96 GB");
    save_as_preset(d, FieldTopic::gpu, "Chip 96");
    CHECK(d.plan().cluster.gpu.id == "chip-96");
    CHECK(d.plan().cluster.gpu.hbm_bytes == 96e9);
    CHECK(says(d, "GPU *"));
    // Another GPU is picked from the list, and then the cluster's own.
    REQUIRE(d.click("editor.gpu"));
    CHECK(says(d, "your own · chip-96"));
    d.type("h200");
    d.press({Key::enter});
    CHECK(d.plan().cluster.gpu == d.presets.gpu("h200-sxm"));
    REQUIRE(d.click("editor.gpu"));
    REQUIRE(d.click("editor.gpus", 0));
    CHECK(d.plan().cluster.gpu.id == "chip-96");
    REQUIRE(d.click("editor.gpu.back"));
    CHECK(d.plan().cluster == d.presets.plan("llama-3-70b-3d").cluster);
    d.press({.key = Key::z, .ctrl = true});
    REQUIRE(d.click("editor.gpu"));
    const auto thumb = d.shell.ui_state().rect_of("editor.gpus.thumb");
    REQUIRE(thumb);
    d.drag({thumb->center().x, thumb->y + 4}, {thumb->center().x, thumb->y + 60});
    d.press({Key::escape});
    d.press({Key::escape});
    save_as_preset(d, FieldTopic::cluster, "Room 4");
    CHECK(d.plan().cluster_source.preset == "room-4");
    d.press({Key::escape});
    const Plan over = d.plan();
    d.shell.open_plan(d.presets.plan("mesh-8"));
    d.settle();
    REQUIRE(d.click("plan.cluster"));
    REQUIRE(d.click("menu.cluster", 0));
    CHECK(d.plan().cluster_source.preset == "room-4");
    const Presets again(d.presets.root(), config.path);
    CHECK(parse_plan(write_plan(over), "", again) == over);
}

TEST_CASE("tiers that were changed go back one field at a time, or all at once") {
    Driver d("llama-3-70b-3d", {1280, 720});
    const Plan before = d.plan();
    open_sheet(d, FieldTopic::fabric);
    CHECK_FALSE(d.drawn("editor.tier.back"));
    change(d, "/cluster/tiers/0/bytes_per_s", "100 GB/s");
    change(d, "/cluster/tiers/1/bytes_per_s", "100 GB/s");
    REQUIRE(d.click("editor.back", id_of("/cluster/tiers/0/bytes_per_s")));
    CHECK(d.plan().cluster.tiers[0] == before.cluster.tiers[0]);
    CHECK(d.plan().cluster.tiers[1].bytes_per_s == 100e9);
    REQUIRE(d.click("editor.tier.back"));
    CHECK(d.plan().cluster == before.cluster);
    // Without a folder for settings nothing can be kept.
    REQUIRE(d.click("editor.preset"));
    CHECK(d.shell.dialog() == DialogKind::none);
}

TEST_CASE("own presets are listed with what is wrong with them, and removed when that is said twice") {
    const test::Folder config;
    config.put("models/cut.json", "{ \"layers\": ");
    config.put("models/llama-3-8b.json", R"({"preset": "llama-3-8b", "layers": 1})");
    for (int i = 0; i < 12; ++i)
        config.put("gpus/chip" + std::to_string(i) + ".json", R"({"preset": "h100-sxm", "name": "Chip"})");
    Driver d("llama-3-70b-3d", {1280, 720}, 1, config.path);
    save_as_preset(d, FieldTopic::size, "a mine");
    d.press({Key::escape});
    REQUIRE(d.click("plan.model"));
    d.type("presets of your own");
    d.press({Key::enter});
    REQUIRE(d.shell.dialog() == DialogKind::presets);
    CHECK(says(d, "cut.json"));
    CHECK(says(d, "rename the file"));
    const Plan before = d.plan();
    REQUIRE(before.model_source.preset == "a-mine");
    REQUIRE(d.click("presets.remove", 0));
    CHECK(says(d, "Remove a mine for good?"));
    REQUIRE(d.click("presets.keep", 0));
    CHECK(entry(d, PresetKind::model, "a-mine") != nullptr);
    REQUIRE(d.click("presets.remove", 0));
    REQUIRE(d.click("presets.remove", 0));
    CHECK(entry(d, PresetKind::model, "a-mine") == nullptr);
    CHECK_FALSE(std::filesystem::exists(config.path / "models/a-mine.json"));
    // The open plan keeps its model, as its own.
    CHECK(d.plan().model == before.model);
    CHECK(d.plan().model_source.preset.empty());
    CHECK(parse_plan(write_plan(d.plan()), "", d.presets) == d.plan());
    REQUIRE(d.click("presets.remove", 0));
    REQUIRE(d.click("presets.remove", 0));
    CHECK(entry(d, PresetKind::model, "cut") == nullptr);
    const auto thumb = d.shell.ui_state().rect_of("presets.list.thumb");
    REQUIRE(thumb);
    d.drag({thumb->center().x, thumb->y + 4}, {thumb->center().x, thumb->bottom()});
    REQUIRE(d.click("dialog.ok"));
    run_command(d, "Presets of your own");
    CHECK(d.shell.dialog() == DialogKind::presets);
    // The window says that a file has gone away meanwhile.
    std::filesystem::remove_all(config.path / "gpus");
    std::filesystem::remove_all(config.path / "models");
    config.put("models", "in the way");
    REQUIRE(d.click("presets.remove", 0));
    REQUIRE(d.click("presets.remove", 0));
    CHECK_FALSE(d.shell.dialog() == DialogKind::none);
    d.press({Key::escape});
    run_command(d, "Presets of your own");
    CHECK(says(d, "None yet"));
    d.press({Key::escape});
}

TEST_CASE("what leaves the window has its own presets written out: the clipboard, and what is kept against a "
          "crash") {
    const test::Folder config;
    Driver d("llama-3-70b-3d", {1280, 720}, 1, config.path);
    change(d, "/model/hidden", "6656");
    save_as_preset(d, FieldTopic::size, "mine");
    d.press({Key::escape});
    d.press({.key = Key::c, .ctrl = true});
    const Presets elsewhere(d.presets.root());
    CHECK(parse_plan(d.clipboard, "", elsewhere).model.hidden == 6656);
    REQUIRE(d.shell.document().modified());
    d.shell.autosave();
    std::filesystem::remove_all(config.path / "models");
    Driver next("mesh-8", {1280, 720}, 1, config.path);
    // The first window still lives and has its files locked: its text is what counts.
    int read = 0;
    for (const auto& e : std::filesystem::directory_iterator(config.path / "unsaved"))
        if (e.path().string().ends_with(".plan.json")) {
            CHECK(parse_plan(read_file(e.path()), "", next.presets).model.hidden == 6656);
            ++read;
        }
    CHECK(read == 1);
}
