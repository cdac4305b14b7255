// Finds the blocks of a timeline to draw at a given zoom: ops a pixel wide or more one by one, runs of
// narrower ones merged. The time that it takes depends on the visible part, not on how many ops there are.
#pragma once

#include "core/pipeline/timeline.h"

#include <cstdint>
#include <span>
#include <vector>

namespace pentamesh {

// Says how much a device has done by which time. It is built once for each timeline, O(ops).
struct WorkIndex {
    struct Sums {
        double forward = 0, backward = 0, weight = 0;  // B and I are backward, FB half of each
        [[nodiscard]] double all() const { return forward + backward + weight; }
    };
    // Sums the work of each kind before each op: [device + op index], one entry more per device than ops.
    std::vector<Sums> before;
    // Each device's time from 0 to the makespan is divided into `slices` equal ones; this is the first op
    // that ends after the begin of each: [device * (slices + 1) + slice].
    std::vector<std::uint32_t> ending_after;
    std::vector<Sums> done;  // of the same slices: work before the begin of each
    std::size_t slices = 1;
    double slice_s = 0;
    [[nodiscard]] double begin_of(std::size_t slice) const { return static_cast<double>(slice) * slice_s; }
};
void build_work_index(const Timeline& t, WorkIndex& out);

struct Block {
    double from = 0, to = 0;          // time
    std::size_t first = 0, last = 0;  // ops [first, last]; the same one: drawn as itself
    WorkIndex::Sums work;             // of a merged run: time spent on each kind
    [[nodiscard]] bool merged() const { return last != first; }
    // Returns the share of the block's time in which the device worked.
    [[nodiscard]] double density() const { return to > from ? work.all() / (to - from) : 1; }
};

struct BlockLimits {
    double least_px = 1.5;    // a wider op is a block by itself
    double most_px = 64;      // largest width of a merged run where nothing changes in it; 0: one column
    double tolerance = 0.04;  // largest difference of a kind's share between the quarters of such a run
    bool operator==(const BlockLimits&) const = default;
};

// Finds blocks of one device between two times, ascending, on a row `pixels` wide. Ops narrower than least_px
// that end within least_px of the first one's start join it; where the work stays the same, whole stretches
// do. A block's start lies at least least_px before that of the next but one: there are at most 2 * pixels /
// least_px + 3 of them, and a steady phase of half a million ops takes a few. It takes O(log(ops in a slice))
// a block. Reuses out's capacity.
void visible_blocks(const Timeline& t, const WorkIndex& index, int device, double from, double to,
                    double pixels, std::vector<Block>& out, const BlockLimits& limits = {});

// Keeps the blocks of every row from frame to frame while the zoom stays: along the time axis they stay as
// they are, and a frame takes those that are in sight.
class SeenBlocks {
  public:
    // Sets the visible part from now on. `version` identifies a timeline; a row is `pixels` wide. At another
    // zoom the blocks of [from, to] are made anew; beyond the known ones at the same zoom, half as much again
    // is made.
    void look(std::uint64_t version, double from, double to, double pixels, const BlockLimits& limits);
    // Returns those of one device in sight; they stay valid until the next call.
    [[nodiscard]] std::span<const Block> row(const Timeline& t, const WorkIndex& index, int device);

  private:
    struct Row {
        bool known = false;
        std::vector<Block> blocks;
    };
    std::vector<Row> rows_;
    std::uint64_t version_ = 0;
    BlockLimits limits_;
    double from_ = 0, to_ = 0;              // in sight
    double known_from_ = 0, known_to_ = 0;  // content of the rows
    double pixel_ = 0;                      // time
};

}  // namespace pentamesh
