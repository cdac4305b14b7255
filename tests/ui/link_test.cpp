// Tests links: a packed plan comes back, a damaged link says so, and the window copies and opens them.
#include "app/ui/shell/picture.h"

#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "tests/ui/driver.h"

namespace pentamesh::ui {

namespace {

std::string why_damaged(const std::string& text) {
    try {
        (void)read_link(text);
    } catch (const Error& e) {
        return e.message();
    }
    return {};
}

bool press_command(Driver& d, std::string_view id) {
    for (const Command& c : d.shell.commands())
        if (c.id == id) {
            d.shell.run(c);
            d.settle();
            return true;
        }
    return false;
}

}  // namespace

TEST_CASE("every plan that ships fits into a link and comes back from it") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    for (const auto& entry : presets.list(PresetKind::plan)) {
        Link link;
        link.plan = write_plan(presets.plan(entry.id));
        link.view = ViewId::memory;
        const std::string text = write_link(link);
        CAPTURE(entry.id);
        CHECK(text.size() < kLongestLink);
        CHECK(is_link("https://example.org/pentamesh.html" + text));
        const Link back = read_link(text);
        CHECK(back.plan == link.plan);
        CHECK(back.view == ViewId::memory);
    }
}

TEST_CASE("a damaged link says what is wrong with it") {
    Link link;
    link.plan = write_plan(Presets(std::filesystem::path(SOURCE_DIR) / "presets").plan("mesh-8"));
    const std::string whole = write_link(link);
    CHECK(why_damaged(whole).empty());
    CHECK(why_damaged(whole.substr(0, whole.size() / 2)).find("missing") != std::string::npos);
    std::string changed = whole;
    changed[whole.size() / 2] = changed[whole.size() / 2] == 'A' ? 'B' : 'A';
    CHECK(why_damaged(changed).find("changed on its way") != std::string::npos);
    CHECK(why_damaged("#plan=a%20b").find("sign") != std::string::npos);
    CHECK(why_damaged("#view=nowhere").find("no view") != std::string::npos);
    CHECK(why_damaged("#lesson=../../etc/passwd").find("no lesson") != std::string::npos);
    CHECK(why_damaged("#lesson=03&step=-1").find("no number") != std::string::npos);
    CHECK(why_damaged("#plam=x").find("says nothing") != std::string::npos);
}

TEST_CASE("a link cannot fill the memory") {
    Link link;
    link.plan = std::string(std::size_t{4} << 20U, ' ');
    CHECK(why_damaged(write_link(link)).find("larger than a megabyte") != std::string::npos);
}

TEST_CASE("the window copies a link of plan and view, and opens it again") {
    Driver d("mesh-8");
    d.clipboard = "https://example.org/p.html#old";
    CHECK(press_command(d, "edit.link_base"));
    d.shell.show_full(ViewId::memory);
    d.settle();
    CHECK(press_command(d, "edit.copy_link"));
    CHECK(d.clipboard.starts_with("https://example.org/p.html#plan="));
    CHECK(d.clipboard.ends_with("&view=memory"));
    Driver other("llama-3-70b-3d");
    other.clipboard = d.clipboard;
    CHECK(press_command(other, "edit.paste"));
    CHECK(other.plan() == d.plan());
    CHECK(other.shell.full_view() == ViewId::memory);
}

TEST_CASE("a link of a lesson opens its step; a damaged one leaves the plan as it was") {
    Driver d("mesh-8");
    const Plan before = d.plan();
    d.shell.open_link("#plan=AAAA");
    d.settle();
    CHECK(d.plan() == before);
    CHECK(d.shell.message().find("link") != std::string::npos);
    d.shell.open_link("#lesson=03&step=2");
    d.settle();
    CHECK(d.shell.lesson().open);
    CHECK(d.shell.lesson().step == 1);
    CHECK(press_command(d, "edit.copy_link"));
    CHECK(d.clipboard.find("#lesson=03-") != std::string::npos);
    CHECK(d.clipboard.ends_with("&step=2"));
}

}  // namespace pentamesh::ui
