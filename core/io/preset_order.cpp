#include "core/io/preset_order.h"

#include "core/base/number.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

namespace pentamesh {
namespace {

struct NumberedName {
    std::string family;
    double number = 0;
};

bool is_digit_of(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// Splits "Llama 3.1 70B" into "llama" and 3.1; "OLMo 7B" has the number 0.
NumberedName numbered_name(std::string_view name) {
    const auto first = std::find_if(name.begin(), name.end(), is_digit_of);
    const auto at = static_cast<std::size_t>(first - name.begin());
    std::size_t end = at;
    while (end < name.size() && (is_digit_of(name[end]) || name[end] == '.')) ++end;
    NumberedName out{std::string(name.substr(0, at)), 0};
    for (char& c : out.family) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    while (out.family.ends_with(' ') || out.family.ends_with('-')) out.family.pop_back();
    const bool size =
        end < name.size() && std::string_view("BTMKx").find(name[end]) != std::string_view::npos;
    if (!size) out.number = parse_double(name.substr(at, end - at)).value_or(0);
    return out;
}

}  // namespace

std::vector<const Presets::Entry*> highest_number_first(const std::vector<Presets::Entry>& entries) {
    struct Placed {
        const Presets::Entry* entry;
        std::size_t family;  // the place of its first entry
        double number;
    };
    std::vector<std::string> families;
    std::vector<Placed> placed;
    for (const Presets::Entry& e : entries) {
        NumberedName n = numbered_name(e.name.empty() ? e.id : e.name);
        const auto at = std::find(families.begin(), families.end(), n.family);
        placed.push_back({&e, static_cast<std::size_t>(at - families.begin()), n.number});
        if (at == families.end()) families.push_back(std::move(n.family));
    }
    std::stable_sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
        return a.family != b.family ? a.family < b.family : a.number > b.number;
    });
    std::vector<const Presets::Entry*> out;
    out.reserve(placed.size());
    for (const Placed& p : placed) out.push_back(p.entry);
    return out;
}

}  // namespace pentamesh
