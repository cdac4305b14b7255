#include "core/mesh/rank_list.h"

#include "core/base/error.h"
#include "core/base/number.h"
#include "core/base/text.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace pentamesh {
namespace {

constexpr std::size_t kMostHosts = std::size_t{1} << 20;
constexpr std::string_view kBlanks = " \t\r\n";

[[noreturn]] void refuse_list(const std::string& why) {
    throw Error(ErrorKind::invalid, "", "", why);
}

std::optional<std::int64_t> number_in(std::string_view text) {
    const auto n = parse_whole(text);
    return n && *n >= 0 ? n : std::nullopt;
}

// Returns both ends of "3-7", twice the number of "3".
std::optional<std::pair<std::int64_t, std::int64_t>> range_in(std::string_view text) {
    const std::size_t dash = text.find('-');
    const auto first = number_in(text.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : number_in(text.substr(dash + 1));
    if (!first || !last) return std::nullopt;
    return std::pair{*first, *last};
}

// Adds "01-04" as 01 02 03 04: as wide as the first is written.
void add_range(std::vector<std::string>& out, std::string_view text) {
    const auto range = range_in(text);
    if (!range) refuse_list("\"" + std::string(text) + "\" in brackets is no number and no range of numbers");
    if (range->second < range->first) refuse_list("the range " + std::string(text) + " falls");
    const std::size_t width = std::min(text.find('-'), text.size());
    if (static_cast<std::size_t>(range->second - range->first) >= kMostHosts)
        refuse_list("more than a million hosts");
    for (std::int64_t n = range->first; n <= range->second; ++n) {
        std::string digits = std::to_string(n);
        if (digits.size() < width) digits.insert(0, width - digits.size(), '0');
        out.push_back(std::move(digits));
    }
}

// Returns the names for one element of the list.
std::vector<std::string> expand_name(std::string_view name) {
    std::vector<std::string> made{""};
    while (!name.empty()) {
        const std::size_t open = std::min(name.find('['), name.size());
        for (std::string& m : made) m += name.substr(0, open);
        if (open == name.size()) break;
        const std::size_t close = name.find(']', open);
        if (close == std::string_view::npos) refuse_list("a bracket does not close in " + std::string(name));
        std::vector<std::string> parts;
        std::string_view inside = name.substr(open + 1, close - open - 1);
        for (std::size_t comma = 0; comma != std::string_view::npos;) {
            comma = inside.find(',');
            add_range(parts, inside.substr(0, comma));
            if (comma != std::string_view::npos) inside.remove_prefix(comma + 1);
        }
        if (made.size() * parts.size() > kMostHosts) refuse_list("more than a million hosts");
        std::vector<std::string> next;
        for (const std::string& m : made)
            for (const std::string& p : parts) next.push_back(m + p);
        made = std::move(next);
        name.remove_prefix(close + 1);
    }
    return made;
}

}  // namespace

std::vector<std::int64_t> parse_rank_list(std::string_view text, std::int64_t world) {
    std::vector<std::int64_t> out;
    for (const std::string_view word : split_words(text, " \t\r\n,;")) {
        const auto range = range_in(word);
        if (!range || range->second < range->first)
            refuse_list("\"" + std::string(word.substr(0, 40))
                        + "\" is no rank and no range of ranks; write 0-7, 12, 99");
        if (range->second >= world)
            refuse_list("there is no rank " + std::to_string(range->second) + ": the plan has ranks 0 to "
                        + std::to_string(world - 1));
        if (static_cast<std::int64_t>(out.size()) + range->second - range->first > 4 * world)
            refuse_list("ranks stand in the list many times");
        for (std::int64_t r = range->first; r <= range->second; ++r) out.push_back(r);
    }
    if (out.empty()) refuse_list("no rank is given; write 0-7, 12, 99");
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::string ranks_text(const std::vector<std::int64_t>& ranks, std::size_t most) {
    std::string text;
    std::size_t parts = 0;
    for (std::size_t i = 0; i < ranks.size(); ++parts) {
        std::size_t end = i + 1;
        while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
        if (parts == most)
            return text + ", … (" + with_commas(static_cast<std::int64_t>(ranks.size())) + " ranks)";
        if (!text.empty()) text += ", ";
        text += std::to_string(ranks[i]);
        if (end == i + 2) end = i + 1;  // two neighbours stand apart
        if (end > i + 1) text += "-" + std::to_string(ranks[end - 1]);
        i = end;
    }
    return text;
}

std::vector<std::string> expand_hosts(std::string_view list) {
    std::vector<std::string> out;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= list.size(); ++i) {
        const char c = i < list.size() ? list[i] : ',';
        if (c == '[') ++depth;
        if (c == ']' && --depth < 0) refuse_list("a bracket closes that was not open");
        const bool ends =
            i == list.size() || kBlanks.find(c) != std::string_view::npos || (c == ',' && depth == 0);
        if (!ends) continue;
        if (i > begin) {
            auto names = expand_name(list.substr(begin, i - begin));
            if (out.size() + names.size() > kMostHosts) refuse_list("more than a million hosts");
            out.insert(out.end(), std::make_move_iterator(names.begin()),
                       std::make_move_iterator(names.end()));
        }
        begin = i + 1;
    }
    if (depth > 0) refuse_list("a bracket does not close");
    if (out.empty()) refuse_list("the list names no host");
    return out;
}

Hosts hosts_of(std::string_view list, std::int64_t world, std::int64_t domain) {
    Hosts hosts{expand_hosts(list), 1};
    const auto n = static_cast<std::int64_t>(hosts.names.size());
    hosts.gpus_each = world / n;
    const bool whole = world % n == 0 && (domain % hosts.gpus_each == 0 || n == 1);
    if (!whole)
        refuse_list(sentence("the list names ", count_text(n, "host"), ", the plan has ", world,
                             " ranks on nodes of ", domain, ": as many GPUs on each host as fill its nodes, ",
                             "that is ", (world + domain - 1) / domain, " hosts"));
    return hosts;
}

std::string hosts_text(const Hosts& hosts, const std::vector<std::int64_t>& ranks, std::size_t most) {
    std::string text;
    std::size_t named = 0;
    std::int64_t last = -1, count = 0;
    for (const std::int64_t r : ranks) {
        if (r / hosts.gpus_each == last) continue;
        last = r / hosts.gpus_each;
        ++count;
        if (named == most) continue;
        ++named;
        text += (text.empty() ? "" : ", ") + hosts.of(r);
    }
    return count > static_cast<std::int64_t>(named) ? text + ", … (" + with_commas(count) + " hosts)" : text;
}

}  // namespace pentamesh
