#include "app/ui/kit/format.h"

#include "tests/ui/driver.h"

using namespace pentamesh;
using namespace pentamesh::ui;

TEST_CASE("the keyboard's place is said with its label, by the mouse nothing is") {
    Driver d("mesh-8");
    d.surface.record_text(true);
    UiState& state = d.shell.ui_state();
    state.focus = id_of("layout.tp.plus");
    const auto said = [&] {
        state.redraw_all = true;
        d.frame();
        return focused_words(state, d.surface.text_runs());
    };
    CHECK(said().empty());
    state.focus_visible = true;
    const std::string before = said();
    CHECK(before.starts_with("tp"));
    CHECK(before.find(std::to_string(d.shell.document().plan().layout.tp)) != std::string::npos);
    d.click("layout.tp.plus");
    state.focus_visible = true;
    CHECK(said() != before);
    state.focus = id_of("no such area");
    CHECK(said().empty());
}
