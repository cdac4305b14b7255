#include "core/plan/problem.h"

#include <algorithm>

namespace pentamesh {
namespace {

struct CodeRow {
    std::string_view enumerator, title, reason{};
};
#define PENTAMESH_ROW(enumerator, ...) CodeRow{#enumerator, __VA_ARGS__},
constexpr EnumArray<ProblemCode, CodeRow> kCodes{{PENTAMESH_PROBLEMS(PENTAMESH_ROW)}};
#undef PENTAMESH_ROW
static_assert(std::is_sorted(kCodes.begin(), kCodes.end(),
                             [](const CodeRow& a, const CodeRow& b) { return a.enumerator < b.enumerator; }));

EnumArray<ProblemCode, std::string> make_names() {
    EnumArray<ProblemCode, std::string> names;
    for (const ProblemCode c : all_of<ProblemCode>()) {
        names[c] = kCodes[c].enumerator;
        std::replace(names[c].begin(), names[c].end(), '_', '-');
    }
    return names;
}

}  // namespace

void Problem::drop_fix() {
    help.clear();
    fix.clear();
}

std::string_view name_of(ProblemCode code) {
    static const EnumArray<ProblemCode, std::string> kNamesOfCodes = make_names();
    return kNamesOfCodes[code];
}

std::string_view title_of(ProblemCode code) {
    return kCodes[code].title;
}

std::string_view reason_words(ProblemCode code) {
    const std::string_view reason = kCodes[code].reason;
    return reason.empty() ? name_of(code) : reason;
}

}  // namespace pentamesh
