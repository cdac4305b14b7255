#include "app/ui/shell/commands.h"

#include "core/base/error.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/io/plan_by_hand.h"
#include "core/plan/changes.h"
#include "core/plan/factors.h"
#include "core/plan/names.h"

#include <array>
#include <cctype>
#include <cmath>
#include <utility>
#include <vector>

namespace pentamesh::ui {

namespace {

// Names that people say of a field, instead of its key.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kSaid{
    {{"batch", "/training/global_batch"},
     {"sequence", "/training/sequence_length"},
     {"seq", "/training/sequence_length"},
     {"micro-batch", "/training/micro_batch"},
     {"mb", "/training/micro_batch"},
     {"chunks", "/layout/virtual_stages"},
     {"vpp", "/layout/virtual_stages"}}};

std::vector<std::string> words_in(std::string_view text) {
    std::string small(text);
    for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const std::vector<std::string_view> words = split_words(small, " ,=");
    return {words.begin(), words.end()};
}

// Returns the pointer of a field of the layout, the training or the cluster; empty where no field is called
// so.
std::string pointer_of_name(const Plan& plan, std::string_view name, const Presets& presets) {
    for (const auto& [said, pointer] : kSaid)
        if (said == name) return std::string(pointer);
    const std::vector<PlanField> fields = list_plan_fields(plan, presets);
    for (const std::string_view group : {"/layout/", "/training/", "/cluster/"})
        for (const PlanField& f : fields)
            if (f.kind != PlanField::Kind::group && f.pointer == std::string(group) + std::string(name))
                return f.pointer;
    return {};
}

std::optional<std::int64_t> whole(std::string_view text) {
    const std::optional<double> n = parse_double(text);
    if (!n || *n != std::floor(*n) || !(*n >= 1 && *n < 1e9)) return std::nullopt;
    return static_cast<std::int64_t>(*n);
}

// Changes one thing. Returns false where the name names nothing that a plan has.
bool change(Plan& plan, const std::string& name, const std::string& value, const Presets& presets) {
    const auto number = whole(value);
    const auto refuse = [&] {
        throw Error(ErrorKind::usage, "", "", name + " " + value + ": is a whole number from 1 on");
    };
    if (const auto axis = parse_name<Axis>(name)) {
        if (!number) refuse();
        plan = with_factor(plan, *axis, *number, true);
        return true;
    }
    if (name == "gpus") {
        if (!number) refuse();
        plan = with_gpus(plan, *number);
        return true;
    }
    const std::string pointer = pointer_of_name(plan, name, presets);
    if (pointer.empty()) return false;
    plan = with_field(plan, pointer, value, presets);
    return true;
}

}  // namespace

std::optional<TypedEdits> typed_edits(const Plan& plan, std::string_view text, const Presets& presets) {
    const std::vector<std::string> words = words_in(text);
    if (words.size() < 2 || words.size() % 2 != 0) return std::nullopt;
    TypedEdits out{{}, {}, plan};
    try {
        for (std::size_t i = 0; i < words.size(); i += 2) {
            if (!change(out.plan, words[i], words[i + 1], presets)) return std::nullopt;
            out.words += (i > 0 ? ", " : "") + words[i] + " " + words[i + 1];
        }
    } catch (const Error& e) {
        // Words that are no numbers may be those of a command: "order of Megatron".
        for (std::size_t i = 1; i < words.size(); i += 2)
            if (!parse_double(words[i])) return std::nullopt;
        out.refused = e.message();
        out.plan = plan;
        out.words = std::string(text);
    }
    return out;
}

}  // namespace pentamesh::ui
