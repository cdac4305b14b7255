// The schedule, timeline and trace tests share these shapes and names.
#pragma once

#include "core/pipeline/timeline.h"
#include "core/plan/names.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace pentamesh {

inline ScheduleShape shape_of(Schedule schedule, int p, int m, int v = 1, int group = 0) {
    ScheduleShape s;
    s.schedule = schedule;
    s.devices = p;
    s.microbatches = m;
    s.chunks = v;
    s.group = group;
    return s;
}

inline std::string label(const ScheduleShape& s) {
    std::ostringstream text;
    text << name_of(s.schedule) << " p " << s.devices << " m " << s.microbatches << " v " << s.chunks << " g "
         << s.group;
    return text.str();
}

// Returns "F0.3", "FB0.7|1.2": the spelling of tests/golden/schedules.json.
inline std::string spelled(const Op& op) {
    static constexpr std::array<const char*, 5> kinds{"F", "B", "I", "W", "FB"};
    std::ostringstream s;
    s << kinds[static_cast<std::size_t>(op.kind)] << int{op.chunk} << '.' << op.microbatch;
    if (op.kind == OpKind::FB) s << '|' << int{op.backward_chunk} << '.' << op.backward_microbatch;
    return s.str();
}

inline std::vector<std::vector<std::string>> spelled(const Order& order) {
    std::vector<std::vector<std::string>> devices(order.begin.size() - 1);
    for (std::size_t d = 0; d < devices.size(); ++d)
        for (std::size_t i = order.begin[d]; i < order.begin[d + 1]; ++i)
            devices[d].push_back(spelled(order.ops[i]));
    return devices;
}

inline nlohmann::json golden_schedules() {
    std::ifstream file(GOLDEN_DIR "/schedules.json");
    return nlohmann::json::parse(file);
}

// Holds a case of the golden file: its shape and costs.
struct GoldenCase {
    ScheduleShape shape;
    TimelineCosts costs;
    double f = 0, i = 0, w = 0, comm = 0, pair = 0;
};

inline GoldenCase golden_case(const nlohmann::json& c) {
    GoldenCase g;
    g.shape = shape_of(*parse_name<Schedule>(c["schedule"].get<std::string>()), c["stages"],
                       c["microbatches"], c["virtual_stages"], c.value("group", 0));
    const nlohmann::json& k = c["costs"];
    g.f = k["F"], g.i = k["I"], g.w = k["W"], g.comm = k["comm"], g.pair = k.value("FB", 0.0);
    g.costs = uniform_costs(g.shape, g.f, g.i, g.w, g.comm, g.pair);
    return g;
}

// Visits every accepted shape of a small grid.
template <typename Visit>
void for_each_shape(int most_p, int most_m, Visit visit) {
    for (int s = 0; s < kScheduleCount; ++s)
        for (int p = 1; p <= most_p; ++p)
            for (int m = 1; m <= most_m; ++m)
                for (int v = 1; v <= 4; ++v)
                    for (const int g : {0, p + 1, p + 3, m}) {
                        const auto schedule = static_cast<Schedule>(s);
                        if (g != 0 && schedule != Schedule::interleaved) continue;
                        const ScheduleShape shape = shape_of(schedule, p, m, v, g);
                        if (accepts(shape)) visit(shape);
                    }
}

}  // namespace pentamesh
