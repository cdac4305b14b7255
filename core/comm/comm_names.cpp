// Names collectives, scopes and phases, and the device whose calls the rows count.
#include "core/comm/comm_rows.h"

#include <algorithm>
#include <array>

namespace pentamesh {

std::string_view name_of(Scope s) {
    constexpr std::array<std::string_view, 4> names{"layer", "embedding", "head", "step"};
    return names[static_cast<std::size_t>(s)];
}
std::string_view name_of(Phase p) {
    constexpr std::array<std::string_view, 3> names{"forward", "backward", "step"};
    return names[static_cast<std::size_t>(p)];
}
std::string_view name_of(HiddenBehind h) {
    constexpr EnumArray<HiddenBehind, std::string_view> names{"",
                                                              "attention core",
                                                              "the products beside it",
                                                              "another micro-batch's compute",
                                                              "other micro-batches' compute",
                                                              "forward compute",
                                                              "backward compute"};
    static_assert(!names.back().empty());
    return names[h];
}

std::string rows_device_text(const Comm& comm) {
    return comm.stages.devices > 1 ? "a GPU of stage " + std::to_string(comm.busiest_device) : "each GPU";
}

std::string sync_peers_text(const Comm& comm) {
    struct Peers {
        std::string_view word;
        bool waits = false;
    };
    std::array<Peers, 3> all{{{"tensor"}, {"context"}, {"expert"}}};
    for (const Operation& o : comm.operations) {
        if (!is_sync_point(o)) continue;
        all[0].waits |= o.group == GroupKind::tp || o.group == GroupKind::etp || o.group == GroupKind::etp_ep;
        all[1].waits |= o.group == GroupKind::cp;
        all[2].waits |= o.group == GroupKind::ep || o.group == GroupKind::etp_ep;
    }
    std::string text;
    int left =
        static_cast<int>(std::count_if(all.begin(), all.end(), [](const Peers& p) { return p.waits; }));
    for (const Peers& p : all) {
        if (!p.waits) continue;
        if (!text.empty()) text += left == 1 ? " and " : ", ";
        text += p.word;
        --left;
    }
    return text.empty() ? text : text + " peers";
}

}  // namespace pentamesh
