#include "core/explain/batch_room.h"

#include "core/base/text.h"
#include "core/plan/edits.h"

#include <algorithm>

namespace pentamesh {

std::vector<BatchRoom> batch_rooms(const Plan& plan) {
    constexpr int kRefused = 2;
    std::vector<BatchRoom> out;
    const std::int64_t replicas = std::max<std::int64_t>(data_parallel(plan), 1);
    const std::int64_t own = plan.training.micro_batch, most = plan.training.global_batch / replicas;
    std::vector<std::int64_t> sizes{own};
    for (std::int64_t size = 1; size <= most; size *= 2)
        if (most % size == 0) sizes.push_back(size);
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    int refused = 0;
    Plan tried = plan;
    for (const std::int64_t size : sizes) {
        if (refused >= kRefused && size > own) break;
        tried.training.micro_batch = size;
        const Evaluation e = evaluate(tried, {.timeline = false, .messages = false, .report = false});
        if (!e.valid || e.memory.stage.empty()) continue;
        out.push_back({size, e.memory.stage[static_cast<std::size_t>(e.memory.peak_stage)], e.memory.fit()});
        refused += fits(out.back().fit) ? 0 : 1;
    }
    return out;
}

std::string words_of(const std::vector<BatchRoom>& rooms) {
    if (rooms.empty()) return {};
    const BatchRoom *largest = nullptr, *next = nullptr;
    for (const BatchRoom& r : rooms)
        if (r.fit == MemoryFit::yes)
            largest = &r, next = nullptr;
        else if (next == nullptr)
            next = &r;
    const auto refused = [](const BatchRoom& r) {
        const std::string bytes = memory_text(r.fullest.total());
        return r.fit != MemoryFit::no ? sentence(r.micro_batch, " may not fit: ", bytes)
                                      : sentence(r.micro_batch, " would need ", bytes);
    };
    if (largest == nullptr) return "no micro-batch surely fits: " + refused(*next);
    return sentence("largest micro-batch that fits: ", largest->micro_batch)
           + (next == nullptr ? std::string() : " (" + refused(*next) + ")");
}

}  // namespace pentamesh
