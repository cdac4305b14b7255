// Tests that a field of the table (core/plan/plan_fields.h) is everywhere that fields are: in the reader and
// the writer, in the schema, in `--set`, in the sheet, in the units of a comparison, in the sensitivity and
// in the search.
#include "core/decide/scale.h"
#include "core/decide/space.h"
#include "core/io/plan_json.h"
#include "core/plan/field_list.h"
#include "tests/core/shipped.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <set>

using namespace pentamesh;
using nlohmann::json;

namespace {

using test::presets;

// Returns values of a field, as `--set` takes them: one of them differs from the plan's.
struct ValuesOf {
    std::string_view key;
    const std::variant<std::monostate, IntRange, NumberRange>& range;
    using Texts = std::vector<std::string>;
    template <typename I>
    Texts whole(I) const {
        return {std::to_string(std::get<IntRange>(range).least),
                std::to_string(std::get<IntRange>(range).most)};
    }
    Texts operator()(const std::int64_t* v) const { return whole(*v); }
    Texts operator()(const int* v) const { return whole(*v); }
    Texts operator()(const std::optional<std::int64_t>*) const { return whole(0); }
    Texts operator()(const bool*) const { return {"false", "true"}; }
    Texts operator()(const double*) const { return {"1", "2"}; }
    Texts operator()(const std::vector<std::int64_t>*) const { return {"[1, 2]", "[3, 4]"}; }
    Texts operator()(const RecomputeChoice*) const { return {"none", R"({"modules": ["mlp"]})"}; }
    Texts operator()(const std::array<Axis, kAxisCount>*) const {
        return {"tp-cp-ep-dp-pp", "cp-tp-ep-dp-pp"};
    }
    Texts operator()(const FieldPlace<true>::Choice& v) const {
        const auto name = [&](std::size_t i) { return std::string(v.names[i % v.names.size()]); };
        return {name(0), name(2), name(1)};
    }
};

// Returns the plan after the first of the values that changes it.
std::pair<Plan, std::string> with_another(const Plan& plan, const ListedField<true>& f) {
    for (const std::string& text : std::visit(ValuesOf{f.key, f.range}, f.place)) {
        const std::string set = f.pointer() + "=" + text;
        Plan to = with_sets(plan, {set}, presets());
        if (!(to == plan)) return {std::move(to), text};
    }
    FAIL("no value changes ", f.pointer());
    return {};
}

// These fields have no row in the sensitivity: their names say why.
const std::set<std::string> kChangesNoFigure{"/training/tokens_total", "/training/checkpoint_s"};
const std::set<std::string> kAmongConstants{"/training/buffers/communicator_bytes",
                                            "/training/buffers/context_bytes",
                                            "/training/buffers/fragmentation", "/training/costly_share"};
const std::set<std::string> kIsWhatIsCompared{"/training/software"};

}  // namespace

TEST_CASE("a field of the table is read, written, described, set, listed on the sheet and compared") {
    const Plan plan = presets().plan("llama-3-70b-3d");
    const json schema = json::parse(plan_schema());
    const std::vector<PlanField> sheet = list_plan_fields(plan, presets());
    int fields = 0;
    for (const auto& f : list_fields(plan)) {
        const std::string pointer = f.pointer();
        CAPTURE(pointer);
        const auto [changed, text] = with_another(plan, f);  // --set, and with it the reader
        CHECK(parse_plan(write_plan(changed), "", presets()) == changed);
        CHECK(json::parse(write_plan(changed)).contains(json::json_pointer(pointer)));

        json described = schema;
        for (std::size_t at = 1; at < pointer.size();) {
            const std::size_t slash = std::min(pointer.find('/', at), pointer.size());
            const std::string key = pointer.substr(at, slash - at);
            if (described.contains("anyOf")) described = described["anyOf"].back();
            REQUIRE(described["properties"].contains(key));
            described = described["properties"][key];
            at = slash + 1;
        }

        const auto row = std::find_if(sheet.begin(), sheet.end(),
                                      [&](const PlanField& s) { return s.pointer == pointer; });
        REQUIRE(row != sheet.end());
        CHECK_FALSE(row->label.empty());
        CHECK(kNames<FieldTopic>[static_cast<std::size_t>(row->topic)].size() > 2);

        const std::vector<FieldUnit> units = units_between(plan, changed);
        const bool compared = std::any_of(units.begin(), units.end(), [&](const FieldUnit& u) {
            return u.pointers == std::vector<std::string>{pointer};
        });
        CHECK(compared);
        Plan taken = plan;
        for (const FieldUnit& unit : units) take(unit, changed, taken);
        CHECK(write_plan(taken) == write_plan(with_sets(plan, sets_between(plan, changed), presets())));
        ++fields;
    }
    CHECK(fields >= 50);
}

TEST_CASE(
    "a field of layout or training has a row of sensitivity, is a constant there, or has no next value") {
    const Plan plan = presets().plan("llama-3-70b-3d"), with_experts = presets().plan("deepseek-v3-2048");
    std::set<std::string> rows;
    for (const Plan& of : {plan, with_experts})
        for (const SensitivityRow& r : sensitivity_of(of, presets()).rows) rows.insert(r.id);
    int found = 0;
    for (const auto& f : list_fields(plan)) {
        const std::string pointer = f.pointer();
        CAPTURE(pointer);
        if (f.owner == "/cluster" || kChangesNoFigure.count(pointer) || kIsWhatIsCompared.count(pointer))
            continue;
        const auto* number = std::get_if<const double*>(&f.place);
        const bool has_no_next = (number && **number == 0)
                                 || std::holds_alternative<const std::optional<std::int64_t>*>(f.place)
                                 || std::holds_alternative<const std::vector<std::int64_t>*>(f.place);
        if (has_no_next || kAmongConstants.count(pointer)) continue;
        CHECK(rows.count(pointer) == 1);
        ++found;
    }
    CHECK(found >= 30);
}

TEST_CASE("each field that a search varies is a field of the table") {
    const Plan plan;
    for (const Varied v : all_of<Varied>()) {
        CAPTURE(pointer_of(v));
        const auto all = list_fields(plan);
        CHECK(std::any_of(all.begin(), all.end(), [&](const auto& f) { return f.is(pointer_of(v)); }));
    }
}
