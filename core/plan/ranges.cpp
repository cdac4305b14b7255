#include "core/plan/ranges.h"

#include "core/base/text.h"
#include "core/plan/field_list.h"

namespace pentamesh {
namespace {

std::optional<FieldRange> shown(std::monostate) {
    return std::nullopt;
}
std::optional<FieldRange> shown(IntRange r) {
    return FieldRange{static_cast<double>(r.least), static_cast<double>(r.most), false, true};
}
std::optional<FieldRange> shown(NumberRange r) {
    return FieldRange{r.least, r.most, r.above, false};
}

bool doubles(std::string_view pointer) {
    return pointer == "/cluster/gpus" || pointer == "/training/global_batch"
           || pointer == "/training/sequence_length";
}

std::string number_text(double x) {
    return x == static_cast<double>(static_cast<std::int64_t>(x)) ? with_commas(static_cast<std::int64_t>(x))
                                                                  : three_digits(x);
}

}  // namespace

std::optional<FieldRange> range_of(std::string_view pointer) {
    const Plan plan;
    for (const auto& f : list_fields(plan))
        if (f.is(pointer)) return std::visit([](auto r) { return shown(r); }, f.range);
    return std::nullopt;
}

std::string range_text(const FieldRange& range) {
    const std::string noun = range.whole ? "a whole number " : "a number ";
    return noun + (range.above ? "above " : "from ") + number_text(range.least) + " to "
           + number_text(range.most);
}

std::int64_t next_value(std::string_view pointer, std::int64_t value, int by) {
    const std::optional<FieldRange> range = range_of(pointer);
    if (by == 0 || !range) return value;
    if (!range->allows(static_cast<double>(value)))  // back into the range first
        return static_cast<std::int64_t>(static_cast<double>(value) < range->least ? range->least
                                                                                   : range->most);
    std::int64_t next = value + (by > 0 ? 1 : -1);
    if (doubles(pointer)) {
        if (by < 0 && value % 2 != 0) return value;
        next = by > 0 ? value * 2 : value / 2;
    }
    return range->allows(static_cast<double>(next)) ? next : value;
}

}  // namespace pentamesh
