#include "core/interop/script/shell_script.h"

#include "core/base/files.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/interop/script/settings.h"
#include "core/interop/script/shell_parse.h"
#include "core/interop/script/shell_state.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace pentamesh::shell {
namespace {

constexpr int kMostSteps = 20'000;
constexpr int kMostCalls = 40, kMostRounds = 1'000;
constexpr std::size_t kMostInvocations = 4'000, kMostFiles = 100;

class Runner {
  public:
    Runner(std::string_view text, const std::string& path, const Given& given) : path_(path), given_(given) {
        read_sbatch(text, x_);
        x_.given = given.values;
        for (const auto& [name, value] : given.values) x_.state.variables[name] = {{value}, false};
        x_.state.arguments = given.arguments;
        x_.state.in_function = !given.arguments.empty();
        run(*parse(text, path));
    }
    Script take() {
        for (const auto& [name, variable] : x_.state.variables) collect_flags(name, variable);
        return std::move(x_.script);
    }

  private:
    enum class Flow : std::uint8_t {
        on,
        next_round,
        left_loop,
        left_function,
        ended,
        refused
    };  // refused: an exit with an error

    // Keeps a variable whose first words are flags: each of an array is a word, a text is split.
    void collect_flags(const std::string& name, const Variable& variable) {
        FlagList list{name, {}};
        for (const std::string& element : variable.elements) {
            int line = 0;
            if (element.starts_with(kLineBegin))  // it is on the line of its first mark
                for (std::size_t i = 1; i < element.size() && element[i] != kLineEnd; ++i)
                    line = line * 10 + (element[i] - '0');
            const std::string text = without_line_marks(element);
            // Nothing says how it is expanded: an element of a flag and its value is made for `${A[@]}`.
            if (variable.array && !(text.starts_with("--") && text.find(' ') < text.find('='))) {
                list.words.push_back({text, line});
                continue;
            }
            for (const std::string_view part : split_words(text, " \t\r\n\v\f"))
                list.words.push_back({std::string(part), line});
        }
        const bool flags = !list.words.empty() && list.words.front().text.starts_with("--")
                           && list.words.front().text.size() > 2;
        if (flags && x_.script.lists.size() < kMostFiles) x_.script.lists.push_back(std::move(list));
    }

    bool stopped() const { return flow_ != Flow::on || steps_ > kMostSteps; }

    Truth run(const Command& c) {
        if (++steps_ > kMostSteps || stopped()) return Truth::unknown;
        switch (c.kind) {
        case CommandKind::simple: return simple(c);
        case CommandKind::sequence: {
            Truth t = Truth::yes;
            for (const CommandPtr& b : c.body) {
                if (stopped()) break;
                t = run(*b);
            }
            return t;
        }
        case CommandKind::pipeline:
            for (const CommandPtr& b : c.body) in_subshell(*b);
            return Truth::unknown;
        case CommandKind::subshell: return in_subshell(*c.body[0]);
        case CommandKind::both: return chain(c, Truth::yes);
        case CommandKind::either: return chain(c, Truth::no);
        case CommandKind::negated: return negated(run(*c.body[0]));
        case CommandKind::choice: {
            const Truth t = run(*c.body[0]);
            branch(
                t, c.line, [&] { run(*c.body[1]); }, [&] { run(*c.body[2]); });
            if (goes_on_after_refusal() && t == Truth::yes) run(*c.body[2]);
            return Truth::unknown;
        }
        case CommandKind::loop: return loop(c);
        case CommandKind::repeat: return repeat(c);
        case CommandKind::match: return match(c);
        case CommandKind::function: x_.state.functions[c.name] = c.body[0]; return Truth::yes;
        case CommandKind::arithmetic: return arithmetic(c.name, c.line);
        case CommandKind::test: {
            std::vector<std::string> words;
            for (const Word& w : c.words) words.push_back(x_.expand_joined(w));
            return x_.test(std::move(words));
        }
        }
        return Truth::unknown;
    }

    // Variables that a subshell sets are gone behind it, and leaving it leaves nothing else.
    Truth in_subshell(const Command& c) {
        if (stopped()) return Truth::unknown;
        const State before = x_.state;
        const Truth t = run(c);
        x_.state = before;
        flow_ = Flow::on;
        return t;
    }

    // A script that ends with an error under a condition wants something of its user. The job starts where it
    // has it, so that the reading goes on.
    bool goes_on_after_refusal() {
        const bool refused = flow_ == Flow::refused;
        if (refused) flow_ = Flow::on;
        return refused;
    }

    Truth chain(const Command& c, Truth goes_on) {
        const Truth t = run(*c.body[0]);
        if (stopped()) return t;
        if (t == goes_on) {
            const Truth second = run(*c.body[1]);
            return goes_on_after_refusal() ? Truth::unknown : second;
        }
        if (t != Truth::unknown) return t;
        branch(
            t, c.line, [&] { run(*c.body[1]); }, [] {});
        return Truth::unknown;
    }

    // Runs one side, or both where the condition is unknown: variables that differ between them are unknown
    // then.
    template <typename A, typename B>
    void branch(Truth t, int line, A&& yes, B&& no) {
        if (t == Truth::yes) return yes();
        if (t == Truth::no) return no();
        const State before = x_.state;
        const Flow flow = flow_;
        yes();
        State after = std::exchange(x_.state, before);
        flow_ = flow;
        no();
        flow_ = flow;  // an exit that may not happen does not end the reading
        for (const auto& [name, value] : after.variables) {
            const auto it = x_.state.variables.find(name);
            if (it != x_.state.variables.end() && it->second == value) continue;
            // A value that only one side sets, where the variable was not set before, is taken.
            const bool either_side = it == x_.state.variables.end() && !before.variables.contains(name);
            x_.state.variables[name] = either_side ? value
                                       : it != x_.state.variables.end()
                                           ? either_of(x_, name, line, value, it->second)
                                           : Variable{{x_.unknown(name, line, false)}, false};
        }
        for (auto& [name, body] : after.functions) x_.state.functions.try_emplace(name, body);
    }

    Truth loop(const Command& c) {
        std::vector<Argument> words;
        for (const Word& w : c.words) x_.expand(w, words);
        for (const Argument& word : words) {
            if (stopped()) break;
            x_.state.variables[c.name] = {{word.text}, false};
            if (leaves(*c.body[0])) break;
        }
        return Truth::unknown;
    }

    // Runs a round of a loop. Returns true if it leaves the loop.
    bool leaves(const Command& body) {
        run(body);
        const bool left = flow_ == Flow::left_loop;
        if (left || flow_ == Flow::next_round) flow_ = Flow::on;
        return left;
    }

    // Runs for ((A; B; C)) where each B is known.
    bool counted(const Command& c) {
        const std::vector<std::string_view> parts = split(c.name, ';');
        if (parts.size() != 3) return false;
        // A loop takes a part of the steps that are left, so that the commands behind it are reached.
        const int most = steps_ + (kMostSteps - steps_) / 4;
        const State before = x_.state;
        std::size_t first_round = x_.script.invocations.size();
        arithmetic(parts[0], c.line);
        for (int rounds = 0; rounds < kMostRounds && steps_ < most; ++rounds) {
            const Truth t = arithmetic(parts[1], c.line);
            if (t == Truth::no) return true;
            if (t == Truth::unknown) break;
            if (leaves(*c.body[0]) || stopped()) return true;
            if (rounds == 0) first_round = x_.script.invocations.size();
            arithmetic(parts[2], c.line);
        }
        x_.state = before;
        while (x_.script.invocations.size() > first_round) x_.script.invocations.pop_back();
        return false;
    }

    // Returns true for [[ A ]], [ A ], test A and (( A )), one of them or several joined by && || !.
    bool only_compares(const Command& c) {
        switch (c.kind) {
        case CommandKind::test:
        case CommandKind::arithmetic: return true;
        case CommandKind::simple: {
            const auto program = c.words.empty() ? std::nullopt : x_.known(x_.expand_joined(c.words[0]));
            return program && (*program == "[" || *program == "test");
        }
        case CommandKind::sequence:
        case CommandKind::both:
        case CommandKind::either:
        case CommandKind::negated:
            return !c.body.empty() && std::all_of(c.body.begin(), c.body.end(), [this](const CommandPtr& b) {
                return only_compares(*b);
            });
        default: return false;
        }
    }

    // Runs while A; do B; done where each A is a known comparison: the loops that read a script's own
    // arguments end before their first round where none are given.
    bool tested(const Command& c) {
        if (c.body.size() != 2 || !only_compares(*c.body[0])) return false;
        const int most = steps_ + (kMostSteps - steps_) / 4;
        const State before = x_.state;
        const std::size_t first_round = x_.script.invocations.size();
        for (int rounds = 0; rounds < kMostRounds && steps_ < most; ++rounds) {
            const Truth t = c.until ? negated(run(*c.body[0])) : run(*c.body[0]);
            if (t == Truth::no) return true;
            if (t == Truth::unknown) break;
            if (leaves(*c.body[1]) || stopped()) return true;
        }
        x_.state = before;
        while (x_.script.invocations.size() > first_round) x_.script.invocations.pop_back();
        return false;
    }

    Truth repeat(const Command& c) { return counted(c) || tested(c) ? Truth::unknown : passed_over(c); }

    // Variables that commands set which may run or not are unknown behind them.
    Truth passed_over(const Command& c) {
        std::set<std::string> names;
        collect_assigned(c, names);
        for (const std::string& n : names) x_.state.variables[n] = {{x_.unknown(n, c.line, false)}, false};
        return Truth::unknown;
    }

    Truth match(const Command& c) {
        const auto text = x_.known(x_.expand_joined(c.words[0]));
        if (!text) return passed_over(c);
        Truth t = Truth::unknown;
        bool falls = false;
        for (const Case& k : c.cases) {
            const bool taken = falls || std::any_of(k.patterns.begin(), k.patterns.end(), [&](const Word& w) {
                                   const auto p = x_.known(x_.expand_joined(w));
                                   return p && matches(*p, *text);
                               });
            if (!taken) continue;
            t = run(*k.body);
            if (goes_on_after_refusal()) return t;
            if (k.end == CaseEnd::stop || stopped()) return t;
            falls = k.end == CaseEnd::next_body;
        }
        return t;
    }

    // Runs (( X = 1 )), (( X += 2 )), (( A > B )).
    Truth arithmetic(std::string_view s, int line) {
        std::size_t n = 0;
        while (n < s.size() && s[n] == ' ') ++n;
        std::size_t end = n;
        while (end < s.size() && is_name_char(s[end])) ++end;
        const std::string name(s.substr(n, end - n));
        std::size_t op = end;
        while (op < s.size() && s[op] == ' ') ++op;
        const std::string_view rest = s.substr(op);
        const bool sets = rest.size() > 1 && rest[0] == '=' && rest[1] != '=';
        const bool steps = rest.size() > 1
                           && (rest[0] == '+' || rest[0] == '-' || rest[0] == '*' || rest[0] == '/')
                           && (rest[1] == '=' || rest[1] == rest[0]);
        if (!name.empty() && (sets || steps)) {
            std::string expression(sets ? rest.substr(1) : rest.substr(2));
            if (steps) expression = name + rest[0] + "(" + (rest[1] == '=' ? expression : "1") + ")";
            x_.state.variables[name] = {{x_.calculate(expression, line)}, false};
            return Truth::unknown;
        }
        const auto value = x_.known(x_.calculate(s, line));
        return !value || value->empty() ? Truth::unknown : *value == "0" ? Truth::no : Truth::yes;
    }

    Truth simple(const Command& c) {
        std::vector<Argument> words;
        for (const Word& w : c.words) x_.expand(w, words);
        if (words.empty()) {
            for (const Assignment& a : c.assignments) x_.assign(a);
            return Truth::yes;
        }
        const std::string program = x_.known(words.front().text).value_or("");
        keep_written(x_, words, c);
        if (const auto builtin = run_builtin(program, words, c)) return *builtin;
        const auto f = x_.state.functions.find(program);
        if (f != x_.state.functions.end()) return call(program, f->second, words);
        if (x_.script.invocations.size() < kMostInvocations) {
            Invocation made{{}, c.line};
            for (const char* name : {"NPROC_PER_NODE", "NNODES"})
                if (const auto it = x_.state.variables.find(name); it != x_.state.variables.end())
                    made.environment[name] = without_line_marks(it->second.elements.front());
            for (const Assignment& a : c.assignments)
                if (!a.elements.empty())
                    made.environment[a.name] = without_line_marks(x_.expand_joined(a.elements.front()));
            for (Argument& a : words) made.words.push_back({without_line_marks(a.text), a.line});
            made.outer = outer_;
            x_.script.invocations.push_back(std::move(made));
        }
        run_inner_scripts(words, c);
        return Truth::unknown;
    }

    Truth call(const std::string& name, const CommandPtr& body, const std::vector<Argument>& words) {
        // A function that calls itself ends by a condition that only a running shell knows.
        if (calls_ > kMostCalls || !active_.insert(name).second) return Truth::unknown;
        ++calls_;
        std::vector<std::string> arguments;
        for (std::size_t i = 1; i < words.size(); ++i) arguments.push_back(words[i].text);
        std::swap(arguments, x_.state.arguments);
        const bool inside = std::exchange(x_.state.in_function, true);
        locals_.emplace_back();
        const Truth t = run(*body);
        for (auto& [local, value] : locals_.back())
            if (value)
                x_.state.variables[local] = std::move(*value);
            else
                x_.state.variables.erase(local);
        locals_.pop_back();
        if (flow_ == Flow::left_function) flow_ = Flow::on;
        x_.state.in_function = inside;
        x_.state.arguments = std::move(arguments);
        --calls_;
        active_.erase(name);
        return t;
    }

    std::optional<Truth> run_builtin(const std::string& program, const std::vector<Argument>& words,
                                     const Command& c) {
        if (interop::is_among("shell_declares", program)) {
            const auto is = [](const char* text) {
                return [text](const Argument& a) { return without_line_marks(a.text) == text; };
            };
            const bool local = !locals_.empty() && program != "export" && program != "readonly"
                               && std::none_of(words.begin(), words.end(), is("-g"));
            if (local) keep_for_caller(words, c.assignments);
            if (std::any_of(words.begin(), words.end(), is("-A"))) {
                for (const Assignment& a : c.assignments) x_.state.variables[a.name].map = true;
                for (std::size_t i = 1; i < words.size(); ++i)
                    if (const auto name = x_.known(words[i].text); name && !name->starts_with("-"))
                        x_.state.variables[*name].map = x_.state.variables[*name].array = true;
            }
            for (const Assignment& a : c.assignments) x_.assign(a);
            return Truth::yes;
        }
        if (program == "[" || program == "test") {
            std::vector<std::string> rest;
            for (std::size_t i = 1; i < words.size(); ++i) rest.push_back(words[i].text);
            if (program == "[" && !rest.empty() && rest.back() == "]") rest.pop_back();
            // An unquoted word that is empty vanishes: `[ -z ${TP} ]` asks for nothing and is true.
            if (rest.size() == 1 && (rest[0] == "-z" || rest[0] == "-n")) return Truth::yes;
            return x_.test(std::move(rest));
        }
        if (interop::is_among("shell_succeeds", program)) return Truth::yes;
        if (program == "false") return Truth::no;
        if (program == "unset") {
            for (std::size_t i = 1; i < words.size(); ++i)
                x_.unset(x_.known(words[i].text).value_or(""), c.line);
            return Truth::yes;
        }
        if (program == "shift") {
            shift(words);
            return Truth::yes;
        }
        if (program == "read") return read_into(x_, words, c), Truth::unknown;
        if (program == "printf") return print_into(x_, words), Truth::yes;
        if (program == "source" || program == ".") return read_file(words, c), Truth::unknown;
        if (program == "exit")
            flow_ = words.size() < 2 || x_.known(words[1].text) == "0" ? Flow::ended : Flow::refused;
        else if (program == "return")
            flow_ = Flow::left_function;
        else if (program == "break" || program == "continue")
            flow_ = program == "break" ? Flow::left_loop : Flow::next_round;
        else if (program == "eval") {
            std::string text;
            for (std::size_t i = 1; i < words.size(); ++i) text += (i > 1 ? " " : "") + words[i].text;
            run_text(text, c.line);
        } else
            return std::nullopt;
        return Truth::unknown;
    }

    // Reads the file of a `source`: the part of its path behind what only a running shell knows.
    void read_file(const std::vector<Argument>& words, const Command& c) {
        if (words.size() < 2) return;
        const std::string written = without_line_marks(words[1].text);
        std::string name = written.substr(written.rfind(kUnknownEnd) + 1);
        while (name.starts_with("/") && name != written) name.erase(0, 1);
        const auto text = given_.file && !name.empty() ? given_.file(name) : std::nullopt;
        if (text && x_.script.sources.size() < kMostFiles) {
            x_.script.sources.push_back({name, own_line(x_.script, c.line)});
            run_text(*text, static_cast<int>(x_.script.sources.size()) * kLinesOfFile + 1);
        } else if (x_.script.unread.empty()) {
            x_.script.unread =
                "source " + shown(x_.script, written) + " (" + words_of(place_in(x_.script, c.line)) + ")";
        }
    }
    // A function's own variables are the caller's again when it is left. One without a value is not set.
    void keep_for_caller(const std::vector<Argument>& words, const std::vector<Assignment>& assignments) {
        const auto keep = [&](const std::string& name) {
            const auto it = x_.state.variables.find(name);
            locals_.back().try_emplace(name, it == x_.state.variables.end() ? std::nullopt
                                                                            : std::optional(it->second));
        };
        for (const Assignment& a : assignments) keep(a.name);
        for (std::size_t i = 1; i < words.size(); ++i) {
            const std::string name = x_.known(words[i].text).value_or("");
            if (name.empty() || name.starts_with("-")) continue;
            keep(name);
            x_.state.variables.erase(name);
        }
    }

    void shift(const std::vector<Argument>& words) {
        std::vector<std::string>& arguments = x_.state.arguments;
        const std::string by = words.size() > 1 ? x_.known(words[1].text).value_or("?") : "1";
        const std::int64_t n = parse_whole(by).value_or(-1);
        if (n < 0)
            for (std::string& a : arguments) a = x_.unknown("shift " + by, words.front().line, false);
        else if (n <= std::ssize(arguments))
            arguments.erase(arguments.begin(), arguments.begin() + static_cast<std::ptrdiff_t>(n));
    }

    [[nodiscard]] std::string base_of(const Argument& word) const {
        const std::string w = x_.known(word.text).value_or("");
        return w.substr(w.find_last_of('/') + 1);
    }

    // Runs what a launcher's shell runs: its own words hold for all that it starts, and it starts nothing
    // itself.
    void run_launched(std::vector<Argument> launcher, const std::string& text, int line) {
        for (Argument& a : launcher) a.text = without_line_marks(a.text);
        const std::size_t own = x_.script.invocations.size();
        const std::vector<Argument> before = outer_;
        outer_.insert(outer_.end(), launcher.begin(), launcher.end());
        run_child(text, line);
        outer_ = before;
        if (!launcher.empty() && own > 0 && x_.script.invocations.size() > own)
            x_.script.invocations.erase(x_.script.invocations.begin() + static_cast<std::ptrdiff_t>(own) - 1);
    }

    // Runs `bcprun -n 4 -p 8 -c "…"`, NVIDIA Base Command's launcher, whose command is a word of a shell
    // (NVIDIA/NeMo-Framework-Launcher, nemo_launcher/core/launchers.py). Returns false for another command.
    bool run_base_command(const std::vector<Argument>& words, const Command& c) {
        if (base_of(words.front()) != "bcprun") return false;
        std::vector<Argument> own;
        std::string text;
        constexpr std::string_view kJoined = "--cmd=";
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::string w = without_line_marks(words[i].text);
            if ((w == "-c" || w == "--cmd") && i + 1 < words.size())
                text = words[++i].text;
            else if (w.starts_with(kJoined))
                text = w.substr(kJoined.size());
            else
                own.push_back(words[i]);
        }
        if (text.empty()) return false;
        run_launched(std::move(own), text, c.line);
        return true;
    }

    // Runs `bash -c "…"`, and here-documents that a shell or sbatch reads.
    void run_inner_scripts(const std::vector<Argument>& words, const Command& c) {
        if (run_base_command(words, c)) return;
        // NVIDIA-NeMo/RL, ray.sub: the batch script starts what its variable holds.
        if (base_of(words.front()) == "sbatch")
            for (const Assignment& a : c.assignments)
                if (a.name == "COMMAND")
                    return run_launched(words, x_.expand_joined(a.elements.front()), c.line);
        bool shell = false;
        std::vector<Argument> launcher;  // the words from it to the shell
        const auto& launchers = interop::words("launchers");
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::string w = x_.known(words[i].text).value_or("");
            const std::string name = base_of(words[i]);
            if (words[i].text.starts_with("--command=")) {
                const std::string text = words[i].text.substr(10);
                if (base_of(words.front()) != "xpk") return run_child(text, c.line);
                std::vector<Argument> own = words;
                own.erase(own.begin() + static_cast<std::ptrdiff_t>(i));
                return run_launched(std::move(own), text, c.line);
            }
            shell = shell || name == "bash" || name == "sh" || name == "zsh" || (i == 0 && name == "sbatch");
            if (!shell && (!launcher.empty() || launchers.contains(name))) launcher.push_back(words[i]);
            const bool script = shell && w.size() >= 2 && w[0] == '-' && w[1] != '-' && w.back() == 'c';
            if (script && i + 1 < words.size()) return run_launched(launcher, words[i + 1].text, c.line);
        }
        run_file_beside(words, c);
        // `cat > run.sh <<EOF`, `echo "$A" > run.sh` write what is started later; else a text is a message.
        const bool writes = x_.known(words[0].text) == "cat";
        for (const Document& document : c.documents)
            if (shell || (writes && begins_as_script(document.text)))
                run_child(x_.written(document, c.line), c.line);
        const bool echo = writes_variable(c) && x_.known(words[0].text) == "echo";
        if (echo && words[1].text.find('\n') != std::string::npos) run_child(words[1].text, c.line);
    }

    // Runs `bash train.sh 4 2`, `srun ./train.sh`, where the file stands next to the text: with arguments of
    // its own, under the launcher before it.
    void run_file_beside(const std::vector<Argument>& words, const Command& c) {
        std::size_t at = 0;
        const auto& launchers = interop::words("launchers");
        for (; at < words.size(); ++at) {
            const std::string w = without_line_marks(words[at].text);
            if (w.ends_with(".py") || w == "-c" || w == "-m") return;
            if (w.ends_with(".sh")) break;
        }
        const std::string before = at == 0 ? "" : base_of(words[at - 1]);
        const std::string first = base_of(words.front());
        const bool shell = before == "bash" || before == "sh" || before == "zsh";
        const bool launched = first != "sbatch" && launchers.contains(first);
        if (at >= words.size() || !given_.file || (at > 0 && !shell && !launched)) return;
        const std::string written = without_line_marks(words[at].text);
        std::string name = written.substr(written.rfind(kUnknownEnd) + 1);
        while (name.starts_with("/") && name != written) name.erase(0, 1);
        const auto text = name.empty() ? std::nullopt : given_.file(name);
        if (!text || x_.script.sources.size() >= kMostFiles || calls_ > kMostCalls) return;
        x_.script.sources.push_back({name, own_line(x_.script, c.line)});
        const int line = static_cast<int>(x_.script.sources.size()) * kLinesOfFile + 1;
        const State outside = x_.state;
        x_.state.arguments.clear();
        for (std::size_t i = at + 1; i < words.size(); ++i) x_.state.arguments.push_back(words[i].text);
        x_.state.in_function = x_.state.in_function || !x_.state.arguments.empty();
        std::vector<Argument> launcher;
        if (launched)
            launcher.assign(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(shell ? at - 1 : at));
        run_launched(std::move(launcher), *text, line);
        x_.state = outside;
    }

    // Runs a shell of its own: what it sets is gone behind it, and its exit ends nothing.
    void run_child(const std::string& text, int line) {
        const State before = x_.state;
        run_text(text, line);
        x_.state = before;
        flow_ = Flow::on;
    }

    void run_text(const std::string& text, int line) {
        if (++calls_ > kMostCalls) {
            --calls_;
            return;
        }
        try {
            run(*parse(without_line_marks(text), path_, line));
        } catch (const Error&) {
            // A text that does not parse as a script is ignored; the launch itself is where it was read.
            (void)x_.unknown("eval of " + words_of(place_in(x_.script, line)), line, false);
        }
        --calls_;
    }

    const std::string& path_;
    const Given& given_;
    Expander x_;
    Flow flow_ = Flow::on;
    int steps_ = 0, calls_ = 0;
    std::set<std::string> active_;  // functions that are being called
    std::vector<Argument> outer_;   // words of the launchers whose shell is being read
    // By function that is being called: the caller's value of each local variable; nullopt: it had none.
    std::vector<std::map<std::string, std::optional<Variable>>> locals_;
};

}  // namespace

Script read_script(std::string_view text, const std::string& path, const Given& given) {
    // Marks of our own cannot come from a file.
    std::string clean;
    clean.reserve(text.size());
    for (const char c : text)
        if (!(c >= '\x01' && c <= '\x05') && c != '\0') clean.push_back(c);
    return Runner(clean, path, given).take();
}

namespace {

bool is_flag(std::string_view word) {
    return word.starts_with("--") && word.size() > 2;
}

// Adds words that a command may get or not: a flag keeps its name, with an unknown value.
void put_open(Expander& x, const std::string& name, int line, const std::vector<std::string>& words,
              std::size_t from, std::vector<std::string>& out) {
    const std::string open = x.unknown(name, line, false);
    for (std::size_t i = from; i < words.size(); ++i) {
        const std::size_t mark = words[i].find_last_of(kLineEnd);  // of the line that a word was written in
        const std::size_t begin = mark == std::string::npos ? 0 : mark + 1;
        const std::string_view word = std::string_view(words[i]).substr(begin);
        if (!is_flag(word)) continue;  // the value of the flag before
        std::string made =
            words[i].substr(0, begin) + std::string(word.substr(0, word.find('='))) + "=" + open;
        if (std::find(out.begin(), out.end(), made) == out.end()) out.push_back(std::move(made));
    }
}

// Adds the names in an arithmetic expression that sets any.
void collect_set(std::string_view expression, std::set<std::string>& names) {
    bool sets =
        expression.find("++") != std::string_view::npos || expression.find("--") != std::string_view::npos;
    for (std::size_t i = 0; i < expression.size(); ++i)
        if (expression[i] == '=') {
            const bool doubled = i + 1 < expression.size() && expression[i + 1] == '=';
            sets = sets
                   || (!doubled
                       && (i == 0
                           || std::string_view("=!<>").find(expression[i - 1]) == std::string_view::npos));
        }
    if (!sets) return;
    for (std::size_t i = 0; i < expression.size();) {
        std::size_t end = i;
        while (end < expression.size() && is_name_char(expression[end])) ++end;
        if (end > i && is_name_start(expression[i])) names.emplace(expression.substr(i, end - i));
        i = std::max(end, i + 1);
    }
}

}  // namespace

Variable either_of(Expander& x, const std::string& name, int line, const Variable& a, const Variable& b) {
    if (!a.keys.empty() || !b.keys.empty()) return {{x.unknown(name, line, false)}, false};
    const bool text = !a.array && !b.array && a.elements.size() == 1 && b.elements.size() == 1;
    const auto words_of = [&](const Variable& v) {
        if (!text) return v.elements;
        const auto words = split_words(v.elements[0], " \t\r\n\v\f");
        return std::vector<std::string>(words.begin(), words.end());
    };
    const std::vector<std::string> left = words_of(a), right = words_of(b);
    std::size_t same = 0;
    while (same < left.size() && same < right.size()
           && without_line_marks(left[same]) == without_line_marks(right[same]))
        ++same;
    std::vector<std::string> out(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(same));
    put_open(x, name, line, left, same, out);
    put_open(x, name, line, right, same, out);
    if ((!text && !(a.array && b.array)) || (out.size() == same && left != right) || out.empty())
        return {{x.unknown(name, line, false)}, false};
    if (!text) return {std::move(out), true};
    std::string joined = join(out, " ");
    return {{std::move(joined)}, false};
}

void collect_assigned(const Command& c, std::set<std::string>& names) {
    if (c.kind == CommandKind::subshell) return;
    if (c.kind == CommandKind::arithmetic || c.kind == CommandKind::repeat) collect_set(c.name, names);
    for (const Assignment& a : c.assignments) names.insert(a.name);
    if (c.kind == CommandKind::loop) names.insert(c.name);
    for (const CommandPtr& b : c.body) collect_assigned(*b, names);
    for (const Case& k : c.cases) collect_assigned(*k.body, names);
}

// Runs `read`, `printf -v`, $(echo …) and $(cat <<EOF …), whose output a script's own text makes.

void read_into(Expander& x, const std::vector<Argument>& words, const Command& c) {
    std::vector<std::string> names;
    bool array = false, to_end = false;  // -d '': beyond the first line
    for (std::size_t i = 1; i < words.size(); ++i) {
        const std::string n = x.known(words[i].text).value_or("-");
        if (n == "-a" || n == "-ra") array = true;
        if (n == "-d" || n == "-rd") {
            to_end = true;
            ++i;  // its delimiter
        } else if (!n.starts_with("-")) {
            names.push_back(n);
        }
    }
    std::string apart = " \t\n";
    for (const Assignment& a : c.assignments)
        if (a.name == "IFS") apart = without_line_marks(x.expand_joined(a.elements.front()));
    std::vector<std::string> fields;
    const bool fed = !c.strings.empty() || !c.documents.empty();
    std::string text;
    if (!c.strings.empty())
        text = without_line_marks(x.expand_joined(c.strings[0]));
    else if (fed)
        text = without_line_marks(x.written(c.documents.back(), c.line));
    if (!to_end && c.strings.empty()) text.resize(std::min(text.find('\n'), text.size()));
    for (std::size_t at = text.find_first_not_of(' '); at < text.size();) {
        const bool rest = !array && fields.size() + 1 == names.size();
        const std::size_t end = rest ? text.size() : std::min(text.find_first_of(apart, at), text.size());
        fields.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    if (array && !names.empty() && fed) {
        x.state.variables[names[0]] = {std::move(fields), true};
        return;
    }
    for (std::size_t i = 0; i < names.size(); ++i)
        x.state.variables[names[i]] = {{!fed                ? x.unknown(names[i], c.line, false)
                                        : i < fields.size() ? fields[i]
                                                            : ""},
                                       false};
}

void keep_written(Expander& x, const std::vector<Argument>& words, const Command& c) {
    constexpr int kMostWrites = 50;
    if (x.writes >= kMostWrites || (c.documents.empty() && c.outputs.empty())) return;
    const std::string program = x.known(words.front().text).value_or("");
    const bool tee = program == "tee" && words.size() > 1;
    std::string text, name;
    if ((tee || program == "cat") && !c.documents.empty())
        text = without_line_marks(x.written(c.documents.back(), c.line));
    else if (program == "echo" && words.size() > 1)
        text = without_line_marks(words.back().text);
    if (text.empty() || !(tee || !c.outputs.empty()) || text.size() > kMostValueBytes) return;
    name = shown(x.script, without_line_marks(tee ? words.back().text : x.expand_joined(c.outputs.back())));
    ++x.writes;
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const Unknown* u = text[i] == kUnknownBegin ? unknown_in(x.script, text.substr(i, 32)) : nullptr;
        if (!u) {
            plain.push_back(text[i]);
            continue;
        }
        plain.push_back('$');
        for (const char letter : u->what)
            if (is_name_char(letter)) plain.push_back(letter);
        i = std::min(text.find(kUnknownEnd, i), text.size());
    }
    const auto [place, fresh] = x.script.written.try_emplace(name, plain);
    if (!fresh && place->second != plain) place->second.clear();
}

void print_into(Expander& x, const std::vector<Argument>& words) {
    if (words.size() < 4 || without_line_marks(words[1].text) != "-v") return;
    const std::string format = without_line_marks(words[3].text);
    std::string out;
    std::size_t next = 4;
    bool known = true;
    do {  // the format is used again while words are left
        const std::size_t before = next;
        for (std::size_t i = 0; i < format.size(); ++i) {
            const char kind = format[i] == '%' && i + 1 < format.size() ? format[i + 1] : ' ';
            known = known && format[i] != '\\' && (format[i] != '%' || kind == 's' || kind == 'd');
            if (format[i] != '%')
                out.push_back(format[i]);
            else if (++i; next < words.size())
                out += without_line_marks(words[next++].text);
        }
        if (next == before) break;
    } while (next < words.size() && out.size() < kMostValueBytes);
    if (!known) out = x.unknown("printf " + format, words.front().line, false);
    x.state.variables[without_line_marks(words[2].text)] = {{std::move(out)}, false};
}

std::string Expander::written(const Document& document, int line) {
    if (document.quoted) return document.text;
    try {
        return expand_joined(parse_double_quoted(document.text, line, true));
    } catch (const Error&) {
        return document.text;  // the shell would say the error where it runs
    }
}

namespace {

// Returns true for a filter that changes blanks only: tr '\n' ' ', sed 's/  \+/ /g', xargs.
bool filters_blanks(std::string_view filter) {
    filter = pentamesh::trimmed(filter, " \t\n");
    if (filter == "xargs") return true;
    if (filter.starts_with("tr "))
        return filter == R"(tr '\n' ' ')" || filter == R"(tr "\n" " ")" || filter == R"(tr -s ' ')"
               || filter == R"(tr -s '[:space:]' ' ')";
    constexpr std::string_view kSed = "sed 's/", kWith = "/ /g'";
    if (!filter.starts_with(kSed) || !filter.ends_with(kWith) || filter.size() < kSed.size() + kWith.size())
        return false;
    const std::string_view pattern = filter.substr(kSed.size(), filter.size() - kSed.size() - kWith.size());
    return pattern.find_first_not_of(" \\+*s[:pace]") == std::string_view::npos;
}

}  // namespace

std::optional<std::string> Expander::echoed(const std::string& source, int line) {
    static constexpr int kMostDepth = 20;
    if (depth_ > kMostDepth) return std::nullopt;
    std::string command = source;
    bool filtered = false;
    for (std::size_t bar = command.rfind('|'); bar != std::string::npos; bar = command.rfind('|')) {
        if (!filters_blanks(std::string_view(command).substr(bar + 1))) break;
        command.resize(bar);
        filtered = true;
    }
    CommandPtr parsed;
    try {
        parsed = parse(command, "", line);
    } catch (const Error&) {
        return std::nullopt;
    }
    // They are set by "=", or by ${A:=1}.
    std::optional<std::string> out = printed(*parsed, command.find('=') != std::string::npos);
    if (out && filtered) std::replace(out->begin(), out->end(), '\n', ' ');
    return out;
}

std::optional<std::string> Expander::printed(const Command& parsed, bool assigns) {
    static constexpr int kMostDepth = 20, kMostPrintingCalls = 1'000;
    if (depth_ > kMostDepth || parsed.kind != CommandKind::sequence || parsed.body.empty())
        return std::nullopt;
    if (parsed.body.size() == 1 && parsed.body[0]->kind == CommandKind::sequence)  // { echo …; }
        return printed(*parsed.body[0], assigns);
    for (const CommandPtr& c : parsed.body)
        if (c->kind != CommandKind::simple || c->words.empty() != (c != parsed.body.back()))
            return std::nullopt;
    // Other commands are not expanded: what is not known in their arguments is not asked for.
    const Command& last = *parsed.body.back();
    const std::string program = plain_text(last.words.front());
    if (program == "cat" && last.words.size() == 1 && last.documents.size() == 1)
        return written(last.documents.front(), last.line);
    const auto function = state.functions.find(program);
    const bool called = function != state.functions.end();
    if ((program != "echo" && !called) || (called && ++printing_calls_ > kMostPrintingCalls))
        return std::nullopt;
    std::optional<State> before;  // its own variables are gone behind it
    if (assigns || called) before = state;
    ++depth_;
    for (const CommandPtr& c : parsed.body)
        for (const Assignment& a : c->assignments) assign(a);
    std::vector<Argument> words;
    for (const Word& w : last.words) expand(w, words);
    std::optional<std::string> of_function;
    if (called) {  // a function that only prints its arguments
        state.arguments.clear();
        for (std::size_t i = 1; i < words.size(); ++i) state.arguments.push_back(words[i].text);
        state.in_function = true;
        const CommandPtr body = function->second;
        of_function = printed(*body, true);
    }
    --depth_;
    if (before) state = std::move(*before);
    if (called) return of_function;
    const auto text = [&](std::size_t i) { return without_line_marks(words[i].text); };
    // Options of echo are -n, -e, -E; Bash prints all other words.
    if (words.size() > 1 && text(1).size() > 1 && text(1).front() == '-'
        && text(1).find_first_not_of("neE", 1) == std::string::npos)
        return std::nullopt;
    std::string out;
    for (std::size_t i = 1; i < words.size(); ++i) out += (i > 1 ? " " : "") + text(i);
    return out;
}

bool writes_variable(const Command& c) {
    if (c.words.size() != 2) return false;
    const std::vector<Part>& parts = c.words[1].parts;  // in quotes an empty literal stands before it
    return !parts.empty() && parts.back().kind == PartKind::parameter
           && std::all_of(parts.begin(), parts.end() - 1,
                          [](const Part& p) { return p.kind == PartKind::literal && p.text.empty(); });
}

bool begins_as_script(std::string_view text) {
    return text.starts_with("#!") && text.substr(0, text.find('\n')).find("python") == std::string_view::npos;
}

std::string group_suffix(std::int64_t group) {
    return group > 0 ? "@" + std::to_string(group) : std::string();
}

void read_sbatch(std::string_view text, Expander& x) {
    static constexpr std::pair<std::string_view, std::string_view> kShort[] = {
        {"N", "nodes"}, {"n", "ntasks"}, {"c", "cpus-per-task"}, {"G", "gpus"}, {"w", "nodelist"}};
    int group = 0;  // of a job of several kinds of nodes, which `#SBATCH hetjob` parts
    for (std::string_view row : split_lines(text)) {
        if (!row.starts_with("#SBATCH")) continue;
        row.remove_prefix(7);
        row = row.substr(0, row.find(" #"));
        const std::vector<std::string_view> words = split_words(row, " \t\r=");
        const std::string of = group_suffix(group);
        for (std::size_t i = 0; i < words.size(); ++i) {
            const std::string_view w = words[i];
            if (w == "hetjob") ++group;
            const std::string value(i + 1 < words.size() && !words[i + 1].starts_with("-") ? words[i + 1]
                                                                                           : "");
            if (w.starts_with("--")) {
                x.script.sbatch.insert_or_assign(std::string(w.substr(2)) + of, value);
            } else if (w.size() >= 2 && w[0] == '-') {
                for (const auto& [letter, name] : kShort)
                    if (w.substr(1, 1) == letter)
                        x.script.sbatch.insert_or_assign(std::string(name) + of,
                                                         w.size() > 2 ? std::string(w.substr(2)) : value);
            }
        }
    }
    const auto set = [&](std::string_view option, std::initializer_list<const char*> variables) {
        const auto it = x.script.sbatch.find(option);
        if (it == x.script.sbatch.end() || it->second.empty()) return;
        for (const char* v : variables) x.state.variables[v] = {{it->second}, false};
    };
    set("nodes", {"SLURM_NNODES", "SLURM_JOB_NUM_NODES"});
    set("nodelist", {"SLURM_JOB_NODELIST", "SLURM_NODELIST"});
    set("ntasks-per-node", {"SLURM_NTASKS_PER_NODE"});
    set("ntasks", {"SLURM_NTASKS", "SLURM_NPROCS"});
    set("gpus-per-node", {"SLURM_GPUS_PER_NODE"});
    set("cpus-per-task", {"SLURM_CPUS_PER_TASK"});
    for (int g = 0; group > 0 && g <= group; ++g) {
        const std::string number = "_HET_GROUP_" + std::to_string(g);
        set("nodes" + group_suffix(g), {("SLURM_JOB_NUM_NODES" + number).c_str()});
        set("nodelist" + group_suffix(g), {("SLURM_JOB_NODELIST" + number).c_str()});
    }
}

namespace {

// Returns the file that a line is of; null: the script itself.
const Source* file_with(const Script& script, int line) {
    const auto file = static_cast<std::size_t>(line / kLinesOfFile);
    return file == 0 || file > script.sources.size() ? nullptr : &script.sources[file - 1];
}

}  // namespace

interop::TextPlace place_in(const Script& script, int line) {
    const Source* of = file_with(script, line);
    return of ? interop::TextPlace{line % kLinesOfFile, of->file} : interop::TextPlace{line, {}};
}

int own_line(const Script& script, int line) {
    const Source* of = file_with(script, line);
    return of ? of->line : line;
}

const Unknown* unknown_in(const Script& script, std::string_view text) {
    const std::size_t begin = text.find(kUnknownBegin);
    if (begin == std::string_view::npos) return nullptr;
    std::size_t index = 0;
    const char* const end = text.data() + text.size();
    std::from_chars(text.data() + begin + 1, end, index);
    return index < script.unknowns.size() ? &script.unknowns[index] : nullptr;
}

const Unknown* sole_unknown_in(const Script& script, std::string_view text) {
    const bool whole = text.starts_with(kUnknownBegin) && text.find(kUnknownEnd) + 1 == text.size();
    return whole ? unknown_in(script, text) : nullptr;
}

std::string shown(const Script& script, std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != kUnknownBegin) {
            out.push_back(text[i]);
            continue;
        }
        const Unknown* u = unknown_in(script, text.substr(i));
        if (u) out += u->what.starts_with("$") ? u->what : "${" + u->what + "}";
        const std::size_t end = text.find(kUnknownEnd, i);
        if (end == std::string_view::npos) break;
        i = end;
    }
    return out;
}

}  // namespace pentamesh::shell
