// Tests a view in a frame of somebody's page: what links and messages may say, and what the page hears.
#include "app/ui/shell/embed.h"

#include "core/base/files.h"
#include "core/io/plan_json.h"
#include "core/plan/names.h"
#include "tests/ui/driver.h"

#include <nlohmann/json.hpp>

namespace pentamesh::ui {

namespace {

using nlohmann::json;

std::string why_refused(const std::string& message) {
    try {
        static_cast<void>(read_embed_message(message));
    } catch (const Error& e) {
        CHECK(e.kind() == ErrorKind::invalid);
        return e.what();
    }
    return {};
}

// A bare view as a page has it, and what the page around it heard.
struct Frame {
    explicit Frame(const std::string& link, Vec2 size = {640, 400})
        : d("mesh-8", size), start(begin_embed(link, d.presets)), embed(d.shell, d.presets, start) {
        if (start.plan) d.shell.open_plan(*start.plan);
        settle();
    }
    void settle() {
        d.settle();
        for (const std::string& m : embed.news()) heard.push_back(json::parse(m));
    }
    json take(const json& message) {
        const json answer = json::parse(embed.take(message.dump()));
        settle();
        return answer;
    }
    // Returns the last message of that kind; null where none came.
    [[nodiscard]] json last(const std::string& kind) const {
        json out;
        for (const json& m : heard)
            if (m["pentamesh"] == kind) out = m;
        return out;
    }

    Driver d;
    EmbedStart start;
    Embed embed;
    std::vector<json> heard;
};

}  // namespace

TEST_CASE("a link asks for a bare view, its page, its theme and its type") {
    const Link link = read_link("#view=memory&page=sheds&bare&theme=light&text=1.5");
    CHECK(link.bare);
    CHECK(link.view == ViewId::memory);
    CHECK(link.page == "sheds");
    CHECK(link.theme == ThemeId::light);
    CHECK(link.text == 1.5f);
    CHECK(write_link(link) == "#view=memory&page=sheds&bare&theme=light&text=1.5");
    CHECK(read_link("#view=layer&page=dp%20alone&bare").page == "dp alone");
    CHECK(write_link(read_link("#view=layer&page=dp-alone&bare")) == "#view=layer&page=dp-alone&bare");
    CHECK(write_link(read_link("#bare")) == "#bare");
    CHECK(write_link(read_link("#view=mesh&page=zoom&bare")) == "#view=zoom&bare");
    CHECK(is_link("#bare"));
    CHECK(is_link("https://example.org/pentamesh.html#bare&view=mesh"));
    CHECK_FALSE(is_link("#barely=1"));
    for (const auto& [bad, why] : {std::pair("#view=memory&page=shed&bare", "stages"),
                                   {"#page=sheds&bare", "needs a view"},
                                   {"#view=mesh&bare&theme=pink", "high-contrast"},
                                   {"#view=mesh&bare&text=0", "multiple"},
                                   {"#view=mesh&bare&text=1e9", "multiple"},
                                   {"#view=mesh&bare&text=nan", "multiple"},
                                   {"#view=compare&page=x&bare", "no page"}}) {
        const char* text = bad;
        CAPTURE(text);
        CHECK_THROWS_WITH_AS(static_cast<void>(read_link(text)), doctest::Contains(why), Error);
    }
    CHECK(asks_for_bare("#plan=damaged!!&bare"));
    CHECK(asks_for_bare("bare"));
    CHECK_FALSE(asks_for_bare("#view=bare"));
    CHECK_FALSE(asks_for_bare("#plan=x&bared"));
    CHECK_FALSE(asks_for_bare(""));
}

TEST_CASE("every page that a lesson may name has a link, and comes back from it") {
    for (const LessonView& v : lesson_views()) {
        const auto id = view_named(v.name);
        for (const std::string_view page : v.pages) {
            CAPTURE(v.name);
            CAPTURE(page);
            Link link;
            link.view = id, link.page = page, link.bare = true;
            const Link back = read_link(write_link(link));
            CHECK(back.view == id);
            CHECK(back.page == page);
        }
    }
}

TEST_CASE("messages are read in their four kinds") {
    CHECK(read_embed_message(R"({"pentamesh": "plan", "plan": "mesh-8"})").plan == "mesh-8");
    CHECK(read_embed_message(R"({"pentamesh": "plan", "plan": {"a": 1}})").plan == R"({"a":1})");
    const EmbedMessage list =
        read_embed_message(R"({"pentamesh": "set", "set": ["layout.tp=4", "training.recompute=full"]})");
    CHECK(list.kind == EmbedMessage::Kind::set);
    CHECK(list.sets == std::vector<std::string>{"layout.tp=4", "training.recompute=full"});
    const EmbedMessage object = read_embed_message(
        R"({"pentamesh": "set", "set": {"layout.tp": 4, "training.recompute": "full", "layout.order": ["tp"]}})");
    CHECK(object.sets
          == std::vector<std::string>{"layout.order=[\"tp\"]", "layout.tp=4", "training.recompute=full"});
    CHECK(read_embed_message(R"({"pentamesh": "set", "set": "zero=3"})").sets.front() == "zero=3");
    const EmbedMessage view =
        read_embed_message(R"({"pentamesh": "view", "view": "layer", "page": "dp alone"})");
    CHECK(view.view == "layer");
    CHECK(view.page == "dp alone");
    const EmbedMessage step =
        read_embed_message(R"({"pentamesh": "step", "lesson": "03", "step": 2, "id": 7})");
    CHECK(step.lesson == "03");
    CHECK(step.step == 2);
}

TEST_CASE("a malformed message is refused in words") {
    for (const auto& [bad, why] :
         {std::pair("", "JSON"),
          {"{", "message"},
          {"[]", "an object"},
          {"7", "an object"},
          {"{}", "needs \"pentamesh\""},
          {R"({"pentamesh": 1})", "must be a text"},
          {R"({"pentamesh": "plot"})", "plan, set, view, step"},
          {R"({"pentamesh": "plan"})", "needs \"plan\""},
          {R"({"pentamesh": "plan", "plan": 7})", "id of a plan"},
          {R"({"pentamesh": "set", "set": []})", "names no field"},
          {R"({"pentamesh": "set", "set": ["tp"]})", "layout.tp=4"},
          {R"({"pentamesh": "set", "set": ["=4"]})", "layout.tp=4"},
          {R"({"pentamesh": "set", "set": [4]})", "layout.tp=4"},
          {R"({"pentamesh": "set", "set": true})", "layout.tp"},
          {R"({"pentamesh": "set", "sets": []})", "says nothing"},
          {R"({"pentamesh": "view", "view": "memry"})", "closest is memory"},
          {R"({"pentamesh": "view", "view": "dashboard"})", ""},
          {R"({"pentamesh": "view", "view": "memory", "page": "shed"})", "stages"},
          {R"({"pentamesh": "view", "view": "memory", "page": 1})", "must be a text"},
          {R"({"pentamesh": "step", "lesson": "03", "step": 0})", "from 1"},
          {R"({"pentamesh": "step", "lesson": "03", "step": 1.5})", "from 1"},
          {R"({"pentamesh": "step", "step": 1})", "needs \"lesson\""}}) {
        const char* text = bad;
        CAPTURE(text);
        const std::string refused = why_refused(text);
        CHECK_FALSE(refused.empty());
        if (std::string_view(why) != "JSON") CHECK(refused.find(why) != std::string::npos);
        CHECK(refused.size() < 400);
    }
    CHECK(why_refused("{\"pentamesh\": \"" + std::string(kLongestMessage, 'x') + "\"}").find("megabyte")
          != std::string::npos);
    CHECK_FALSE(why_refused(std::string(100000, '[')).empty());
    CHECK_FALSE(why_refused("{\"pentamesh\": \"\xff\"}").empty());
}

TEST_CASE("a bare view fills its frame at any size, and nothing of the window is there") {
    for (const Vec2 size : {Vec2{320, 200}, Vec2{480, 900}, Vec2{960, 540}, Vec2{1920, 1080}}) {
        CAPTURE(size.x);
        Frame f("#view=memory&bare", size);
        CHECK(f.d.shell.bare());
        CHECK(f.d.shell.full_view() == ViewId::memory);
        CHECK(f.d.drawn("view.memory"));
        for (const char* name : {"part.bar", "part.status", "part.plan", "part.right", "menu.File",
                                 "view.data", "view.dashboard", "side.tab", "layout.tp.plus"}) {
            CAPTURE(name);
            CHECK_FALSE(f.d.drawn(name));
        }
        f.d.press({.key = Key::o, .ctrl = true});  // no command of the window answers
        f.d.press({.key = Key::n5});
        f.d.press({.key = Key::escape});
        CHECK(f.d.shell.dialog() == DialogKind::none);
        CHECK(f.d.shell.full_view() == ViewId::memory);
    }
}

TEST_CASE("the page hears that the view is there, its plan and what was clicked") {
    Frame f("#view=mesh&bare", {960, 540});
    CHECK(f.last("ready")["view"] == "mesh");
    const json plan = f.last("plan");
    CHECK(plan["valid"] == true);
    CHECK(plan["plan"]["layout"]["tp"] == f.d.plan().layout.tp);
    CHECK(plan["figures"]["step_s"] == f.d.shell.evaluation().step->time_s);
    CHECK(plan["figures"]["memory_bytes"] == f.d.shell.evaluation().memory.peak());
    CHECK(plan["figures"]["fit"] == "fits");
    CHECK(f.last("selected").is_null());
    const std::size_t before = f.heard.size();
    f.settle();
    CHECK(f.heard.size() == before);  // nothing new
    f.d.shell.selection().pick_rank(5);
    f.settle();
    CHECK(f.last("selected")["rank"] == 5);
    CHECK(f.last("selected")["words"].get<std::string>().starts_with("rank 5"));
    CHECK(f.last("selected")["axis"].is_null());
    f.d.shell.selection().choose(GroupKind::tp);
    f.settle();
    CHECK(f.last("selected")["axis"] == "tp");
    f.d.press({.key = Key::escape});
    f.settle();
    CHECK(f.last("selected")["rank"].is_null());
}

TEST_CASE("messages change plan and view, each with an answer; undo takes an edit back") {
    Frame f("#view=mesh&bare");
    CHECK(f.take({{"pentamesh", "plan"}, {"plan", "llama-3-8b-fsdp"}, {"id", "a"}})
          == json{{"pentamesh", "done"}, {"id", "a"}});
    CHECK(f.d.plan() == f.d.presets.plan("llama-3-8b-fsdp"));
    CHECK(f.d.shell.full_view() == ViewId::mesh);
    CHECK(f.d.shell.message().empty());
    CHECK(f.take({{"pentamesh", "set"}, {"set", {"layout.zero=2"}}})["pentamesh"] == "done");
    CHECK(f.d.plan().layout.zero == 2);
    CHECK(f.last("plan")["plan"]["layout"]["zero"] == 2);
    f.d.press({.key = Key::z, .ctrl = true});
    f.settle();
    CHECK(f.d.plan().layout.zero == 3);
    CHECK(f.last("plan")["title"] == title_of(f.d.plan()));
    CHECK(f.take({{"pentamesh", "view"}, {"view", "memory"}, {"page", "sheds"}})["pentamesh"] == "done");
    CHECK(f.d.shell.full_view() == ViewId::memory);
    CHECK(f.d.shell.views().memory.page == MemoryPage::sheds);
    // A request that cannot be met is refused in words, and changes nothing.
    const Plan plan = f.d.plan();
    for (const json& wrong : {json{{"pentamesh", "plan"}, {"plan", "mesh-9"}},
                              json{{"pentamesh", "plan"}, {"plan", "{\"format\": \"something/1\"}"}},
                              json{{"pentamesh", "plan"}, {"plan", json::object()}},
                              json{{"pentamesh", "set"}, {"set", {"layout.tpp=4"}}},
                              json{{"pentamesh", "set"}, {"set", {{"layout.tp", "four"}}}},
                              json{{"pentamesh", "step"}, {"lesson", "../../etc/passwd"}},
                              json{{"pentamesh", "step"}, {"lesson", ""}},
                              json{{"pentamesh", "step"}, {"lesson", "03"}, {"step", 9999}}}) {
        CAPTURE(wrong.dump());
        const json answer = f.take(wrong);
        CHECK(answer["pentamesh"] == "error");
        CHECK_FALSE(answer["message"].get<std::string>().empty());
        CHECK(f.d.plan() == plan);
        CHECK_FALSE(f.d.shell.lesson().open);
    }
    // A plan that cannot be laid out is a plan: its problems are said.
    f.take({{"pentamesh", "set"}, {"set", {"layout.tp=3"}}});
    CHECK(f.last("plan")["valid"] == false);
    CHECK_FALSE(f.last("plan")["problems"].empty());
    CHECK(f.last("plan")["figures"]["step_s"].is_null());
}

TEST_CASE("a step of a lesson is shown without its words, and its question covers nothing") {
    Frame f("#bare");
    for (int step = 1; step <= 3; ++step) {
        CAPTURE(step);
        CHECK(f.take({{"pentamesh", "step"}, {"lesson", "03"}, {"step", step}})["pentamesh"] == "done");
        CHECK(f.d.shell.lesson().step == static_cast<std::size_t>(step - 1));
        CHECK_FALSE(f.d.drawn("lesson.next"));
        CHECK_FALSE(f.d.shell.lesson().hidden_answer.open);
        CHECK(f.d.shell.full_view());
    }
    f.take({{"pentamesh", "plan"}, {"plan", "mesh-8"}});
    CHECK_FALSE(f.d.shell.lesson().open);
    CHECK(f.d.plan() == f.d.presets.plan("mesh-8"));
    CHECK(f.d.shell.full_view());
}

TEST_CASE("a link begins a view with its plan; a damaged one says so in the view and to the page") {
    const Presets presets(std::filesystem::path(SOURCE_DIR) / "presets");
    Link link;
    link.plan = write_plan(presets.plan("llama-3-70b-3d"));
    link.view = ViewId::timeline;
    link.bare = true;
    const EmbedStart start = begin_embed(write_link(link), presets);
    REQUIRE(start.plan);
    CHECK(*start.plan == presets.plan("llama-3-70b-3d"));
    CHECK(start.error.empty());
    Frame damaged("#plan=AAAA&bare");
    CHECK_FALSE(damaged.start.error.empty());
    CHECK(damaged.last("error")["message"] == damaged.start.error);
    CHECK(damaged.d.shell.message() == damaged.start.error);
    CHECK(damaged.d.shell.bare());
    // A link that takes the place of the first one.
    CHECK(json::parse(damaged.embed.open(write_link(link)))["pentamesh"] == "done");
    damaged.settle();
    CHECK(damaged.d.plan() == presets.plan("llama-3-70b-3d"));
    CHECK(damaged.d.shell.full_view() == ViewId::timeline);
    CHECK(json::parse(damaged.embed.open("#view=nowhere&bare"))["pentamesh"] == "error");
}

}  // namespace pentamesh::ui
