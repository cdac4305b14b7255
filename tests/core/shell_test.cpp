// Reads shell constructs as Bash does: the values are those that Bash 5.2 prints. A value that is wrong would
// be worse than one that is not known.
#include "core/base/files.h"
#include "core/interop/script/shell_script.h"

#include <doctest/doctest.h>
#include <string>

using namespace pentamesh;

namespace {

struct Row {
    const char* script;
    const char* value;
};

// Returns $V as a command that the script calls last gets it.
std::string value_of(const char* text) {
    const shell::Script script = shell::read_script(std::string(text) + "\nshow \"$V\"\n", "job.sh");
    REQUIRE(!script.invocations.empty());
    const shell::Invocation& last = script.invocations.back();
    REQUIRE(last.words.size() == 2);
    REQUIRE(last.words[0].text == "show");
    return shell::shown(script, last.words[1].text);
}

}  // namespace

TEST_CASE("a construct of the shell has the value that Bash gives it") {
    const Row rows[] = {
        {R"(V=a; while [[ $# -ge 1 ]]; do case "$1" in -m) V="$2"; shift;; esac; shift; done)", R"(a)"},
        {R"(V=a; while [ "$1" != "" ]; do V=$1; shift; done)", R"(a)"},
        {R"(x=2; while [ $x -gt 0 ]; do (( x-- )); done; V=$x)", R"(0)"},
        {R"(V=1; while [ $V -lt 40 ]; do V=$((V*2)); done)", R"(64)"},
        {R"(V=1; until [[ $V -ge 10 ]]; do V=$((V+3)); done)", R"(10)"},
        {R"(V=0; while (( V < 5 )); do V=$((V+1)); if [ $V = 3 ]; then break; fi; done)", R"(3)"},
        {R"(V=$((2*3**2)))", R"(18)"},
        {R"(V=$((2**3**2)))", R"(512)"},
        {R"(V=$((-2**2)))", R"(4)"},
        {R"(V=$((010+1)))", R"(9)"},
        {R"(x=3; V=$((x*(2+x)%7)))", R"(1)"},
        {R"(V=$((5>3 && 2>=2 || 0)))", R"(1)"},
        {R"(V=$((1?7:8)))", R"(7)"},
        {R"(V=$((7/2)) )", R"(3)"},
        {R"(V=$((-7/2)))", R"(-3)"},
        {R"(V=$((-7%3)))", R"(-1)"},
        {R"(V=$((!0 + !5)))", R"(1)"},
        {R"(x=4; (( x += 2 )); V=$x)", R"(6)"},
        {R"(x=4; (( x++ )); V=$x)", R"(5)"},
        {R"(x=4; if (( x > 3 )); then V=a; else V=b; fi)", R"(a)"},
        {R"(if [ -z "$1" ]; then V=a; else V=b; fi)", R"(a)"},  // a script without arguments
        {R"(if [ -z "$2" ]; then V=a; else V=b; fi)", R"(a)"},
        {R"(V=${1:-7})", R"(7)"},
        {R"(V=$#)", R"(0)"},
        {R"(f() { V=$2-$1-$#; }; f x y)", R"(y-x-2)"},
        {R"(f() { V=${3:-z}; }; f x y)", R"(z)"},
        {R"(f() { if [ -z "$3" ]; then V=a; else V=b; fi; }; f x y)", R"(a)"},
        {R"(f() { V="$*"; }; f x y)", R"(x y)"},
        {R"(f() { echo "--tp $1 --cp $2"; }; V=$(f 2 4))", R"(--tp 2 --cp 4)"},
        {R"(f() { echo "$#-$1"; }; V=x$(f a b)y)", R"(x2-ay)"},
        {R"(g() { echo "<$1>"; }; f() { echo "$(g $1)!"; }; V=$(f a))", R"(<a>!)"},
        {R"(x=0; f() { x=$1; echo "$x$x"; }; V=$(f 7)$x)", R"(770)"},
        {R"(X=llama-3-70b; V=${X##*-})", R"(70b)"},
        {R"(X=llama-3-70b; V=${X#*-})", R"(3-70b)"},
        {R"(X=llama-3-70b; V=${X%-*})", R"(llama-3)"},
        {R"(X=llama-3-70b; V=${X%%-*})", R"(llama)"},
        {R"(X=a/b/c; V=${X//\//-})", R"(a-b-c)"},
        {R"(X=a/b/c; V=${X/\//-})", R"(a-b/c)"},
        {R"(X=a1b22; V=${X//[0-9]/})", R"(ab)"},
        {R"(X=a1b22; V=${X/[0-9]*/x})", R"(ax)"},
        {R"(X=abab; V=${X/#ab/x})", R"(xab)"},
        {R"(X=abab; V=${X/%ab/x})", R"(abx)"},
        {R"(X=abcdef; V=${X:2:3})", R"(cde)"},
        {R"(X=abcdef; V=${X: -2})", R"(ef)"},
        {R"(X=abcdef; V=${X:1:-1})", R"(bcde)"},
        {R"(X=abcdef; V=${#X})", R"(6)"},
        {R"(X=aBc; V=${X^^})", R"(ABC)"},
        {R"(X=aBc; V=${X,,})", R"(abc)"},
        {R"(X=aBc; V=${X^})", R"(ABc)"},
        {R"(V=${N:-4})", R"(4)"},
        {R"(N=; V=${N:-4})", R"(4)"},
        {R"(N=; V=${N-4})", R"()"},
        {R"(V=${N:=5}; V=$N$V)", R"(55)"},
        {R"(N=1; V=${N:+x})", R"(x)"},
        {R"(V=${N+x}y)", R"(y)"},
        {R"(N=1; V=${N:?no})", R"(1)"},
        {R"(A=(a b c d); V="${A[@]:1:2}")", R"(b c)"},
        {R"(A=(a b c d); V=${A[2]})", R"(c)"},
        {R"(A=(a b c d); V=${A[-1]})", R"(d)"},
        {R"(A=(a b c d); V=${#A[@]})", R"(4)"},
        {R"(A=(a b c d); V="${!A[@]}")", R"(0 1 2 3)"},
        {R"(A=(a b); A+=(c); V="${A[*]}")", R"(a b c)"},
        {R"(X=a; X+=b; V=$X)", R"(ab)"},
        {R"(Y=3; X=Y; V=${!X})", R"(3)"},
        {R"(for x in a b c; do if [ $x = b ]; then continue; fi; V+=$x; done)", R"(ac)"},
        {R"(for x in a b c; do if [ $x = b ]; then break; fi; V+=$x; done)", R"(a)"},
        {R"(X=1; (X=2); V=$X)", R"(1)"},
        {R"(f() { local X=2; V=$X; }; X=1; f; V=$V$X)", R"(21)"},
        {R"(f() { V=$2; }; f a b)", R"(b)"},
        {R"(f() { shift 2; V=$1; }; f a b c)", R"(c)"},
        {R"(f() { V="${@:2}"; }; f a b c)", R"(b c)"},
        {R"(f() { V=$#; }; f a b c)", R"(3)"},
        {R"(f() { V=x; return; V=y; }; f)", R"(x)"},
        {R"(function g { V=$*; }; g 1 2)", R"(1 2)"},
        {R"(case ab in a*) V=1 ;; *) V=2 ;; esac)", R"(1)"},
        {R"(case x in a|x) V=1 ;; *) V=2 ;; esac)", R"(1)"},
        {R"(case a1 in [a-c][0-9]) V=1 ;; *) V=2 ;; esac)", R"(1)"},
        {R"(case a1 in [!a-c]*) V=1 ;; *) V=2 ;; esac)", R"(2)"},
        {R"(case a in a) V=1 ;& b) V+=2 ;; c) V+=3 ;; esac)", R"(12)"},
        {R"(case a in a) V=1 ;;& a*) V+=2 ;; c) V+=3 ;; esac)", R"(12)"},
        {R"(if [ 3 -gt 2 -a 1 -lt 2 ]; then V=y; else V=n; fi)", R"(y)"},
        {R"(if [[ abc == a* && ! x == y ]]; then V=y; else V=n; fi)", R"(y)"},
        {R"(if [[ b > a ]]; then V=y; else V=n; fi)", R"(y)"},
        {R"(if [ -z "$N" ]; then V=y; else V=n; fi)", R"(y)"},
        {R"(if [ -n "a" ] && ! [ 1 -eq 2 ]; then V=y; else V=n; fi)", R"(y)"},
        {R"(if [ 2 -ne 2 ] || [ 2 -le 1 ] || [ 2 -ge 2 ]; then V=y; else V=n; fi)", R"(y)"},
        {R"(if [ a = b ]; then V=1; elif [ a != b ]; then V=2; else V=3; fi)", R"(2)"},
        {R"([ 1 -eq 1 ] && V=y || V=n)", R"(y)"},
        {R"(false || V=y)", R"(y)"},
        {R"(true && V=y)", R"(y)"},
        {R"(! false && V=y)", R"(y)"},
        {R"(eval "V=5")", R"(5)"},
        {R"(X=V; eval "$X=6")", R"(6)"},
        {R"(V='a b'; V="$V c")", R"(a b c)"},
        {R"(V=a\ b)", R"(a b)"},
        {R"(V=$'x')", R"(x)"},
        {R"(unset X; V=${X:-u})", R"(u)"},
        {R"(export V=7)", R"(7)"},
        {R"(declare V=8)", R"(8)"},
        {R"(readonly V=9)", R"(9)"},
        {R"({ V=10; })", R"(10)"},
        {R"(X="a  b"; set -f; for w in $X; do V+=[$w]; done)", R"([a][b])"},
        {R"(x=1; V=$(( x == 1 ? x + 1 : x - 1 )))", R"(2)"},
        {R"(X=a/b; V=${X////-})", R"(a-b)"},
        {R"(X=abcdef; V=${X::2})", R"(ab)"},
        {R"(X=abc; V=[${X: -5}])", R"([])"},
        {R"(X=abc; V=${X/#/p})", R"(pabc)"},
        {R"(X=abc; V=${X/%/s})", R"(abcs)"},
        {R"(A=(a b c); V="${A[@]: -2}")", R"(b c)"},
        {R"(A=(a b c); V="${A[@]:1}")", R"(b c)"},
        {R"(f() { V="${@:1:2}"; }; f a b c)", R"(a b)"},
        {R"(f() { V="${*:2}"; }; f a b c)", R"(b c)"},
        {R"(X=a.b.c; V=${X//./-})", R"(a-b-c)"},
        {R"(X=1; { X=2; }; V=$X)", R"(2)"},
        {R"(X=1; true | X=2; V=$X)", R"(1)"},
        {R"(X=1; (X=2; exit 1); V=$X)", R"(1)"},
        {R"(f() { declare -g X=2; }; X=1; f; V=$X)", R"(2)"},
        {R"(f() { V=$1; shift; V+=$1; }; f a b)", R"(ab)"},
        {R"(X=ab12; V=${X%%[0-9]*})", R"(ab)"},
        {R"(X=ab12; V=${X/[!0-9]/x})", R"(xb12)"},
        {R"(X="a b"; Y="${X} c"; V=${Y#a })", R"(b c)"},
        {R"(V=${N:-${M:-deep}})", R"(deep)"},
        {R"(A=(1 2 3); s=0; for x in "${A[@]}"; do s=$((s + x)); done; V=$s)", R"(6)"},
        {R"(X=5; V=$((X > 3 ? X : 3)))", R"(5)"},
        {R"(V="a\"b")", R"(a"b)"},
        {R"(V='$X')", R"($X)"},
        {R"(case b in a) V=1 ;; b) V=2 ;& c) V+=3 ;; d) V+=4 ;; esac)", R"(23)"},
        {R"(for x in a b; do for y in 1 2; do [ $y = 2 ] && continue; V+=$x$y; done; done)", R"(a1b1)"},
        {R"(V=$(( (1 + 2) * (3 + 4) )))", R"(21)"},
        {R"(V=$((7 % 4 ** 2)))", R"(7)"},
        {R"(for (( i=0; i<3; i++ )); do V+=x; done)", "xxx"},
        {R"x(A=(); A+=(1 2); printf -v V "[%s]" "$(IFS=', '; echo "${A[*]}")")x", "[1,2]"},
        {R"(printf -v V '%s+' a b)", "a+b+"},
        {R"(V=$(echo a  b))", "a b"},
        {R"(X=1; Y=$(X=2; echo $X); V=$X$Y)", "12"},
        {R"(Y=$(echo ${X:=2}); V=[${X:-}]$Y)", "[]2"},
        {R"x(f() { for ((i=0;i<3;i++)); do V=4; return; done; V=5; }; f)x", "4"},
        {R"x(N="for ((i=0;i<900;i++)); do "; eval "$N$N$N$N X=1; done; done; done; done"; V=5)x", "5"},
        {R"(X=1; bash -c "X=2; exit 1"; V=$X)", "1"},
        {"X=4\ncat > env.txt <<E\nX=8\nPATH=/opt/python/bin\nE\nV=$X", "4"},
        {"cat > x.sh <<E\n#!/bin/bash\nexport X=4\nexit 0\npython a.py\nE\nV=${X:-1}", "1"},
        {"X=1\nbash <<E\nX=2\nexit 0\nE\nV=$X", "1"},
        {R"(A=(a b c); A[1]=x; V="${A[*]}")", "a x c"},
        {R"(A=(a b); A[5]=z; V="${A[*]} ${#A[@]} ${!A[*]} ${A[5]} [${A[3]}]")", "a b z 3 0 1 5 z []"},
        {R"(A=(a [4]=b c); V="${A[5]} ${A[-1]} ${#A[@]}")", "c c 3"},
        {R"(A=(1 2); A[0]+=5; V="${A[*]}")", "15 2"},
        {R"(i=1; A=(a b); A[i+1]=c; V="${A[*]}")", "a b c"},
        {R"(A=x; A[1]=y; V="${A[*]}")", "x y"},
        {R"(A=(); V="${A-none} ${A[0]:-zero}")", "none zero"},
        {R"(A=(a b c); unset "A[1]"; V="${A[*]} ${A[2]}")", "a c c"},
        {R"(A=(a bcd); V="${#A[1]}")", "3"},
        {R"(declare -A M=([tp]="--tp 4" [pp]=2); M[ep]=8; V="${M[tp]} ${M["pp"]} ${M[ep]}")", "--tp 4 2 8"},
        {R"(f() { V=$#; }; A=("--x 1" "--y"); f ${A[@]})", "3"},
        {R"(f() { V=$#; }; A=("--x 1" "--y"); f "${A[@]}")", "2"},
        {R"(f() { V=$#; }; A=("--x 1" "--y"); f ${A[*]})", "3"},
        {R"(f() { V=$#; }; A=("--x 1" "--y"); f "${A[*]}")", "1"},
        {R"(f() { V=$1+$3+$#; }; A=("--x 1" "--y"); f p${A[@]}q)", "p--x+--yq+3"},
        {R"(f() { V=$1+$2+$#; }; A=("--x 1" "--y"); f "p${A[@]}q")", "p--x 1+--yq+2"},
        {R"(f() { V=$1+$3+$#; }; IFS=,; L="a,b,,c"; f $L)", "a++4"},
        {R"(f() { V=$1+$2+$#; }; IFS=" ,"; L="a , b,"; f $L)", "a+b+2"},
        {R"(f() { V=$1+$2+$#; }; IFS=$'\n'; L="a n
b"; f $L)",
         "a n+b+2"},
        {R"(f() { V=$#; }; IFS=; A=("a b" c); f ${A[@]})", "2"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.script);
        CHECK(value_of(row.script) == row.value);
    }
}

TEST_CASE("what only a running shell knows, or is not read, stays a named unknown") {
    const Row rows[] = {
        {R"(x=3; V=$((--x)))", R"($((--x)))"},
        {R"(for x in 1 2 3; do V=$((V + x)); done)", R"($((V + x)))"},
        {R"(f() { local X; V=[$X]; }; X=1; f; V+=$X)", R"([${X}]1)"},
        {R"(V=$((1 << 3)))", R"($((1 << 3)))"},
        {R"(V=$((0x10)))", R"($((0x10)))"},
        {R"(V=$((08)))", R"($((08)))"},
        {R"(X=3; V=$((X--)))", R"($((X--)))"},
        {R"(if [ 010 -eq 10 ]; then V=y; else V=n; fi)", R"(${V})"},
        {R"(V=$((2 ** -1)))", R"($((2 ** -1)))"},
        {R"(V=$((1 / 0)))", R"($((1 / 0)))"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.script);
        CHECK(value_of(row.script) == row.value);
    }
}

TEST_CASE("a command is found where the shell would run it, in whichever script or text it stands") {
    const Row rows[] = {
        {R"(bash -c "show 5")", R"(5)"},
        {R"(bash -lc 'show 5')", R"(5)"},
        {"bash <<EOF\nshow 5\nEOF", R"(5)"},
        {R"(ssh host bash -c "show 5")", R"(5)"},
        {"sbatch <<'EOF'\n#!/bin/bash\nshow 5\nEOF", R"(5)"},
        {"cat <<-END > f\n\tnothing 4\n\tEND\nshow 5", R"(5)"},
        {"cat <<'USAGE'\nnothing 4 torchrun a.py\nUSAGE\nshow 5", R"(5)"},
        {"cat > r.py <<E\n#!/usr/bin/env python\nnothing 4\nE\nshow 5", R"(5)"},
        {"cat > r.sh <<E\n#!/bin/bash\nV=5\nshow \\$V \"\\a\"\nE", R"(5)"},
        {"V=5\ncat > r.sh <<E\n#!/bin/bash\nV=4\nshow \"$V\"\nE", R"(5)"},
        {"V=4\ncat > r.sh <<'E'\n#!/bin/bash\nV=5\nshow $V\nE", R"(5)"},
        {"for ((i=0;i<2000;i++)); do show 5; done", R"(5)"},
        {R"(diff <(nothing 4) x; show 5)", R"(5)"},
        {R"(show 5 2>&1 > log &)", R"(5)"},
        {R"(X=$(nothing 4); show 5)", R"(5)"},
        {"show \\\n 5", R"(5)"},
        {R"(show 5 # 6)", R"(5)"},
        {"#SBATCH --nodes=5\nshow $SLURM_NNODES", R"(5)"},
        {"#SBATCH -N 5\nshow $SLURM_JOB_NUM_NODES", R"(5)"},
        {"#SBATCH -n5 # five\nshow $SLURM_NTASKS", R"(5)"},
        {"if x; then V=\"5 6\"; else V=\"5 7\"; fi\nshow $V", R"(${V})"},
        {"A=(5)\nif x; then A+=(--bar 1); fi\nshow ${A[@]}", R"(5)"},
        {"while x; do V=4; done\nshow 5", R"(5)"},
        {"f() { f; show 5; }\nf", R"(5)"},
        {"read V\nshow $V", R"(${V})"},
        {R"(show `hostname`)", R"($(hostname))"},
        {R"(show $1)", R"($1)"},
        {R"(show "$@")", R"($@)"},
        {"case $1 in a) V=1;; esac\nshow $V", R"(${V})"},
        {R"(show $?)", R"($?)"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.script);
        const shell::Script script = shell::read_script(std::string(row.script) + "\n", "job.sh");
        int shows = 0;
        for (const shell::Invocation& i : script.invocations) {
            CHECK(i.words[0].text != "nothing");
            if (i.words[0].text != "show") continue;
            ++shows;
            REQUIRE(i.words.size() >= 2);
            CHECK(shell::shown(script, i.words[1].text) == row.value);
        }
        CHECK(shows == 1);
    }
}

TEST_CASE("a script that the shell would refuse is refused with what is missing, and the line") {
    const Row rows[] = {
        {R"(V='a)", R"(the quote ' that begins here does not end)"},
        {R"(V="a)", R"(the quote " that begins here does not end)"},
        {R"(V=`a)", R"(the quote ` has no end)"},
        {R"(V=${A)", R"("{" that begins here has no "}")"},
        {R"(V=${A[)", R"("{" that begins here has no "}")"},
        {R"(V=$((1)", R"x("(" that begins here has no ")")x"},
        {R"((( 1)", R"x("(" that begins here has no ")")x"},
        {R"((( 1 ))", R"x("((" has no "))")x"},
        {R"(if true; then x)", R"("if" of line 1 has no "fi")"},
        {R"(if true; x; fi)", R"("if" of line 1 has no "then")"},
        {R"(case a in a) x ;;)", R"("case" of line 1 has no "esac")"},
        {R"(case a of)", R"("case" of line 1 has no "in")"},
        {R"([[ a == a)", R"("[[" of line 1 has no "]]")"},
        {R"(A=(a b)", R"x(the list A=( has no ")")x"},
        {R"(fi)", R"("fi" without its beginning)"},
        {R"(done)", R"("done" without its beginning)"},
        {R"(x ))", R"x(")" without its beginning)x"},
        {R"(for x in a; x; done)", R"("for" of line 1 has no "do")"},
        {R"(for ; do x; done)", R"(a name is missing)"},
        {R"(function)", R"(a name is missing)"},
        {R"({ x)", R"("{" of line 1 has no "}")"},
        {R"(( x)", R"x("(" of line 1 has no ")")x"},
        {R"(x; ; ))", R"x(")" without its beginning)x"},
        {R"(| x)", R"("|" stands where a command must begin)"},
        {R"(V=$(a)", R"x("(" that begins here has no ")")x"},
        {R"(while true; x)", R"("while" of line 1 has no "do")"},
        {R"(until true; do x)", R"("while" of line 1 has no "done")"},
        {R"(})", R"("}" without its beginning)"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.script);
        std::string said;
        try {
            static_cast<void>(shell::read_script(std::string(row.script) + "\n", "job.sh"));
        } catch (const Error& e) {
            said = e.what();
        }
        CAPTURE(said);
        CHECK(said.starts_with("job.sh: line "));
        CHECK(said.ends_with(row.value));
    }
}

TEST_CASE("what a command in $( ) gets is not asked for") {
    const shell::Script script = shell::read_script("run $(hostname -f $A ${B}) $(echo -e $C)\n", "job.sh");
    REQUIRE(script.unknowns.size() == 3);
    CHECK(script.unknowns[0].what == "$(hostname -f $A ${B})");
}

TEST_CASE("expr works out whole numbers as $(( )) does, and what it cannot is unknown") {
    const shell::Script script = shell::read_script(
        "N=4\nrun $(expr 16 / $N) $(expr $N \\* 3 + 1) `expr 7 % 4` $(expr 1 / 0) $(expr length abc)\n",
        "job.sh");
    REQUIRE(script.invocations.size() == 1);
    const auto& words = script.invocations[0].words;
    REQUIRE(words.size() == 6);
    CHECK(words[1].text == "4");
    CHECK(words[2].text == "13");
    CHECK(words[3].text == "3");
    CHECK(shell::sole_unknown_in(script, words[4].text));
    CHECK(shell::sole_unknown_in(script, words[5].text));
    CHECK_FALSE(shell::sole_unknown_in(script, words[1].text));
}
