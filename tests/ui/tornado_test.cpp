// The tornado of the view Step: how far each choice moves the step.
#include "app/tables/decide_tables.h"
#include "app/ui/kit/format.h"
#include "app/ui/scene/colors.h"
#include "app/ui/shell/picture.h"
#include "app/ui/views/step/view.h"
#include "core/decide/scale.h"
#include "core/io/presets.h"
#include "tests/ui/press.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <string>
#include <vector>

using namespace pentamesh;
using namespace pentamesh::ui;

TEST_CASE("a picture of the step's tornado has its rows, alone and in the dashboard") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    d.press({.key = Key::n7});
    REQUIRE(d.click("step.part_below", 3));
    const Sensitivity s = sensitivity_of(d.plan(), d.presets);
    const std::string widest = s.rows[s.by_reach().front()].name;
    for (const std::string view : {"step", "dashboard"}) {
        CAPTURE(view);
        PictureRequest r;
        r.view = view;
        r.size = {1600, 1000};
        r.screen = d.shell.screen();
        const std::string svg = make_picture(d.presets, d.plan(), r, "svg",
                                             find_fonts(std::filesystem::path(SOURCE_DIR) / "assets"));
        CHECK(svg.find(">" + widest + "<") != std::string::npos);
    }
}

TEST_CASE("the step's tornado has the rows of core/decide's sensitivity, and a click makes the change") {
    Driver d("llama-3-70b-3d", {1600, 1000});
    d.press({.key = Key::n7});
    REQUIRE(d.click("step.part_below", 3));
    d.until([&] { return d.shell.views().step.tornado.of.is_of(d.shell.document().revision()); });
    const Sensitivity s = sensitivity_of(d.plan(), d.presets);
    const std::vector<std::size_t> rows = s.by_reach();
    REQUIRE_FALSE(rows.empty());
    const SensitivityRow& widest = s.rows[rows.front()];
    CHECK(says(d, widest.name));
    const std::uint64_t side = widest.up && widest.up->valid() ? 1 : 0;
    const Nudge& n = side == 1 ? *widest.up : *widest.down;
    CHECK(says(d, difference_text(n.step_s - s.step_s, ui::time_text)));
    REQUIRE(d.click("step.nudge", 2 * rows.front() + side));
    CHECK(d.shell.evaluation().step->time_s == n.step_s);
    CHECK(d.shell.evaluation().memory.peak() == n.memory_bytes);
    d.press({.key = Key::z, .ctrl = true});
    CHECK(d.shell.evaluation().step->time_s == s.step_s);
}

TEST_CASE("a constant is written in its unit, a setting and a switch as the plan writes them") {
    SensitivityRow row;
    row.kind = SensitivityRow::Kind::constant;
    row.unit = Constant::Unit::flops_per_s;
    CHECK(value_words(row, "9.894e+14") == "989 TFLOP/s");
    row.unit = Constant::Unit::bytes_per_s;
    CHECK(value_words(row, "4.5e+11") == "450 GB/s");
    row.unit = Constant::Unit::flag;
    CHECK(value_words(row, "on") == "on");
    row.kind = SensitivityRow::Kind::setting;
    row.unit.reset();
    CHECK(value_words(row, "8") == "8");
    // Each constant of a plan has a unit, no setting has one.
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    for (const SensitivityRow& r : sensitivity_of(presets.plan("mesh-8"), presets).rows)
        CHECK(r.unit.has_value() == (r.kind == SensitivityRow::Kind::constant));
}

TEST_CASE("the tornado is a table of Step's data, and is copied as one") {
    Driver d("mesh-8", {1600, 1000});
    d.press({.key = Key::n7});
    REQUIRE(d.click("view.data", static_cast<std::uint64_t>(ViewId::step)));
    REQUIRE(d.click("data.part", StepViewState::kSensitivityTable));
    d.until([&] { return d.shell.views().step.tornado.of.is_of(d.shell.document().revision()); });
    const Table table = sensitivity_table(sensitivity_of(d.plan(), d.presets), true);
    REQUIRE(table.rows.size() > 10);
    run_command(d, "copy data as csv");
    CHECK(d.clipboard == write_table(table, TableFormat::csv));
    CHECK(says(d, table.rows[0][2].text()));
    REQUIRE(d.click("data.part", 0));
}
