#include "tests/core/made_hang.h"

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>

namespace pentamesh::test {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMicrobatches = 3;

void put_little(std::string& out, std::uint64_t n, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(n >> 8U * static_cast<unsigned>(i) & 0xFFU);
}

// Writes values as torch's C++ pickler does: containers and texts are kept, repeated texts fetched.
class Pickler {
  public:
    std::string out = "\x80\x02";

    void write(const Json& v) {
        if (v.is_object()) return dict(v);
        if (v.is_array()) return list(v);
        if (v.is_string()) return text(v.get<std::string>());
        if (v.is_null()) out += 'N';
        if (v.is_boolean()) out += v.get<bool>() ? '\x88' : '\x89';
        if (v.is_number_float()) real(v.get<double>());
        if (v.is_number_integer()) whole(v.get<std::int64_t>());
    }

  private:
    void keep() {
        out += kept_ < 256 ? 'q' : 'r';
        put_little(out, kept_, kept_ < 256 ? 1 : 4);
        ++kept_;
    }
    void dict(const Json& v) {
        out += '}';
        keep();
        out += '(';
        for (const auto& [key, value] : v.items()) text(key), write(value);
        out += 'u';
    }
    void list(const Json& v) {
        out += ']';
        keep();
        out += '(';
        for (const Json& item : v) write(item);
        out += 'e';
    }
    void text(const std::string& s) {
        if (const auto at = texts_.find(s); at != texts_.end()) {
            out += at->second < 256 ? 'h' : 'j';
            return put_little(out, at->second, at->second < 256 ? 1 : 4);
        }
        out += 'X';
        put_little(out, s.size(), 4);
        out += s;
        texts_[s] = kept_;
        keep();
    }
    void real(double x) {
        std::uint64_t bits = 0;
        static_assert(sizeof bits == sizeof x);
        std::copy_n(reinterpret_cast<const char*>(&x), sizeof x, reinterpret_cast<char*>(&bits));
        out += 'G';
        for (int i = 7; i >= 0; --i) out += static_cast<char>(bits >> 8U * static_cast<unsigned>(i) & 0xFFU);
    }
    void whole(std::int64_t n) {
        if (n >= 0 && n < 256) {
            out += 'K';
            put_little(out, static_cast<std::uint64_t>(n), 1);
        } else if (n >= -2147483648LL && n <= 2147483647LL) {
            out += 'J';
            put_little(out, static_cast<std::uint64_t>(n), 4);
        } else {
            out += '\x8a';
            put_little(out, 8, 1);
            put_little(out, static_cast<std::uint64_t>(n), 8);
        }
    }
    std::uint64_t kept_ = 0;
    std::map<std::string, std::uint64_t> texts_;
};

std::string ranks_text(const std::vector<std::int64_t>& ranks) {
    std::string out = "[";
    for (const std::int64_t r : ranks) out += (out.size() > 1 ? ", " : "") + std::to_string(r);
    return out + "]";
}

}  // namespace

std::vector<std::int64_t> blamed(const runs::Hang& hang) {
    std::vector<std::int64_t> out;
    for (const runs::Culprit& c : hang.culprits) out.push_back(c.rank);
    return out;
}

std::string pickle_of(const std::string& json) {
    Pickler p;
    p.write(Json::parse(json));
    return p.out + '.';
}

MadeHang::MadeHang(MadeJob job) : job_(std::move(job)) {
    make_groups();
    write_programs();
    number_calls();
    run();
}

bool MadeHang::faulty(std::int64_t rank) const {
    return std::find(job_.faulty.begin(), job_.faulty.end(), rank) != job_.faulty.end();
}

const std::string& MadeHang::group_of_call(std::int64_t rank, std::size_t call) const {
    const auto group = program_[static_cast<std::size_t>(rank)][call].group;
    return groups_[static_cast<std::size_t>(group)].description;
}

bool MadeHang::has_dump(std::int64_t rank) const {
    return job_.kind != runs::FaultKind::dead || !faulty(rank);
}

void MadeHang::add_axis(const std::string& description, std::int64_t size, std::int64_t stride) {
    if (size < 2) return;
    for (std::int64_t r = 0; r < world(); ++r) {
        if (r / stride % size != 0) continue;
        Group g{description, {}};
        for (std::int64_t i = 0; i < size; ++i) {
            g.ranks.push_back(r + i * stride);
            group_of_[static_cast<std::size_t>(g.ranks.back())][description] =
                static_cast<int>(groups_.size());
        }
        groups_.push_back(std::move(g));
    }
}

void MadeHang::make_groups() {
    group_of_.resize(static_cast<std::size_t>(world()));
    add_axis("default_pg", world(), 1);
    const std::int64_t inner = job_.tp * job_.cp;
    const std::int64_t pp_stride = job_.pipeline_inside ? inner : inner * job_.dp;
    add_axis("TENSOR_MODEL_PARALLEL_GROUP", job_.tp, 1);
    add_axis("CONTEXT_PARALLEL_GROUP", job_.cp, job_.tp);
    add_axis("PIPELINE_MODEL_PARALLEL_GROUP", job_.pp, pp_stride);
    if (!job_.pipeline_inside)
        add_axis("DATA_PARALLEL_GROUP_WITH_CP", job_.cp * job_.dp, job_.tp);
    else
        add_axis("DATA_PARALLEL_GROUP", job_.dp, inner * job_.pp);
    if (job_.ep == 0) return;
    const std::int64_t edp = world() / job_.pp / job_.ep;
    add_axis("EXPERT_MODEL_PARALLEL_GROUP", job_.ep, 1);
    add_axis("EXPERT_DATA_PARALLEL_GROUP", edp, job_.pipeline_inside ? job_.ep * job_.pp : job_.ep);
}

void MadeHang::write_programs() {
    program_.resize(static_cast<std::size_t>(world()));
    const std::int64_t inner = job_.tp * job_.cp;
    const std::int64_t pp_stride = job_.pipeline_inside ? inner : inner * job_.dp;
    for (std::int64_t r = 0; r < world(); ++r) {
        auto& program = program_[static_cast<std::size_t>(r)];
        const auto& groups = group_of_[static_cast<std::size_t>(r)];
        const auto call = [&](const std::string& group, const std::string& name, std::int64_t in,
                              std::int64_t out) {
            if (const auto at = groups.find(group); at != groups.end())
                program.push_back({.group = at->second, .name = name, .in = in, .out = out});
        };
        const std::int64_t stage = r / pp_stride % job_.pp;
        const auto send = [&](bool sends, std::int64_t peer) {
            if (peer < 0 || peer >= job_.pp) return;
            program.push_back({.group = groups.at("PIPELINE_MODEL_PARALLEL_GROUP"),
                               .name = sends ? "send" : "recv",
                               .peer = peer,
                               .from = stage,
                               .in = 64,
                               .out = 64});
        };
        const auto layer = [&] {
            call("TENSOR_MODEL_PARALLEL_GROUP", "_all_gather_base", 64, 64 * job_.tp);
            call("CONTEXT_PARALLEL_GROUP", "_all_gather_base", 32, 32 * job_.cp);
            call("EXPERT_MODEL_PARALLEL_GROUP", "all_to_all", 100 + r, 90 + r);
            call("EXPERT_MODEL_PARALLEL_GROUP", "all_to_all", 90 + r, 100 + r);
            call("TENSOR_MODEL_PARALLEL_GROUP", "_reduce_scatter_base", 64 * job_.tp, 64);
        };
        for (std::int64_t m = 0; m < kMicrobatches; ++m)
            send(false, stage - 1), layer(), send(true, stage + 1);
        for (std::int64_t m = 0; m < kMicrobatches; ++m)
            send(false, stage + 1 < job_.pp ? stage + 1 : -1), layer(), send(true, stage - 1);
        call("DATA_PARALLEL_GROUP_WITH_CP", "_reduce_scatter_base", 4096, 4096 / job_.dp);
        call("DATA_PARALLEL_GROUP", "_reduce_scatter_base", 4096, 4096 / job_.dp);
        call("EXPERT_DATA_PARALLEL_GROUP", "_reduce_scatter_base", 512, 128);
        call("default_pg", "all_reduce", 1, 1);
    }
}

// Groups of the same description have been called equally often.
std::int64_t MadeHang::first_number(int group) const {
    constexpr std::int64_t kEarlier = 1000;
    return kEarlier * static_cast<std::int64_t>(groups_[static_cast<std::size_t>(group)].description.size());
}

void MadeHang::number_calls() {
    for (std::int64_t r = 0; r < world(); ++r) {
        std::map<int, std::int64_t> collectives, sends;
        auto& program = program_[static_cast<std::size_t>(r)];
        for (Call& c : program) {
            const bool p2p = c.peer >= 0;
            const std::int64_t first = first_number(c.group);
            if (p2p)
                c.p2p = first + ++sends[c.group];
            else
                c.sequence = first + ++collectives[c.group];
        }
        if (!faulty(r)) continue;
        job_.at = std::min(job_.at, program.size() - 1);
        const bool other = job_.kind == runs::FaultKind::mismatch, size = job_.kind == runs::FaultKind::size;
        while ((other || size) && (program[job_.at].peer >= 0 || program[job_.at].name == "all_to_all"))
            job_.at = (job_.at + 1) % program.size();
        Call& c = program[job_.at];
        if (other) c.name = c.name == "all_reduce" ? "broadcast" : "all_reduce";
        if (size) c.in += 7;
    }
}

void MadeHang::run() {
    const auto size = [](auto n) { return static_cast<std::size_t>(n); };
    const bool cut = job_.kind == runs::FaultKind::stopped || job_.kind == runs::FaultKind::dead
                     || job_.kind == runs::FaultKind::gpu;
    std::vector<std::size_t> end(size(world()));
    for (std::int64_t r = 0; r < world(); ++r)
        end[size(r)] = cut && faulty(r) ? job_.at : program_[size(r)].size();
    done_.assign(size(world()), 0);
    const auto head = [&](std::int64_t r) -> const Call* {
        return done_[size(r)] < end[size(r)] ? &program_[size(r)][done_[size(r)]] : nullptr;
    };
    const auto meets = [&](const Call& c, std::int64_t other) {
        const Call* o = head(other);
        if (!o || o->group != c.group) return false;
        if (c.peer >= 0) return o->peer == c.from && o->from == c.peer && o->name != c.name;
        return o->peer < 0 && o->sequence == c.sequence && o->name == c.name
               && (o->in == c.in || c.name == "all_to_all");
    };
    for (bool moved = true; moved;) {
        moved = false;
        for (std::int64_t r = 0; r < world(); ++r) {
            const Call* c = head(r);
            if (!c) continue;
            const auto& ranks = groups_[size(c->group)].ranks;
            const std::vector<std::int64_t> pair{r, c->peer >= 0 ? ranks[size(c->peer)] : r};
            const std::vector<std::int64_t>& members = c->peer >= 0 ? pair : ranks;
            if (!std::all_of(members.begin(), members.end(),
                             [&](std::int64_t m) { return m == r || meets(*c, m); }))
                continue;
            for (const std::int64_t m : members) ++done_[size(m)];
            moved = true;
        }
    }
    issued_ = end;
    if (job_.waits_each)
        for (std::size_t r = 0; r < issued_.size(); ++r) issued_[r] = std::min(end[r], done_[r] + 1);
}

// A GPU that no longer reports shows what it last ran as open.
bool MadeHang::shown_open(std::int64_t rank, std::size_t call) const {
    constexpr std::size_t kNotReported = 8;
    if (job_.kind == runs::FaultKind::gpu && faulty(rank)) return call + kNotReported >= job_.at;
    return call >= done_[static_cast<std::size_t>(rank)];
}

std::string MadeHang::group_name(int group) const {
    if (!job_.hashed) return std::to_string(group * 3 + (group > 0 ? 20 : 0));
    const Group& g = groups_[static_cast<std::size_t>(group)];
    return "h" + std::to_string(std::hash<std::string>{}(g.description + ranks_text(g.ranks)));
}

std::string MadeHang::dump(std::int64_t rank) const {
    const auto r = static_cast<std::size_t>(rank);
    Json out{{"version", "2.7"},
             {"nccl_version", "2.27.3"},
             {"pg_config", Json::object()},
             {"pg_status", Json::object()},
             {"entries", Json::array()}};
    std::map<int, int> local;
    std::map<int, std::pair<std::int64_t, std::int64_t>> last;
    for (const auto& [description, g] : group_of_[r]) {
        const Group& group = groups_[static_cast<std::size_t>(g)];
        out["pg_config"][group_name(g)] = {
            {"name", group_name(g)}, {"desc", description}, {"ranks", ranks_text(group.ranks)}};
        local[g] = 0;
        last[g] = {first_number(g), first_number(g)};
    }
    int number = 0;
    for (auto& [g, n] : local) n = number, number += 1 + g % 2;
    std::mt19937 random(job_.seed * 7919 + static_cast<unsigned>(rank));
    for (std::size_t i = 0; i < issued_[r]; ++i) {
        const Call& c = program_[r][i];
        const bool open = shown_open(rank, i), p2p = c.peer >= 0;
        auto& [enqueued, completed] = last[c.group];
        enqueued = std::max(enqueued, p2p ? c.p2p : c.sequence);
        if (!open) completed = enqueued;
        if (!open && job_.only_active) continue;
        std::string name = "nccl:" + c.name;
        if (p2p)
            name += " " + std::to_string(c.from) + (c.name == "send" ? "->" : "<-") + std::to_string(c.peer);
        const auto now = 1'770'000'000'000'000'000 + static_cast<std::int64_t>(i) * 20'000'000;
        Json e{
            {"record_id", i + 100},
            {"pg_id", local[c.group]},
            {"process_group", {group_name(c.group), groups_[static_cast<std::size_t>(c.group)].description}},
            {"collective_seq_id", c.sequence},
            {"p2p_seq_id", c.p2p},
            {"op_id", c.sequence + c.p2p},
            {"profiling_name", name},
            {"input_sizes", Json::array({Json::array({c.in, 1})})},
            {"output_sizes", Json::array({Json::array({c.out})})},
            {"input_dtypes", Json::array({"BFloat16"})},
            {"output_dtypes", Json::array({"BFloat16"})},
            {"state", open ? "scheduled" : "completed"},
            {"time_created_ns", now},
            {"time_discovered_started_ns", nullptr},
            {"time_discovered_completed_ns", open ? Json(nullptr) : Json(now + 15'000'000)},
            {"retired", !open},
            {"timeout_ms", 600000},
            {"is_p2p", p2p}};
        if (job_.timed && !open) {
            const bool slow = job_.kind == runs::FaultKind::slow && faulty(rank);
            e["duration_ms"] = (slow ? 2.0 : 6.0) + std::uniform_real_distribution<>(0, 0.1)(random);
        }
        out["entries"].push_back(std::move(e));
    }
    for (const auto& [g, n] : local)
        out["pg_status"][std::to_string(n)] = {{"last_enqueued_collective", last[g].first},
                                               {"last_started_collective", -1},
                                               {"last_completed_collective", last[g].second}};
    return job_.pickle ? pickle_of(out.dump()) : out.dump();
}

runs::DumpFolder MadeHang::read() const {
    runs::DumpFolder out;
    runs::Values values;
    std::string unpacked;
    for (std::int64_t r = 0; r < world(); ++r) {
        if (!has_dump(r)) continue;
        const std::string bytes = dump(r);
        out.dumps.push_back(runs::read_dump_bytes(bytes, *out.names, values, unpacked));
        out.dumps.back().rank = r;
    }
    return out;
}

}  // namespace pentamesh::test
