// Tests which lines of a list a typed text finds, and in which order.
#include "app/ui/kit/menu.h"

#include <doctest/doctest.h>

using namespace pentamesh::ui;

TEST_CASE("what was typed in one piece comes before pieces, and hides lines that have only its letters") {
    const std::vector<MenuItem> items{{.label = "Export: Picture of this view…"},
                                      {.label = "Order: torchtitan (tp · ep · cp)"},
                                      {.label = "View: Step in the whole window"},
                                      {.label = "View: Theme: light", .right = "Ctrl L"}};
    using Lines = std::vector<std::size_t>;
    CHECK(matching(items, "titan") == Lines{1});       // inside a word
    CHECK(matching(items, "tp") == Lines{1});          // and not the letters of "theme: step"
    CHECK(matching(items, "view") == Lines{0, 2, 3});  // a word's start in each: their own order
    CHECK(matching(items, "theme light") == Lines{3});
    CHECK(matching(items, "light theme") == Lines{3});  // words in any order
    CHECK(matching(items, "thli") == Lines{3});         // the starts of words
    CHECK(matching(items, "ctrl") == Lines{3});         // a remark is found too
    CHECK(matching(items, "pctr") == Lines{0});         // only scattered letters, where nothing stands
                                                        // together
    CHECK(matching(items, "  ") == Lines{0, 1, 2, 3});
}

TEST_CASE("the start of a word is a better match than its middle, and that than the starts of several") {
    CHECK(match_score("step", "View: Step") > match_score("step", "Timeline: timesteps"));
    CHECK(match_score("step", "timesteps") > match_score("step", "State equals plan"));
    CHECK(match_score("sep", "State equals plan") >= kTogether);
    CHECK(match_score("sep", "slept") < kTogether);
    CHECK(match_score("ZERO", "zero-1") == match_score("zero", "ZeRO-1"));
    CHECK(match_score("zq", "zero") == -1);
}
