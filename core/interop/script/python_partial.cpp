// Puts the call of a recipe in the place of `functools.partial(llm.llama3_8b.pretrain_recipe, num_nodes=2)`.
#include "core/base/text.h"
#include "core/interop/script/read_python.h"

#include <algorithm>
#include <map>

namespace pentamesh::interop {
namespace {

constexpr int kMostPartials = 20;
constexpr std::size_t kMostGrowth = std::size_t{1} << 20;  // of the text

bool names_recipe(std::string_view function) {
    static constexpr std::string_view kEnds[] = {"_recipe", "_pretrain_config", "_finetune_config",
                                                 "_sft_config", "_peft_config"};
    return std::any_of(std::begin(kEnds), std::end(kEnds),
                       [&](std::string_view end) { return function.ends_with(end); });
}

class PartialCalls final : PythonText {
  public:
    explicit PartialCalls(std::string_view text) : PythonText(text) {}

    std::string read() {
        while (at_ < s_.size()) {
            const std::size_t begin = at_;
            const char c = s_[at_];
            if (c == '#')
                blanks(false);
            else if (c == '"' || c == '\'')
                (void)quoted();
            else if (!is_name_char(c))
                ++at_;
            else if (replaced(dotted()))
                continue;
            out_ += s_.substr(begin, at_ - begin);
        }
        return std::move(out_);
    }

  private:
    [[nodiscard]] bool at_bracket() const { return at_ < s_.size() && s_[at_] == '('; }

    // Writes what stands for the name that was passed. Returns false where it stays.
    bool replaced(const std::string& name) {
        if (!at_bracket()) return false;
        if (name == "partial" || name == "functools.partial") return of_recipe();
        const auto kept = kept_.find(name);
        if (kept == kept_.end() || out_.size() > s_.size() + kMostGrowth) return false;
        constexpr std::size_t kNear = 40;  // a definition's word stands right before its name
        const std::string_view before =
            std::string_view(out_).substr(out_.size() - std::min(out_.size(), kNear));
        if (trimmed(before, " \t").ends_with("def")) return false;
        ++at_;
        out_ += kept->second + ", ";
        return true;
    }

    bool of_recipe() {
        const std::size_t open = at_;
        ++at_;
        blanks(true);
        const std::string function = dotted();
        const std::size_t behind = at_;
        at_ = open;
        if (!names_recipe(function) || ++partials_ > kMostPartials) return false;
        brackets();
        if (s_[at_ - 1] != ')' || behind >= at_) return false;
        const std::string_view all = s_.substr(behind, at_ - 1 - behind);
        const std::string arguments = in_one_line(all.substr(std::min(all.find(',') + 1, all.size())));
        const std::string call = function + "(" + arguments;
        const std::string lines(
            static_cast<std::size_t>(std::count(s_.begin() + static_cast<std::ptrdiff_t>(open),
                                                s_.begin() + static_cast<std::ptrdiff_t>(at_), '\n')),
            '\n');
        const std::string_view line = line_so_far();
        const std::string target(line.substr(0, line.find_first_of(" :=", line.find_first_not_of(' '))));
        const std::string name(trimmed(target, " \t"));
        if (at_bracket()) {  // partial(f, a=1)(b=2)
            ++at_;
            out_ += call + ", " + lines;
        } else if (trimmed(line, " \t").ends_with('=') && !name.empty() && is_called(name)) {
            kept_[name] = call;
            out_.resize(out_.size() - line.size());
            out_ += lines;
        } else {
            out_ += call + lines + ")";
        }
        return true;
    }

    [[nodiscard]] std::string_view line_so_far() const {
        const std::size_t end = out_.rfind('\n');
        return std::string_view(out_).substr(end == std::string::npos ? 0 : end + 1);
    }

    [[nodiscard]] bool is_called(const std::string& name) const {
        for (std::size_t k = s_.find(name + "("); k != std::string_view::npos; k = s_.find(name + "(", k + 1))
            if (k == 0
                || (!is_name_char(s_[k - 1]) && s_[k - 1] != '.' && !s_.substr(0, k).ends_with("def ")))
                return true;
        return false;
    }

    // Returns arguments without comments and line ends.
    static std::string in_one_line(std::string_view text) {
        std::string out;
        char quote = '\0';
        bool comment = false;
        for (const char c : text) {
            if (c == '\n') comment = false;
            if (quote != '\0')
                quote = c == quote ? '\0' : quote;
            else if (!comment && (c == '"' || c == '\''))
                quote = c;
            else if (c == '#')
                comment = true;
            if (!comment) out.push_back(c == '\n' ? ' ' : c);
        }
        return python_trimmed(out);
    }

    std::string out_;
    std::map<std::string, std::string> kept_;  // a name to the call that it begins
    int partials_ = 0;
};

}  // namespace

std::string without_partials(std::string_view text) {
    return text.find("partial(") == std::string_view::npos ? std::string(text) : PartialCalls(text).read();
}

}  // namespace pentamesh::interop
