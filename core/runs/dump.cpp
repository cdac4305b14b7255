#include "core/runs/dump.h"

#include "core/base/number.h"
#include "core/base/text.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <tuple>

namespace pentamesh::runs {
namespace {

constexpr std::int64_t kMostSequence = std::int64_t{1} << 53;
// A pickle can name one list any number of times: what is looked at is counted, not what is kept.
constexpr std::size_t kMostLookedAt = std::size_t{1} << 28U;
constexpr std::size_t kMostEntries = 1'000'000, kMostName = 4096;
constexpr double kMostMilliseconds = 1e9;  // eleven days: a longer call is no figure

// Returns a number, also one in a text, as JSON dumps hold some.
std::optional<std::int64_t> whole_of(const Value* v) {
    if (!v) return std::nullopt;
    if (v->kind == ValueKind::whole) return v->whole;
    return parse_whole(v->view());
}

std::optional<std::int64_t> sequence_of(const Value* v) {
    const std::optional<std::int64_t> n = whole_of(v);
    return n && *n >= 0 && *n <= kMostSequence ? n : std::nullopt;
}

// Reads one dump. The rank's groups are found by the names that its own entries use.
class DumpReader {
  public:
    DumpReader(const Values& values, RunNames& names) : values_(values), names_(names) {}

    Dump read() {
        read_version();
        read_groups();
        if (const Value* entries = values_.find(values_.root, "entries")) {
            const auto items = values_.items(*entries);
            if (items.size() > kMostEntries)
                refuse("more than " + with_commas(kMostEntries) + " entries, the most that are read");
            out_.entries.reserve(items.size());
            for (const Value& e : items) read_entry(e);
        }
        std::stable_sort(out_.entries.begin(), out_.entries.end(),
                         [](const DumpEntry& a, const DumpEntry& b) { return a.record < b.record; });
        close_coalesced();
        match_status();
        close_finished();
        look_at_oldest();
        if (last_ns_ > first_ns_) out_.span_ms = static_cast<double>(last_ns_ - first_ns_) / 1e6;
        return std::move(out_);
    }

  private:
    void read_version() {
        const Value* version = values_.find(values_.root, "version");
        if (!version || version->kind != ValueKind::text
            || (!values_.find(values_.root, "pg_config") && !values_.find(values_.root, "entries")))
            refuse("no dump of a flight recorder: \"version\" and \"pg_config\" are missing");
        out_.version = std::string(version->view().substr(0, 16));
        if (!out_.version.starts_with("2."))
            refuse("a dump of version " + out_.version + "; versions 2.x are read");
    }

    // A name that is a number comes in the order of the numbers.
    struct Named {
        std::int64_t number = -1;
        std::string_view name;
        const Value* config = nullptr;
        bool operator<(const Named& other) const {
            return std::tie(number, name) < std::tie(other.number, other.name);
        }
    };
    void read_groups() {
        const Value* config = values_.find(values_.root, "pg_config");
        if (!config || config->kind != ValueKind::dict) return;
        std::vector<Named> named;
        const auto all = values_.items(*config);
        for (std::size_t i = 0; i + 1 < all.size(); i += 2)
            named.push_back({whole_of(&all[i]).value_or(-1), all[i].view(), &all[i + 1]});
        std::sort(named.begin(), named.end());
        std::map<int, int> twins;
        for (const Named& n : named) {
            look_at(*n.config);
            const Value* desc = values_.find(*n.config, "desc");
            const Value* ranks = values_.find(*n.config, "ranks");
            const std::string_view described = desc ? desc->view().substr(0, kMostName) : std::string_view();
            look_at(described.size() + (ranks ? ranks->view().size() : 0));
            int group = ranks ? names_.group(described, ranks->view(), 0) : -1;
            if (group >= 0)
                if (const int twin = twins[group]++; twin > 0)
                    group = names_.group(described, ranks->view(), twin);
            if (group < 0) {
                ++out_.passed_over;
                continue;
            }
            group_of_name_.emplace(n.name, group);
            out_.groups.push_back(group);
        }
    }

    int type_of(const Value* types) {
        if (!types) return -1;
        const auto all = values_.items(*types);
        return all.empty() ? -1 : names_.number_of(all.front().view().substr(0, kMostName));
    }

    // The numbers are ranks within the group: "send 0->3", "recv 0<-3".
    void read_peer(DumpEntry& e, std::string_view what) const {
        e.sends = what.starts_with("send");
        const std::size_t arrow = what.find(e.sends ? "->" : "<-");
        if (arrow == std::string_view::npos || e.group < 0) return;
        std::int64_t n = -1;
        std::from_chars(what.data() + arrow + 2, what.data() + what.size(), n);
        e.peer = names_.member(e.group, n);
    }

    // Returns how many elements the tensors of a list of shapes have, up to a limit.
    std::int64_t elements_of(const Value* shapes) {
        if (!shapes) return 0;
        double sum = 0;
        for (const Value& shape : values_.items(*shapes)) {
            const auto sizes = values_.items(shape);
            look_at(sizes.size() + 1);
            double product = 1;
            for (const Value& n : sizes)
                product *= static_cast<double>(std::max<std::int64_t>(whole_of(&n).value_or(0), 0));
            sum += product;
        }
        return sum < static_cast<double>(kMostSequence) ? static_cast<std::int64_t>(sum) : kMostSequence;
    }

    void read_entry(const Value& v) {
        DumpEntry e;
        look_at(v);
        const auto record = whole_of(values_.find(v, "record_id"));
        const auto sequence = sequence_of(values_.find(v, "collective_seq_id"));
        const Value* group = values_.find(v, "process_group");
        const Value* name = values_.find(v, "profiling_name");
        if (!record || !sequence || !group || !name) return pass_over();
        const auto pair = values_.items(*group);
        const auto found = pair.empty() ? group_of_name_.end() : group_of_name_.find(pair.front().view());
        if (found == group_of_name_.end()) return pass_over();
        e.group = found->second, e.record = *record, e.sequence = *sequence;
        e.p2p_sequence = sequence_of(values_.find(v, "p2p_seq_id")).value_or(0);
        const Value* p2p = values_.find(v, "is_p2p");
        e.p2p = p2p && p2p->kind == ValueKind::flag && p2p->whole != 0;
        const Value* duration = values_.find(v, "duration_ms");
        if (duration && duration->kind != ValueKind::null) {
            const double ms = duration->kind == ValueKind::real    ? duration->real
                              : duration->kind == ValueKind::whole ? static_cast<double>(duration->whole)
                                                                   : -1;
            if (!(ms >= 0 && ms <= kMostMilliseconds)) return pass_over();
            e.duration_ms = static_cast<float>(ms);
        }
        std::string_view what = name->view();
        what.remove_prefix(what.find(':') == std::string_view::npos ? 0 : what.find(':') + 1);
        e.coalesced = what.find("coalesced") != std::string_view::npos;
        if (e.p2p) read_peer(e, what);
        if (e.p2p && !e.coalesced) what = e.sends ? "send" : "recv";
        e.collective = names_.number_of(what.substr(0, 128));
        e.numbers_in = elements_of(values_.find(v, "input_sizes"));
        e.numbers_out = elements_of(values_.find(v, "output_sizes"));
        e.type_in = type_of(values_.find(v, "input_dtypes"));
        e.type_out = type_of(values_.find(v, "output_dtypes"));
        const Value* state = values_.find(v, "state");
        e.open = !state || state->view() != "completed";
        read_times(v);
        if (const auto local = whole_of(values_.find(v, "pg_id"))) local_.emplace(*local, e.group);
        out_.entries.push_back(e);
    }

    void read_times(const Value& v) {
        const std::int64_t from = whole_of(values_.find(v, "time_created_ns")).value_or(0);
        const std::int64_t to = whole_of(values_.find(v, "time_discovered_completed_ns")).value_or(0);
        if (from > 0) first_ns_ = std::min(first_ns_, from);
        last_ns_ = std::max({last_ns_, from, to});
    }

    void pass_over() { ++out_.passed_over; }
    void look_at(std::size_t size) {
        if ((looked_at_ += size) > kMostLookedAt) refuse("its entries name the same long values too often");
    }
    void look_at(const Value& dict) {
        constexpr std::size_t kKeysOfAnEntry = 16;
        look_at(values_.items(dict).size() * kKeysOfAnEntry);
    }

    // PyTorch leaves the single calls of a coalesced batch open for good; the entry of the batch, which comes
    // after them with the same numbers, says when they end.
    void close_coalesced() {
        const auto key = [](const DumpEntry& e) {
            return std::tuple(e.group, e.p2p, e.p2p ? e.p2p_sequence : e.sequence);
        };
        std::map<std::tuple<int, bool, std::int64_t>, bool> open;
        for (const DumpEntry& e : out_.entries)
            if (e.coalesced) open[key(e)] = e.open;
        for (DumpEntry& e : out_.entries) {
            const auto batch = e.coalesced ? open.end() : open.find(key(e));
            if (batch != open.end() && !batch->second) e.open = false;
        }
    }

    void look_at_oldest() {
        // The first entry of a full ring is not the first call; one that is open may not be the first open.
        if (!out_.entries.empty() && out_.entries.front().record > 0)
            out_.oldest_open = out_.entries.front().open
                               && std::any_of(out_.entries.begin(), out_.entries.end(),
                                              [](const DumpEntry& e) { return !e.open; });
    }

    // pg_status knows groups by a local number only. Names that are numbers rise as the local numbers do.
    void match_status() {
        const Value* status = values_.find(values_.root, "pg_status");
        if (!status || status->kind != ValueKind::dict) return;
        std::map<std::int64_t, GroupStatus> by_local;
        const auto all = values_.items(*status);
        for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
            const auto local = whole_of(&all[i]);
            if (!local) continue;
            GroupStatus s;
            s.enqueued = sequence_of(values_.find(all[i + 1], "last_enqueued_collective")).value_or(-1);
            s.completed = sequence_of(values_.find(all[i + 1], "last_completed_collective")).value_or(-1);
            by_local[*local] = s;
        }
        std::map<std::int64_t, int> by_name;
        for (const auto& [name, group] : group_of_name_) {
            Value text = Values::text_in_place(name);
            const auto n = whole_of(&text);
            if (n) by_name[*n] = group;
        }
        bool fits = by_name.size() == by_local.size() && by_name.size() == group_of_name_.size();
        if (fits) {
            auto name = by_name.begin();
            for (auto& [local, s] : by_local) {
                s.group = (name++)->second;
                const auto known = local_.find(local);
                if (known != local_.end() && known->second != s.group) fits = false;
            }
        }
        for (auto& [local, s] : by_local) {
            const auto known = local_.find(local);
            if (!fits) s.group = known == local_.end() ? -1 : known->second;
            if (s.group >= 0) out_.status.push_back(s);
        }
    }

    // A batch that has ended leaves only its single calls in a dump of what is active. Collectives of a
    // group end in their order; sends do not.
    void close_finished() {
        std::map<int, std::int64_t> last;
        for (const DumpEntry& e : out_.entries)
            if (!e.p2p) last[e.group] = std::max(last[e.group], e.sequence);
        std::map<int, std::int64_t> completed;
        for (const GroupStatus& s : out_.status)
            if (const auto at = last.find(s.group); at != last.end() && at->second == s.enqueued)
                completed[s.group] = s.completed;
        for (DumpEntry& e : out_.entries) {
            const auto at = e.p2p ? completed.end() : completed.find(e.group);
            if (at != completed.end() && e.sequence <= at->second) e.open = false;
        }
    }

    const Values& values_;
    RunNames& names_;
    Dump out_;
    std::map<std::string_view, int> group_of_name_;
    std::map<std::int64_t, int> local_;  // local number -> group, as entries say
    std::size_t looked_at_ = 0;
    std::int64_t first_ns_ = std::numeric_limits<std::int64_t>::max(), last_ns_ = 0;
};

}  // namespace

Dump read_dump(const Values& values, RunNames& names) {
    return DumpReader(values, names).read();
}

}  // namespace pentamesh::runs
