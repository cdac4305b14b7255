// Unpacks gzip in a stream, up to a limit.
#pragma once

#include "core/base/containers.h"
#include "core/plan/names.h"
#include "core/runs/dump.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <istream>
#include <memory>
#include <optional>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

namespace pentamesh::runs {

// False in a build without PENTAMESH_RUNS: it knows a file of a run when it sees one, and reads none.
inline constexpr bool kReadsRuns = PENTAMESH_RUNS != 0;
// Throws Error (invalid) in such a build.
void refuse_without_runs();

[[nodiscard]] bool is_gzip(std::string_view bytes);
// Throws Error (invalid) for a damaged or cut-off file, and for one that holds more than `most` bytes, or far
// more than any text is packed.
void unpack_gzip(std::string_view bytes, std::size_t most, std::string& out);

class Unpacker;

// Gives a file's bytes a block at a time, unpacked where they are gzip: the file is never held whole. A read
// throws Error (invalid) for a damaged or cut-off file, and where a reader takes more than 64 MiB between two
// marks, as for a text without an end.
class UnpackedBytes : public std::streambuf {
  public:
    explicit UnpackedBytes(std::istream& from);
    ~UnpackedBytes() override;
    // Notes that what was read so far is done with.
    void mark() { since_mark_ = 0; }
    // Gives the bytes again that the next read returns, without taking them.
    [[nodiscard]] std::string_view peek();

  protected:
    int_type underflow() override;

  private:
    [[nodiscard]] std::string_view next_packed();
    std::istream& from_;
    std::vector<char> packed_, block_;
    std::unique_ptr<Unpacker> unpacker_;
    std::uint64_t since_mark_ = 0;
    bool begun_ = false;
};

// Another thread sees here how far the reading of a run's files is, and ends it.

struct ReadWatch {
    std::atomic<std::uint64_t> bytes = 0;      // that were read
    std::atomic<std::uint64_t> all_bytes = 0;  // that there are to read; 0: not known yet
    std::atomic<bool> cancelled = false;       // a file then ends here
};

// Throws Error (invalid) where nobody waits for the files any more. `watch` may be null.
void end_if_cancelled(const ReadWatch* watch);

// Holds what one file of a run that goes on says: a trace, a log, or a list of collectives. There is one
// reader a kind.

class UnpackedBytes;

enum class RunFileKind : std::uint8_t { kineto, megatron_log, torchtitan_log, nccl_inspector, deepspeed_log };

// Names the parts of a step. A trace has those to `idle`, a log of Megatron compute, optimizer, dp, pipeline
// and rest. `dp`: all groups over which replicas talk; `unnamed`: of groups whose axis is not known.
enum class RunPart : std::uint8_t {
    compute,
    optimizer,
    tp,
    cp,
    ep,
    pp,
    dp,
    unnamed,
    memory,
    idle,
    pipeline,
    rest
};

[[nodiscard]] constexpr std::array<std::string_view, 5> names_of_enum(RunFileKind) {
    return {"kineto", "megatron-log", "torchtitan-log", "nccl-inspector", "deepspeed-log"};
}
[[nodiscard]] constexpr std::array<std::string_view, 12> names_of_enum(RunPart) {
    return {"compute", "optimizer", "tp",     "cp",   "ep",       "pp",
            "dp",      "unnamed",   "memory", "idle", "pipeline", "rest"};
}
[[nodiscard]] constexpr std::size_t count_of_enum(RunPart) {
    return 12;
}

struct PartTime {
    double measured_s = 0;  // of a step; of an axis only while nothing is computed
    double total_s = 0;     // the same with what is hidden
};

// It is a group as a trace or an Inspector names it. Ranks are empty where they are not known.
struct RunGroup {
    std::string name;
    std::int64_t size = 0;
    std::vector<std::int64_t> ranks;  // all, or the first ones
    std::string own_name;             // of the process group or communicator: the same on all of its ranks
    bool operator==(const RunGroup&) const = default;
};

// Holds the calls of one collective of one size in one group, in their order on this rank.
struct RunCalls {
    int group = -1;          // of RunFile::groups
    std::string collective;  // "AllGather"
    std::int64_t bytes = 0;  // as the file states them
    double buffer = 0;       // the whole buffer on a rank
    std::vector<float> seconds;
    std::vector<std::int64_t> numbers;  // of the calls; empty: they are matched by their order
};

// It is a time of one step that belongs to one part, from the step's begin.
struct PartSpan {
    double begin_s = 0, end_s = 0;
    RunPart part = RunPart::idle;
};

struct RunFile {
    std::string file;
    RunFileKind kind = RunFileKind::kineto;
    std::int64_t rank = -1, world = -1;  // -1: not known
    std::size_t steps = 0;
    bool warm_up = false;  // its only step is the first of the job: it compiles, allocates and connects
    double step_s = 0;     // 0: not known
    double tokens_per_s_per_gpu = 0;  // 0: the file has seconds instead
    double samples_per_s = 0;         // sequences of the whole job; 0: the file has another figure
    double peak_bytes = 0;            // most that a rank allocated (torch's allocator); 0: it does not say
    std::int64_t global_batch = 0;    // 0: it does not say
    EnumArray<RunPart, std::optional<PartTime>> parts;
    std::vector<PartSpan> spans;  // of a trace's first step, without those that are idle; at most 65,536
    std::vector<RunGroup> groups;
    std::vector<RunCalls> calls;
    std::vector<std::string> warnings;
};

// Finds the part of a step to which a group's calls belong.
using PartOfGroup =
    std::function<RunPart(const RunGroup& group, std::string_view collective, const RunFile& file)>;

// Reads a file of any of these kinds, plain or gzip, by its content. Throws Error (io) where it cannot be
// read, invalid with the reason where it is of another kind; of settings it says what they are.
[[nodiscard]] RunFile read_run_file(const std::filesystem::path& path, const PartOfGroup& part_of,
                                    ReadWatch* watch = nullptr);
// Does the same with a file that was read: from standard input.
[[nodiscard]] RunFile read_run_text(const std::string& text, const std::string& name,
                                    const PartOfGroup& part_of);
[[nodiscard]] RunFile read_run_stream(std::istream& in, const std::string& name, const PartOfGroup& part_of);

// Says by its begin, packed or not, of which kind a file is; nullopt for logs, which have no such sign, and
// all else. Never throws.
[[nodiscard]] std::optional<RunFileKind> run_file_kind(std::string_view begin);
// Says what a file of a run is that is given where settings are expected, and which command reads it; empty
// for all else, and for a log, which may say its settings. Never throws.
[[nodiscard]] std::string run_file_words(std::string_view text);
// Returns the begin of a text, unpacked where it is gzip; empty where it is damaged.
[[nodiscard]] std::string unpacked_begin(std::string_view text);

// ---- the readers, one a kind: run_file.cpp, chrome_events.cpp, inspector.cpp ----

// Reads a log of Megatron, torchtitan or DeepSpeed. It has 0 steps where it says nothing of them.
[[nodiscard]] RunFile read_run_log(UnpackedBytes& bytes);
[[nodiscard]] RunFile read_run_log(const std::string& text);
[[nodiscard]] RunFile read_kineto(UnpackedBytes& bytes, const PartOfGroup& part_of);
[[nodiscard]] RunFile read_inspector(UnpackedBytes& bytes);

// Finds and reads the dumps of a run: one file a rank, on all cores.

struct PassedOverFile {
    std::string file, why;
    std::int64_t rank = -1;  // by its name; -1: it has none
};

struct DumpFolder {
    std::vector<Dump> dumps;  // by rank
    std::vector<PassedOverFile> unreadable;
    std::vector<std::string> versions;  // that were met
    std::shared_ptr<RunNames> names = std::make_shared<RunNames>();
};

// `place` is a folder, a file, or what the names of several files begin with. Throws Error (io) where there
// is no such place, invalid where the reading was cancelled.
[[nodiscard]] DumpFolder read_dump_folder(const std::filesystem::path& place, ReadWatch* watch = nullptr);

// Returns the rank at the end of a file's name, before endings such as .json and .gz; -1: it has none.
[[nodiscard]] std::int64_t rank_in_name(std::string_view name);

// Reads one file's bytes, packed or not. Throws Error (invalid).
[[nodiscard]] Dump read_dump_bytes(std::string_view bytes, RunNames& names, Values& values,
                                   std::string& unpacked);

// Returns true if a text is a dump by its begin or its keys. Never throws.
[[nodiscard]] bool is_dump_text(std::string_view text);

// Looks into the folder of a run. A file that cannot be read is passed over.

// Returns what a file begins with; empty where it cannot be read.
[[nodiscard]] std::string begin_of_file(const std::filesystem::path& path);
[[nodiscard]] bool is_dump_file(const std::filesystem::path& path);
// Returns the files that say that they are traces or Inspector files, by name; a log has no such sign. A
// folder with a dump is one of dumps: its other files, which may be thousands, are not looked into, and
// nothing is returned.
[[nodiscard]] std::vector<std::filesystem::path> run_files_in(const std::filesystem::path& folder,
                                                              const ReadWatch* watch = nullptr);

}  // namespace pentamesh::runs
