// Tests the welcome: when it is shown, and where its doors lead.
#include "tests/folder.h"
#include "tests/ui/driver.h"
#include "tests/ui/press.h"

#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "core/teach/lesson.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <memory>

using namespace pentamesh;
using namespace pentamesh::ui;

TEST_CASE("the welcome is shown once, only when asked for, and its doors lead somewhere") {
    Driver plain("mesh-8");
    CHECK_FALSE(plain.drawn("welcome.course"));
    for (const char* door : {"welcome.preset", "welcome.course", "welcome.ddp", "welcome.open",
                             "welcome.tour", "welcome.tasks", "welcome.model", "welcome.skip"}) {
        CAPTURE(door);
        Driver d("mesh-8");
        const auto& list = d.shell.commands();
        const auto help =
            std::find_if(list.begin(), list.end(), [](const Command& c) { return c.id == "help.welcome"; });
        REQUIRE(help != list.end());
        help->run();
        d.settle();
        REQUIRE(d.click(door));
        d.settle();
        CHECK_FALSE(d.drawn("welcome.course"));
        CHECK(d.shell.settings().welcomed);
        const std::string name = door;
        const bool lesson = name == "welcome.course" || name == "welcome.ddp" || name == "welcome.tour"
                            || name == "welcome.tasks";
        CHECK(d.shell.lesson().open == lesson);
        if (name == "welcome.open") CHECK(d.drawn("dialog.path"));
        if (name == "welcome.preset") CHECK(d.drawn("gallery.plan"));
    }
}

TEST_CASE("what is opened as one's own is asked once for its software, where its text names none") {
    const test::Folder folder;
    const std::string model = R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama",
        "hidden_size": 1024, "intermediate_size": 4096, "num_attention_heads": 16, "num_hidden_layers": 8,
        "num_key_value_heads": 4, "vocab_size": 32000, "tie_word_embeddings": false})";
    const auto open_mine = [](Driver& d, const std::string& file) {
        run_id(d, "help.welcome");
        REQUIRE(d.click("welcome.open"));
        d.type(file);
        d.press({Key::enter});
        d.settle();
    };
    folder.put("config.json", model);
    std::string named;
    for (const RoomSoftware& r : kRoomSoftware) {
        CAPTURE(std::string(r.name));
        Driver d("mesh-8");
        open_mine(d, folder.file("config.json"));
        REQUIRE(d.shell.dialog() == DialogKind::run_by);
        REQUIRE(d.click("dialog.run_by." + std::string(r.name)));
        CHECK(d.shell.dialog() == DialogKind::none);
        CHECK(d.plan().model.layers == 8);
        CHECK(d.plan().training.software == r.software);
        if (r.software == Software::torchtitan) named = write_plan(d.plan());
    }
    Driver undecided("mesh-8");
    open_mine(undecided, folder.file("config.json"));
    REQUIRE(undecided.click("dialog.run_by.any"));
    CHECK(undecided.shell.dialog() == DialogKind::none);
    CHECK(undecided.plan().training.software == Training{}.software);
    undecided.press({.key = Key::n9});
    undecided.settle();
    CHECK(says(undecided, "for any software"));
    REQUIRE(named.find("torchtitan") != std::string::npos);
    Driver other("mesh-8");
    folder.put("named.plan.json", named);
    open_mine(other, folder.file("named.plan.json"));
    CHECK(other.shell.dialog() == DialogKind::none);
    CHECK(other.plan().training.software == Software::torchtitan);
}

TEST_CASE("the plans that ship stand as pictures, the smallest first, and a click opens one") {
    Driver d("llama-3-70b-3d", {1280, 720});
    run_command(d, "Open a preset");
    REQUIRE(d.shell.dialog() == DialogKind::gallery);
    REQUIRE(d.click("gallery.plan", 0));
    CHECK(d.shell.dialog() == DialogKind::none);
    CHECK(d.plan().cluster.gpus == 1);
    run_command(d, "Open a preset");
    REQUIRE(d.click("gallery.plan", 1));
    CHECK(d.plan().cluster.gpus > 1);
}

TEST_CASE("after 'look around' three hints stand beside their controls, each gone with its press") {
    Driver d("mesh-8");
    run_id(d, "help.welcome");
    REQUIRE(d.click("welcome.skip"));
    CHECK(says(d, "Press + here"));
    REQUIRE(d.click("layout.tp.plus"));
    CHECK_FALSE(says(d, "Press + here"));
    d.press({.key = Key::z, .ctrl = true});
    d.time_s += 10;  // the card of the edit goes
    d.rest();
    CHECK(says(d, "Press 0: each of 2 GPUs then"));  // ZeRO-3
    REQUIRE(d.click("mod.zero", 0));
    d.time_s += 10;
    d.rest();
    CHECK(says(d, "Hold Space"));
    d.press({Key::space});
    CHECK_FALSE(says(d, "Hold Space"));
    CHECK(d.shell.settings().hints == 3);
    run_id(d, "help.welcome");
    REQUIRE(d.click("welcome.skip"));
    CHECK_FALSE(says(d, "Press + here"));
}

TEST_CASE("hints go with the third edit, another view, another plan and Esc") {
    const auto look_around = [](Driver& d) {
        run_id(d, "help.welcome");
        REQUIRE(d.click("welcome.skip"));
        REQUIRE(says(d, "Press + here"));
    };
    Driver edits("mesh-8");
    look_around(edits);
    for (const char* axis : {"layout.pp.toggle", "layout.pp.minus"}) {
        REQUIRE(edits.click(axis));
        edits.time_s += 10;
        edits.rest();
        CHECK(says(edits, "Press + here"));
    }
    REQUIRE(edits.click("layout.pp.plus"));
    edits.time_s += 10;
    edits.rest();
    CHECK_FALSE(says(edits, "Press + here"));

    Driver view("mesh-8");
    look_around(view);
    view.press({Key::n5});
    view.press({.key = Key::escape});
    CHECK_FALSE(says(view, "Press + here"));

    Driver plan("mesh-8");
    look_around(plan);
    run_command(plan, "Open a preset");
    REQUIRE(plan.click("gallery.plan", 1));
    CHECK_FALSE(says(plan, "Press + here"));

    Driver escaped("mesh-8");
    look_around(escaped);
    escaped.press({Key::escape});
    CHECK_FALSE(says(escaped, "Press + here"));
}

TEST_CASE("a later run opens what was open: a file as it is on the disk, a preset by its plan") {
    const std::filesystem::path folder = std::filesystem::temp_directory_path() / "pentamesh-reopens";
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    const auto opened = [&](std::string_view first) {
        auto d = std::make_unique<Driver>(first, Vec2{1440, 900}, 1.0f, folder);
        d->shell.reopen();
        d->settle();
        return d;
    };
    {
        const auto d = opened("mesh-8");
        CHECK(d->plan() == Presets(std::filesystem::path(SOURCE_DIR) / "presets").plan("mesh-8"));
        d->shell.closed();
    }
    {
        Driver d("llama-3-70b-3d", {1440, 900}, 1, folder);
        d.shell.closed();
    }
    const std::filesystem::path file = folder / "mine.plan.json";
    {
        const auto d = opened("mesh-8");
        CHECK(d->plan().cluster.gpus == 256);
        CHECK_FALSE(d->shell.document().modified());
        write_file(file.string(), write_plan(d->presets.plan("zoom-1024")));
        d->shell.open_file(file);
        d->settle();
        Plan p = d->plan();
        p.layout.zero = 1;
        d->shell.edit_plan(p, "ZeRO 1");  // discarded
        d->shell.closed();
    }
    {
        const auto d = opened("mesh-8");
        CHECK(d->plan().cluster.gpus == 1024);
        CHECK(d->plan().layout.zero == d->presets.plan("zoom-1024").layout.zero);
        CHECK(d->shell.document().path() == file);
    }
    std::filesystem::remove(file);
    CHECK(opened("mesh-8")->plan().cluster.gpus == 8);
    std::filesystem::remove_all(folder);
}
