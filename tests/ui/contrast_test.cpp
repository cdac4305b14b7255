#include "app/ui/scene/colors.h"

#include <doctest/doctest.h>

using namespace pentamesh;
using namespace pentamesh::ui;

TEST_CASE("what is to be read stands out from its ground by 4.5 to 1 in every theme") {
    for (int i = 0; i < kThemeCount; ++i) {
        const Theme& t = theme_of(static_cast<ThemeId>(i));
        CAPTURE(name_of(t.id));
        for (const Color ground : {t.window, t.panel, t.raised}) {
            CHECK(contrast(t.text, ground) >= 7);
            CHECK(contrast(t.secondary, ground) >= 4.5);
            for (const Color said : {t.good, t.amber, t.bad, t.link}) CHECK(contrast(said, ground) >= 4.5);
        }
    }
}

TEST_CASE("a number on a cell or a block reads on every shade of every axis") {
    for (int i = 0; i < kThemeCount; ++i) {
        const Theme& t = theme_of(static_cast<ThemeId>(i));
        CAPTURE(name_of(t.id));
        for (int k = 0; k < kGroupKindCount; ++k)
            for (const Color shade : shades(t, color_of(t, static_cast<GroupKind>(k))))
                CHECK(contrast(ink_on(shade), shade) >= 4.5);
        for (const OpKind op : {OpKind::F, OpKind::B, OpKind::I, OpKind::W})
            CHECK(contrast(ink_on(color_of(t, op)), color_of(t, op)) >= 4.5);
    }
}
