#include "core/advice/advised.h"

namespace pentamesh {

MeasureUnit unit_of(Measure measure) {
#define PENTAMESH_UNIT(measure, unit) MeasureUnit::unit,
    static constexpr EnumArray<Measure, MeasureUnit> kUnits{PENTAMESH_MEASURES(PENTAMESH_UNIT)};
#undef PENTAMESH_UNIT
    return kUnits[measure];
}
std::string_view name_of(Measure measure) {
#define PENTAMESH_NAME(measure, unit) #measure,
    static constexpr EnumArray<Measure, std::string_view> kNamesOfMeasures{
        PENTAMESH_MEASURES(PENTAMESH_NAME)};
#undef PENTAMESH_NAME
    return kNamesOfMeasures[measure];
}

std::string text_of(const Stated& stated) {
    switch (unit_of(stated.measure)) {
    case MeasureUnit::seconds: return time_text(stated.value);
    case MeasureUnit::share: return percent_text(stated.value);
    case MeasureUnit::memory: return memory_text(stated.value);
    case MeasureUnit::traffic: return bytes_text(stated.value);
    }
    return {};
}

}  // namespace pentamesh
