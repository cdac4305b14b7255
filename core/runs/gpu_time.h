// Divides the time of one GPU: each instant belongs to one part of the step.
#pragma once

#include "core/runs/run_file.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

namespace pentamesh::runs {

enum class GpuWork : std::uint8_t { compute, optimizer, communication, copy };

struct GpuEvent {
    double begin_us = 0, length_us = 0;
    GpuWork work = GpuWork::compute;
    int calls = -1;  // of a communication: of RunFile::calls
};

class GpuTime {
  public:
    void add(const GpuEvent& event) { events_.push_back(event); }
    void add_optimizer(double begin_us, double length_us) {
        optimizer_.emplace_back(begin_us, begin_us + length_us);
    }
    void add_mark(double begin_us, double length_us) { marks_.emplace_back(begin_us, begin_us + length_us); }
    [[nodiscard]] std::size_t size() const { return events_.size() + optimizer_.size() + marks_.size(); }
    [[nodiscard]] bool has_events() const { return !events_.empty(); }

    // Fills the step, its parts and the seconds of the calls, of which `part` says the part. Compute goes
    // before all else, then the optimizer, then the communication that began first, then copies; the rest is
    // idle. Everything in the file counts, divided by its marks of steps.
    void split(const std::vector<RunPart>& part, RunFile& out);

  private:
    void find_optimizer();
    void find_step(RunFile& out) const;

    std::deque<GpuEvent> events_;  // in blocks: there may be millions
    std::vector<std::pair<double, double>> optimizer_, marks_;
};

}  // namespace pentamesh::runs
