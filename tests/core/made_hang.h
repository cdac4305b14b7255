// Makes the dumps of a job that hangs: each rank runs the same program over its groups, one or several ranks
// fail, and every rank writes what its flight recorder would show.
#pragma once

#include "core/runs/hang.h"
#include "core/runs/run_file.h"

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace pentamesh::test {

struct MadeJob {
    std::int64_t tp = 1, cp = 1, dp = 1, pp = 1;
    std::int64_t ep = 0;           // 0: no experts
    bool pipeline_inside = false;  // pp lies inside dp
    runs::FaultKind kind = runs::FaultKind::stopped;
    std::vector<std::int64_t> faulty{};  // none: the run is healthy
    std::size_t at = 0;                  // the call of its program at which a rank fails
    bool waits_each = false;             // Python waits for each call, as with blocking ones
    bool only_active = true, timed = false, hashed = false, pickle = false;
    unsigned seed = 1;
};

class MadeHang {
  public:
    explicit MadeHang(MadeJob job);
    [[nodiscard]] std::int64_t world() const { return job_.tp * job_.cp * job_.dp * job_.pp; }
    // Returns the description of the group that the rank's call has in its program.
    [[nodiscard]] const std::string& group_of_call(std::int64_t rank, std::size_t call) const;
    // Returns the text of a rank's dump.
    [[nodiscard]] std::string dump(std::int64_t rank) const;
    [[nodiscard]] bool has_dump(std::int64_t rank) const;
    // Reads all dumps, as a folder is read.
    [[nodiscard]] runs::DumpFolder read() const;

  private:
    struct Group {
        std::string description;
        std::vector<std::int64_t> ranks;
    };
    struct Call {
        int group = 0;
        std::string name;
        std::int64_t number = 0;            // the same on all ranks of a call
        std::int64_t peer = -1, from = -1;  // sends: the group's rank, and the own one
        std::int64_t in = 0, out = 0;       // elements
        std::int64_t sequence = 0, p2p = 0;
    };
    [[nodiscard]] bool faulty(std::int64_t rank) const;
    void make_groups();
    void add_axis(const std::string& description, std::int64_t size, std::int64_t stride);
    void write_programs();
    [[nodiscard]] std::int64_t first_number(int group) const;
    void number_calls();
    void run();
    [[nodiscard]] bool shown_open(std::int64_t rank, std::size_t call) const;
    [[nodiscard]] std::string group_name(int group) const;

    MadeJob job_;
    std::vector<Group> groups_;
    std::vector<std::map<std::string, int>> group_of_;  // by rank
    std::vector<std::vector<Call>> program_;            // by rank
    std::vector<std::size_t> issued_, done_;            // calls, by rank
};

// Returns the ranks that are named, by rank.
[[nodiscard]] std::vector<std::int64_t> blamed(const runs::Hang& hang);

// Returns a JSON text of plain values as a pickle of protocol 2.
[[nodiscard]] std::string pickle_of(const std::string& json);

}  // namespace pentamesh::test
