#include "core/runs/chrome_events.h"

#include "core/runs/dump.h"
#include "core/runs/gzip.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

namespace pentamesh::runs {
namespace {

constexpr double kMostUs = 1e17;  // of a clock: thousands of years

constexpr EnumArray<EventKey, std::string_view> kKeys{
    {"name", "step", "mb_id", "model_chunk", "Collective name", "In msg nelems", "Out msg nelems", "dtype",
     "Group size", "Process Group Name", "Process Group Description", "Process Group Ranks",
     "Global rank start", "Global rank stride"}};

enum class Field : std::uint8_t { none, name, category, phase, process, thread, begin, length };

Field field_called(std::string_view key) {
    constexpr std::array kNamesOf{std::pair{std::string_view("name"), Field::name},
                                  std::pair{std::string_view("cat"), Field::category},
                                  std::pair{std::string_view("ph"), Field::phase},
                                  std::pair{std::string_view("pid"), Field::process},
                                  std::pair{std::string_view("tid"), Field::thread},
                                  std::pair{std::string_view("ts"), Field::begin},
                                  std::pair{std::string_view("dur"), Field::length}};
    for (const auto& [name, field] : kNamesOf)
        if (key == name) return field;
    return Field::none;
}

std::int64_t whole_of(double x, std::int64_t most) {
    return x >= 0 && x <= static_cast<double>(most) && x == std::floor(x) ? static_cast<std::int64_t>(x) : -1;
}

// Receives a JSON text part by part. `level_` counts the containers that are open.
class EventReceiver {
  public:
    EventReceiver(UnpackedBytes& bytes, double least_us, const std::function<void(const ChromeEvent&)>& each,
                  ChromeTrace& out)
        : bytes_(bytes), least_us_(least_us), each_(each), out_(out) {}

    bool null() { return true; }
    bool boolean(bool) { return true; }
    bool number_integer(std::int64_t n) { return number(static_cast<double>(n)); }
    bool number_unsigned(std::uint64_t n) { return number(static_cast<double>(n)); }
    bool number_float(double x, const std::string&) { return number(x); }
    bool binary(std::vector<std::uint8_t>&) { return false; }

    bool string(std::string& text) {
        if (events_ > 0 && level_ == events_ + 1) {
            if (field_ == Field::name) event_.name.swap(text);
            if (field_ == Field::category) event_.category.swap(text);
            if (field_ == Field::phase) event_.phase = text.empty() ? ' ' : text.front();
        } else if (events_ > 0 && level_ == events_ + 2 && in_args_ && arg_) {
            EventValue& v = event_.args[*arg_];
            v.has = true, v.number = 0;
            v.text.swap(text);
        } else if (in_job_ && level_ == 4 && !out_.job.groups.empty()) {
            TraceGroup& g = out_.job.groups.back();
            constexpr std::size_t kMostLetters = 1000;
            if (key_ == "pg_name") g.name = text.substr(0, kMostLetters);
            if (key_ == "pg_desc") g.description = text.substr(0, kMostLetters);
        }
        return true;
    }
    bool key(std::string& text) {
        if (events_ > 0 && level_ == events_ + 1) {
            field_ = field_called(text);
            args_next_ = text == "args";
        } else if (events_ > 0 && level_ == events_ + 2) {
            arg_ = {};
            for (const EventKey k : all_of<EventKey>())
                if (in_args_ && kKeys[k] == text) arg_ = k;
        } else if (level_ == 1) {
            top_ = text;
        } else if (in_job_) {
            if (level_ == 2) job_key_ = text;
            key_ = text;
        }
        return true;
    }
    bool start_object(std::size_t) {
        open();
        if (events_ > 0 && level_ == events_ + 1) {
            event_.name.clear(), event_.category.clear();
            event_.phase = ' ', event_.process = event_.thread = -1;
            event_.begin_us = std::numeric_limits<double>::quiet_NaN();
            event_.length_us = 0;
            for (EventValue& v : event_.args) v.has = false;
            field_ = Field::none, args_next_ = false;
        } else if (events_ > 0 && level_ == events_ + 2) {
            in_args_ = args_next_;
        } else if (level_ == 2 && events_ == 0 && top_ == "distributedInfo") {
            in_job_ = true;
        } else if (in_job_ && level_ == 4 && job_key_ == "pg_config") {
            if (out_.job.groups.size() < kMostGroups) out_.job.groups.emplace_back();
        }
        return true;
    }
    bool end_object() {
        if (events_ > 0 && level_ == events_ + 1) finish_event();
        if (events_ > 0 && level_ == events_ + 2) in_args_ = false;
        if (level_ == 2) in_job_ = false;
        return close();
    }
    bool start_array(std::size_t) {
        open();
        if (events_ == 0 && (level_ == 1 || (level_ == 2 && top_ == "traceEvents"))) events_ = level_;
        return true;
    }
    bool end_array() {
        if (level_ == events_) events_ = 0, found_ = true;
        return close();
    }
    bool parse_error(std::size_t position, const std::string&, const std::exception&) {
        refuse(position == 0 ? "no valid JSON" : "no valid JSON at byte " + std::to_string(position));
    }
    [[nodiscard]] bool found() const { return found_; }

  private:
    static constexpr std::size_t kMostGroups = 10'000;

    void open() {
        if (++level_ > kMostValueLevels) refuse("more than 64 levels");
    }
    bool close() {
        --level_;
        bytes_.mark();
        return true;
    }
    bool number(double x) {
        if (events_ > 0 && level_ == events_ + 1) {
            if (field_ == Field::begin) event_.begin_us = x;
            if (field_ == Field::length) event_.length_us = x;
            if (field_ == Field::process) event_.process = whole_of(x, kMostRank);
            if (field_ == Field::thread) event_.thread = whole_of(x, std::int64_t{1} << 50);
        } else if (events_ > 0 && level_ == events_ + 2 && in_args_ && arg_) {
            EventValue& v = event_.args[*arg_];
            v.has = true, v.number = x;
            v.text.clear();
        } else if (in_job_) {
            job_number(x);
        }
        return true;
    }
    void job_number(double x) {
        if (level_ == 2 && key_ == "rank") out_.job.rank = whole_of(x, kMostRank);
        if (level_ == 2 && key_ == "world_size") out_.job.world = whole_of(x, kMostRank + 1);
        if (out_.job.groups.empty()) return;
        TraceGroup& g = out_.job.groups.back();
        if (level_ == 4 && key_ == "pg_size") g.size = whole_of(x, kMostRank + 1);
        if (level_ != 5 || key_ != "ranks" || ++members_ > kMostMembers) return;
        if (const std::int64_t rank = whole_of(x, kMostRank); rank >= 0) g.ranks.push_back(rank);
    }
    void finish_event() {
        ChromeEvent& e = event_;
        if (e.phase == 'M') {
            each_(e);
        } else if (e.phase == 'X') {
            if (std::abs(e.begin_us) <= kMostUs && e.length_us >= least_us_ && e.length_us <= kMostUs) {
                e.length_us = std::max(e.length_us, 0.0);
                each_(e);
            } else {
                ++out_.passed_over;
            }
        }
    }

    static constexpr std::size_t kMostMembers = 4'000'000;  // of all groups
    UnpackedBytes& bytes_;
    double least_us_;
    const std::function<void(const ChromeEvent&)>& each_;
    ChromeTrace& out_;
    ChromeEvent event_;
    int level_ = 0, events_ = 0;  // events_: the level in the list of events; 0: outside
    Field field_ = Field::none;
    bool args_next_ = false, in_args_ = false, in_job_ = false, found_ = false;
    std::optional<EventKey> arg_;
    std::string top_, job_key_, key_;
    std::size_t members_ = 0;
};

}  // namespace

std::int64_t ChromeEvent::whole(EventKey key, std::int64_t most) const {
    const EventValue& v = args[key];
    return v.has && v.text.empty() ? whole_of(v.number, most) : -1;
}

ChromeTrace read_chrome_events(UnpackedBytes& bytes, double least_us,
                               const std::function<void(const ChromeEvent&)>& each) {
    ChromeTrace out;
    EventReceiver to(bytes, least_us, each, out);
    std::istream in(&bytes);
    if (!nlohmann::json::sax_parse(in, &to)) refuse("no valid JSON");
    if (!to.found()) refuse("it has no list of events (traceEvents)");
    return out;
}

}  // namespace pentamesh::runs
