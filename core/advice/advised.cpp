#include "core/advice/advised.h"

#include <iterator>

namespace pentamesh {
namespace {

struct MeasureRow {
    Measure measure;
    std::string_view name;
    MeasureUnit unit;
};
constexpr MeasureRow kMeasures[] = {
    {Measure::step_s, "step_s", MeasureUnit::seconds},
    {Measure::step_saved_s, "step_saved_s", MeasureUnit::seconds},
    {Measure::bubble_s, "bubble_s", MeasureUnit::seconds},
    {Measure::bubble_share, "bubble_share", MeasureUnit::share},
    {Measure::uneven_s, "uneven_s", MeasureUnit::seconds},
    {Measure::uneven_share, "uneven_share", MeasureUnit::share},
    {Measure::straggler_s, "straggler_s", MeasureUnit::seconds},
    {Measure::straggler_share, "straggler_share", MeasureUnit::share},
    {Measure::straggler_cv, "straggler_cv", MeasureUnit::share},
    {Measure::straggler_bound, "straggler_bound", MeasureUnit::share},
    {Measure::memory, "memory", MeasureUnit::memory},
    {Measure::memory_saved, "memory_saved", MeasureUnit::memory},
    {Measure::memory_over, "memory_over", MeasureUnit::memory},
    {Measure::memory_least, "memory_least", MeasureUnit::memory},
    {Measure::hbm, "hbm", MeasureUnit::memory},
    {Measure::parameters, "parameters", MeasureUnit::memory},
    {Measure::gradients, "gradients", MeasureUnit::memory},
    {Measure::optimizer, "optimizer", MeasureUnit::memory},
    {Measure::activations, "activations", MeasureUnit::memory},
    {Measure::buffers, "buffers", MeasureUnit::memory},
    {Measure::buffers_high, "buffers_high", MeasureUnit::memory},
    {Measure::sent, "sent", MeasureUnit::traffic},
    {Measure::sent_data_parallel, "sent_data_parallel", MeasureUnit::traffic},
    {Measure::group_sent, "group_sent", MeasureUnit::traffic},
    {Measure::group_time_s, "group_time_s", MeasureUnit::seconds},
    {Measure::group_exposed_s, "group_exposed_s", MeasureUnit::seconds},
    {Measure::ring_piece, "ring_piece", MeasureUnit::traffic},
    {Measure::ring_latency_s, "ring_latency_s", MeasureUnit::seconds},
    {Measure::ring_latency_step_s, "ring_latency_step_s", MeasureUnit::seconds},
};
static_assert(std::size(kMeasures) == kEnumCount<Measure>);

const MeasureRow& measure_row(Measure measure) {
    return kMeasures[static_cast<std::size_t>(measure)];
}

}  // namespace

MeasureUnit unit_of(Measure measure) {
    return measure_row(measure).unit;
}
std::string_view name_of(Measure measure) {
    return measure_row(measure).name;
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
