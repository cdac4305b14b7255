// Tests the sheet of all fields: a user's own model on her own cluster, by hand.
#include "app/ui/kit/format.h"
#include "core/io/plan_json.h"
#include "core/model/model.h"
#include "tests/ui/press.h"

#include <algorithm>

using namespace pentamesh;
using namespace pentamesh::ui;

namespace {

constexpr Chord kAllFields{.key = Key::e, .ctrl = true, .shift = true};

std::uint64_t page_of(Driver& d, const std::string& pointer) {
    for (const PlanField& f : list_plan_fields(d.plan(), d.presets))
        if (f.pointer == pointer) return static_cast<std::uint64_t>(f.topic);
    FAIL("there is no field ", pointer);
    return 0;
}

// Brings a field's control into sight as the keyboard would, and presses it.
void press_field(Driver& d, const std::string& pointer, std::uint64_t index = 0) {
    REQUIRE(d.click("editor.section", page_of(d, pointer)));
    d.shell.ui_state().focus = id_of("editor" + pointer, index);
    d.shell.ui_state().focus_visible = true;
    d.settle();
    d.settle();
    CAPTURE(pointer);
    REQUIRE(d.click("editor" + pointer, index));
}

void type_field(Driver& d, const std::string& pointer, std::string_view text) {
    press_field(d, pointer);
    REQUIRE(d.drawn("editor.edit"));
    d.press({Key::a, true});
    d.type(text);
    d.press({Key::enter});
}

}  // namespace

TEST_CASE("a dense model of her own on 512 H200 is typed in without a file") {
    Driver d("single-gpu");
    REQUIRE(d.click("plan.model"));
    d.type("edit the model");
    d.press({Key::enter});
    REQUIRE(d.drawn("editor.section"));
    for (const auto& [field, text] :
         std::initializer_list<std::pair<const char*, const char*>>{{"/model/name", "Ours 38B"},
                                                                    {"/model/layers", "64"},
                                                                    {"/model/hidden", "6656"},
                                                                    {"/model/heads", "52"},
                                                                    {"/model/kv_heads", "4"},
                                                                    {"/model/head_dim", "128"},
                                                                    {"/model/ffn", "23K"},
                                                                    {"/model/vocab", "152K"},
                                                                    {"/cluster/gpus", "512"},
                                                                    {"/layout/tp", "8"}})
        type_field(d, field, text);
    const Model& m = d.plan().model;
    CHECK(m.name == "Ours 38B");
    CHECK(m.layers == 64);
    CHECK(m.hidden == 6656);
    CHECK(m.ffn == 23 * 1024);
    CHECK(d.plan().cluster.gpus == 512);
    CHECK(d.plan().layout.tp == 8);
    d.press({Key::escape});
    CHECK_FALSE(d.drawn("editor.section"));
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan().layout.tp == 1);
}

TEST_CASE(
    "a mixture of experts is switched on, sized and put back, and what is wrong is said beside the field") {
    Driver d("llama-3-70b-3d");
    d.press(kAllFields);
    press_field(d, "/model/moe", 1);
    REQUIRE(d.plan().model.moe);
    type_field(d, "/model/moe/experts", "128");
    type_field(d, "/model/moe/top_k", "8");
    CHECK(d.plan().model.moe->experts == 128);
    CHECK(d.plan().model.moe->top_k == 8);
    type_field(d, "/model/moe/experts", "none of them");
    CHECK(d.plan().model.moe->experts == 128);
    d.surface.record_text(true);
    d.frame();
    CHECK(std::any_of(d.surface.text_runs().begin(), d.surface.text_runs().end(),
                      [](const TextRun& r) { return r.text.find("none of them") != std::string::npos; }));
    press_field(d, "/model/moe", 0);
    CHECK_FALSE(d.plan().model.moe);
    type_field(d, "/model/layers", "48");
    CHECK(d.plan().model.layers == 48);
    REQUIRE(d.click("editor.back", id_of("/model/layers")));
    CHECK(d.plan().model.layers == 80);
}

TEST_CASE("each refused entry keeps its text and its words until it is right or left, and nothing moves") {
    Driver d("llama-3-70b-3d");
    d.press(kAllFields);
    const Plan before = d.plan();
    REQUIRE(d.click("editor.section", page_of(d, "/model/layers")));
    const auto place = [&](std::string_view name, std::uint64_t index = 0) {
        const auto r = d.shell.ui_state().rect_of(name, index);
        REQUIRE(r);
        return *r;
    };
    const Rect vocab = place("editor/model/vocab"), sections = place("editor.section", 0);
    for (const auto& [field, text] : {std::pair{"/model/layers", "-1"},
                                      {"/model/hidden", "abc"},
                                      {"/model/heads", "1e99"},
                                      {"/model/kv_heads", "12.5"}})
        type_field(d, field, text);
    CHECK(d.plan() == before);
    for (const char* text : {"-1", "abc", "1e99", "12.5"}) {
        CAPTURE(text);
        CHECK(says_just(d, text));
    }
    CHECK(says(d, "It stays 80"));
    CHECK(says(d, "It stays 8192"));
    CHECK(place("editor/model/vocab") == vocab);
    CHECK(place("editor.section", 0) == sections);
    // One is mended, one is left with Escape; the other two stay.
    type_field(d, "/model/layers", "40");
    CHECK(d.plan().model.layers == 40);
    press_field(d, "/model/hidden");
    d.press({Key::escape});
    CHECK_FALSE(says_just(d, "-1"));
    CHECK_FALSE(says_just(d, "abc"));
    CHECK(says_just(d, "1e99"));
    CHECK(says_just(d, "12.5"));
    // A plan that became impossible says so above, in room that was kept for it.
    type_field(d, "/model/heads", "63");
    CHECK_FALSE(d.shell.evaluation().valid);
    CHECK(place("editor/model/vocab") == vocab);
    CHECK(place("editor.section", 0) == sections);
}

TEST_CASE("Tab from a changed field goes to the next one, whether what was typed is taken or refused") {
    Driver d("llama-3-70b-3d");
    d.press(kAllFields);
    type_field(d, "/model/layers", "40");
    for (const char* text : {"48", "0"}) {
        CAPTURE(text);
        press_field(d, "/model/layers");
        REQUIRE(d.drawn("editor.edit"));
        d.press({Key::a, true});
        d.type(text);
        d.press({Key::tab});
        d.settle();
        CHECK(d.shell.ui_state().focus == id_of("editor/model/hidden"));
    }
    CHECK(d.plan().model.layers == 48);
    CHECK(says(d, "It stays 48"));
}

TEST_CASE("each field of a plan has a control that can be pressed in the window") {
    Driver d("deepseek-v3-2048");
    d.press(kAllFields);
    const std::vector<PlanField> fields = list_plan_fields(d.plan(), d.presets);
    CHECK(fields.size() > 90);
    for (const PlanField& f : fields) {
        CAPTURE(f.pointer);
        const Plan before = d.plan();
        press_field(d, f.pointer);
        switch (f.kind) {
        case PlanField::Kind::flag:
            CHECK((d.plan() == before) == (f.value == "off"));  // "off" was pressed
            if (f.value == "on") d.press({.key = Key::z, .ctrl = true});
            break;
        case PlanField::Kind::group:
            if (!(d.plan() == before)) d.press({.key = Key::z, .ctrl = true});
            break;
        case PlanField::Kind::choice:
            CHECK(d.drawn("editor.choices", 0));
            d.press({Key::escape});
            break;
        default:
            CHECK(d.drawn("editor.edit"));
            d.press({Key::escape});
            CHECK(d.drawn("editor.section"));
        }
    }
}

TEST_CASE(
    "a model of one's own begins with a plain one, from the palette or the list of models; undo goes back") {
    Driver d("llama-3-70b-3d");
    const Plan before = d.plan();
    run_command(d, "new model");
    d.settle();
    CHECK(d.drawn("editor.section"));
    CHECK(d.plan().model.name == "New model");
    CHECK(d.plan().model_source.preset.empty());
    CHECK(d.shell.evaluation().parameters.total == 6738415616);  // as Llama 2 7B, whose sizes it has
    d.press({Key::escape});
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.plan() == before);
    REQUIRE(d.click("plan.model"));
    d.type("new model");
    d.press({Key::enter});
    CHECK(d.drawn("editor.section"));
    CHECK(d.plan().model.name == "New model");
    d.press({Key::escape});
    run_command(d, "edit the cluster");
    CHECK(d.drawn("editor.tier.add"));
    d.press({Key::escape});
    run_command(d, "edit the model");
    CHECK(d.drawn("editor.section"));
    CHECK_FALSE(d.drawn("editor.tier.add"));
}

TEST_CASE("a choice is picked from its list, and fields below the sheet's end are reached by its thumb") {
    Driver d("llama-3-70b-3d", {1280, 720});
    d.press(kAllFields);
    press_field(d, "/training/optimizer");
    REQUIRE(d.click("editor.choices", 1));
    CHECK(d.plan().training.optimizer == static_cast<Optimizer>(1));
    REQUIRE(d.click("editor.section", static_cast<std::uint64_t>(FieldTopic::training)));
    const auto thumb = d.shell.ui_state().rect_of("editor.fields.thumb");
    const auto first = d.shell.ui_state().rect_of("editor/training/sequence_length");
    REQUIRE((thumb && first));
    d.drag(thumb->center(), thumb->center() + Vec2{0, 300});
    const auto after = d.shell.ui_state().rect_of("editor/training/sequence_length");
    CHECK((!after || after->y < first->y - 20));
}

TEST_CASE("tiers are added, changed and taken away") {
    Driver d("llama-3-70b-3d");
    REQUIRE(d.click("plan.cluster"));
    d.type("edit the cluster");
    d.press({Key::enter});
    const std::size_t before = d.plan().cluster.tiers.size();
    REQUIRE(d.click("editor.tier.add"));
    CHECK(d.plan().cluster.tiers.size() == before + 1);
    type_field(d, "/cluster/tiers/1/bytes_per_s", "400 Gb/s");
    CHECK(d.plan().cluster.tiers[1].bytes_per_s == 50e9);
    type_field(d, "/cluster/tiers/1/nics", "4");
    CHECK(d.plan().cluster.tiers[1].nics == 4);
    for (const PlanField& f : list_plan_fields(d.plan(), d.presets))
        if (f.pointer.starts_with("/cluster/tiers/2/")) {
            press_field(d, f.pointer);
            if (f.kind != PlanField::Kind::flag) d.press({Key::escape});
        }
    REQUIRE(d.click("editor.section", static_cast<std::uint64_t>(FieldTopic::fabric)));
    REQUIRE(d.click("editor.tier.remove"));
    CHECK(d.plan().cluster.tiers.size() == before);
    REQUIRE(d.click("editor.close"));
    CHECK_FALSE(d.drawn("editor.section"));
}

TEST_CASE(
    "a tier added where one node is more than the cluster spans more than the node: the plan is read back") {
    Driver d("single-gpu");
    REQUIRE(d.plan().cluster.tiers.size() == 2);
    REQUIRE(d.click("plan.cluster"));
    d.type("edit the cluster");
    d.press({Key::enter});
    REQUIRE(d.click("editor.tier.add"));
    CHECK(d.plan().cluster.tiers[1].domain > d.plan().cluster.tiers[0].domain);
    CHECK(parse_plan(write_plan(d.plan()), "again", d.presets) == d.plan());
}

TEST_CASE("the way back beside a field of experts that the preset lacks does not take them all away") {
    Driver d("llama-3-70b-3d");
    d.press(kAllFields);
    press_field(d, "/model/moe", 1);
    type_field(d, "/model/moe/experts", "64");
    REQUIRE(d.plan().model.moe);
    CHECK_FALSE(d.drawn("editor.back", id_of("/model/moe/experts")));
    d.surface.record_text(true);
    d.frame();
    const auto& runs = d.surface.text_runs();
    const auto says = [&](std::string_view words) {
        return std::any_of(runs.begin(), runs.end(),
                           [&](const TextRun& r) { return r.text.find(words) != std::string::npos; });
    };
    CHECK(says("not in the preset"));
    CHECK(says("remove the experts"));
    CHECK(says("experts in every n-th layer"));
    REQUIRE(d.click("editor.back", id_of("/model/moe")));
    CHECK_FALSE(d.plan().model.moe);
}

TEST_CASE("the sheet counts the model's parameters while no layout is possible") {
    Driver d("llama-3-70b-3d");
    d.press(kAllFields);
    type_field(d, "/layout/tp", "3");
    REQUIRE_FALSE(d.shell.evaluation().valid);
    type_field(d, "/model/layers", "40");
    d.surface.record_text(true);
    d.frame();
    const std::string total = thousands(count_parameters(d.plan().model).total);
    bool counts = false, why = false;
    for (const TextRun& r : d.surface.text_runs()) {
        counts = counts || r.text.find(total) != std::string::npos;
        why = why || r.text.find("No other figures") != std::string::npos;
    }
    CHECK(counts);
    CHECK(why);
}

TEST_CASE("what the model comes to follows each letter, and the fields keep their place") {
    Driver d("single-gpu");
    d.press(kAllFields);
    press_field(d, "/model/layers");
    const auto counted = [&](std::int64_t layers) {
        Model m = d.plan().model;
        m.layers = layers;
        return says(d, thousands(count_parameters(m).total));
    };
    const float place = d.shell.ui_state().rect_of("editor/model/hidden")->y;
    const std::int64_t before = d.plan().model.layers;
    d.press({Key::a, true});
    d.type("4");
    CHECK(counted(4));
    d.type("0");
    CHECK(counted(40));
    d.type("x");  // no number: the plan as it is
    CHECK(counted(before));
    CHECK(d.plan().model.layers == before);
    d.press({Key::escape});
    Plan impossible = d.plan();
    impossible.layout.tp = 7;
    d.shell.edit_plan(impossible, "tp 7");
    d.settle();
    CHECK(d.shell.ui_state().rect_of("editor/model/hidden")->y == place);
}

TEST_CASE("the way to edit a model by hand is seen below the list, wherever that is scrolled") {
    Driver d("llama-3-70b-3d", {1280, 720});
    REQUIRE(d.click("plan.model"));
    const std::size_t last = d.presets.list(PresetKind::model).size();
    const auto at = d.shell.ui_state().rect_of("menu.model", last);
    REQUIRE(at);
    CHECK(at->bottom() <= 720);
    d.wheel({at->center().x, at->y - 80}, -4);
    CHECK(d.shell.ui_state().rect_of("menu.model", last) == at);
    d.type("qwen");
    CHECK(d.drawn("menu.model", last));
    REQUIRE(d.click("menu.model", last));
    CHECK(d.drawn("editor.section"));
}
