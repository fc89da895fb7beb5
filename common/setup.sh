#!/bin/sh
# setup.sh run|test|plots|lint|aarch64|machines|unpack - installs what the course needs and this machine
# lacks.
#
#     run       a C17 and a C++17 compiler
#     test      also Criterion, the test framework
#     plots     gnuplot
#     lint      test's; clang with OpenMP, clang-format and clang-tidy; headless Chromium
#     aarch64   a cross compiler, and qemu
#     machines  MPI
#     unpack    test's, unpacked in build/packages: without install rights, on Debian or Ubuntu
#
# Lists what it will install and why, asks on a terminal before sudo, and never changes what is installed. If
# it cannot install, it prints the package and the command.
need=$1
unpacked=build/packages  # where the Makefile looks
again="$([ ! -f ../STARTER ] || echo 'cd course && ')sh common/setup.sh unpack"

refuse() { echo "$1" >&2; exit 2; }

case $need in run | test | plots | lint | aarch64 | machines | unpack) ;;
*) refuse "setup.sh: expected run, test, plots, lint, aarch64, machines or unpack, but got '$need'" ;;
esac

# Builds go to BUILD; can it be created?
case $need in run | test) place=${BUILD:-build} ;; unpack) place=$unpacked ;; *) place='' ;; esac
while [ -n "$place" ] && [ ! -e "$place" ]; do place=$(dirname "$place"); done
if [ -n "$place" ] && ! { [ -d "$place" ] && [ -w "$place" ]; }; then
    [ "$place" != . ] || place=$PWD
    refuse "$place: expected a folder that you may write to, for what is built: copy the course, or say BUILD=folder"
fi

compiles() {  # program text, libraries: does it build?
    folder=$(mktemp -d) || exit 2
    printf '%s\n' "$1" >"$folder/try.c"
    # shellcheck disable=SC2086
    ${CC:-cc} -std=c17 $CRITERION_CFLAGS "$folder/try.c" -o "$folder/try" $CRITERION_LDFLAGS $2 \
        >/dev/null 2>&1
    found=$?
    rm -rf "$folder"
    return $found
}
has() { command -v "$1" >/dev/null 2>&1; }

# Homebrew's folder, which compilers do not search, as in the Makefile.
if has brew && brew=$(brew --prefix) && [ -d "$brew/include/criterion" ]; then
    CRITERION_CFLAGS=${CRITERION_CFLAGS--isystem $brew/include}
    CRITERION_LDFLAGS=${CRITERION_LDFLAGS--L$brew/lib -Wl,-rpath,$brew/lib}
fi

# Each missing thing: its package for apt, dnf, pacman and brew, and why.
missing='' reasons=''
lacks() {  # apt dnf pacman brew reason
    case $manager in
    apt) package=$1 ;; dnf) package=$2 ;; pacman) package=$3 ;; brew) package=$4 ;; *) package=$1 ;;
    esac
    missing="$missing $package"
    reasons="$reasons    $package: $5
"
}

if has apt-get; then manager=apt
elif has dnf; then manager=dnf
elif has pacman; then manager=pacman
elif has brew; then manager=brew
else manager=none
fi

case $need in run | test | unpack)
    cc=${CC:-cc} cxx=${CXX:-c++}
    for compiler in "CC=$cc" "CXX=$cxx"; do
        command=${compiler#*=}
        command=${command%% *}  # it may have options, or call another: ccache gcc
        case ${compiler#*=} in cc | gcc | c++ | g++) continue ;; esac  # can be installed
        has "$command" || refuse "$compiler: expected a compiler, but there is no command $command here"
        case $compiler in CXX=*) language=c++ ;; *) language=c ;; esac
        said=$(echo 'int main(void) { return 0; }' | ${compiler#*=} -std=${language}17 -x $language - -o /dev/null 2>&1) ||
            refuse "$compiler: expected a compiler for ${language}17, but it said: $(echo "$said" | head -n 1)"
    done
    if ! compiles '#include <math.h>
int main(int c, char **v) { (void)v; return (int)exp(c) == 0; }' -lm; then
        lacks 'gcc libc6-dev' 'gcc glibc-devel' gcc gcc 'a C17 compiler, which builds the chapters'
    elif ! compiles 'typedef float vec __attribute__((vector_size(16)));
#if !defined(__clang__) && __GNUC__ < 10 || defined(__clang__) && __clang_major__ < 11
#error
#endif
int main(void) { return (int)(((vec){ 1 } < (vec){ 2 })[0]) == 0; }'; then
        refuse "$($cc --version 2>/dev/null | head -n 1): the course needs gcc 10 or clang 11, or later; where another is installed: make run CC=clang"
    fi
    has "${cxx%% *}" ||
        lacks g++ gcc-c++ gcc gcc 'a C++17 compiler, for the CUDA sources, which it makes run on the CPU'
    ;;
esac
case $need in test | lint | unpack)
    compiles '#include <criterion/criterion.h>
Test(a, b) {}' -lcriterion ||
        lacks 'libcriterion-dev' 'criterion-devel' criterion criterion \
            'Criterion, which the tests are written in'
    ;;
esac
case $need in plots)
    has gnuplot || lacks gnuplot-nox gnuplot gnuplot gnuplot 'gnuplot, which draws the pictures' ;;
esac
case $need in machines)
    has mpicc && has mpirun || lacks 'openmpi-bin libopenmpi-dev' 'openmpi openmpi-devel' openmpi open-mpi \
        'Open MPI, which sends messages between machines'
    ;;
esac
case $need in aarch64)
    if [ "$manager" = brew ] || [ "$(uname -s)" != Linux ]; then
        has aarch64-linux-gnu-g++ && has qemu-aarch64-static && exit 0
        echo "SKIPPED: it needs Linux, where apt, dnf and pacman have a compiler for aarch64 and qemu for its programs"
        exit 77
    fi
    has aarch64-linux-gnu-g++ || lacks g++-aarch64-linux-gnu gcc-c++-aarch64-linux-gnu \
        aarch64-linux-gnu-gcc '' 'a compiler for aarch64'
    has qemu-aarch64-static || lacks qemu-user-static qemu-user-static qemu-user-static '' \
        'qemu, which runs its programs'
    ;;
esac
case $need in lint)
    has clang || lacks 'clang libclang-rt-dev' 'clang compiler-rt' 'clang compiler-rt' llvm 'clang, the second compiler'
    # Apple's clang takes no -fopenmp, whatever is installed.
    [ "$manager" = none ] || [ "$manager" = brew ] || (CC=clang compiles '#include <omp.h>
int main(void) { return omp_get_max_threads() == 0; }' -fopenmp) ||
        lacks libomp-dev libomp-devel openmp '' "clang's OpenMP, with which threads are checked for races"
    has python3 || lacks python3 python3 python python 'Python 3, for the tools that check tables and pages'
    # Version 14 if available: others lay out code a little differently.
    has clang-format-14 || [ "$manager" != apt ] && has clang-format ||
        lacks clang-format-14 clang-tools-extra clang clang-format 'clang-format, the layout'
    has clang-tidy-14 || [ "$manager" != apt ] && has clang-tidy ||
        lacks clang-tidy-14 clang-tools-extra clang llvm 'clang-tidy, the linter'
    chromium=chromium-headless-shell
    ! grep -qs '^ID=ubuntu' /etc/os-release || chromium=chromium-browser
    has chromium-headless-shell || has chromium || has chromium-browser || has google-chrome ||
        lacks $chromium chromium chromium chromium 'Chromium, in which the tile stepper is tested'
    ;;
esac
[ -z "$missing" ] && exit 0

case $manager in
apt) install="apt-get install -y --no-install-recommends$missing" ;;
dnf) install="dnf install -y$missing" ;;
pacman) install="pacman -S --noconfirm$missing" ;;
brew) install="brew install$missing" ;;
*) install="" ;;
esac

printf 'This machine lacks:\n%s' "$reasons"
if [ "$need" = unpack ]; then
    case $manager,$missing in
    apt,*g++* | apt,*gcc*) echo "A compiler cannot be unpacked: it takes an administrator to run: $install"; exit 2 ;;
    apt,*) ;;
    *) echo "setup.sh can unpack packages of Debian and Ubuntu, and this is neither."; exit 2 ;;
    esac
    echo "Unpacking them, and what they need, in $unpacked"
    rm -rf "$unpacked.part"
    mkdir -p "$unpacked.part" "$(dirname "$unpacked")" || exit 2
    (
        cd "$unpacked.part" || exit
        # All that would be installed, even if apt has cached it.
        # shellcheck disable=SC2086  # names
        wanted=$(apt-get -s -y --no-install-recommends install $missing 2>log | sed -n 's/^Inst \([^ ]*\) .*/\1/p')
        [ -n "$wanted" ] || exit
        # shellcheck disable=SC2086
        apt-get download $wanted >>log 2>&1 || exit
        for package in *.deb; do dpkg -x "$package" . || exit; done
        rm -f -- *.deb
        # Links to libraries already on this machine, which were not unpacked.
        find . -type l | while IFS= read -r link; do
            there=$(dirname "${link#.}")/$(readlink "$link")
            [ -e "$link" ] || [ ! -e "$there" ] || ln -sf "$there" "$link"
            [ -e "$link" ] || case $link in *.so) echo "$link points to nothing"; exit 1 ;; esac
        done >>log
    ) || { tail -n 5 "$unpacked.part/log"; rm -rf "$unpacked.part"; echo "That failed. It takes an administrator to run: $install"; exit 2; }
    rm -rf "$unpacked"
    mv "$unpacked.part" "$unpacked"
    exit 0
fi
# Without install rights; a compiler cannot be unpacked.
without=''
case $manager,$need,$missing in
apt,test,*g++* | apt,test,*gcc*) without="Once there is a compiler: the rest, for this folder alone, by $again" ;;
apt,test,*) without="Without an administrator, for this folder alone: $again" ;;
esac
if [ -z "$install" ]; then
    echo "No package manager that setup.sh knows (apt, dnf, pacman, brew): please install them."
    exit 2
fi

as_root=''
if [ "$manager" != brew ] && [ "$(id -u)" -ne 0 ]; then
    as_root=sudo
    if ! has sudo; then
        echo "It takes an administrator to run: $install"
        [ -z "$without" ] || echo "$without"
        exit 2
    elif [ -t 0 ] && [ -t 1 ]; then
        printf 'Run "sudo %s" now? [y/N] ' "$install"
        read -r answer
        case $answer in y | Y | yes) ;; *) echo "Nothing was installed."; exit 2 ;; esac
    elif ! sudo -n true 2>/dev/null; then
        echo "sudo wants a password, and there is no terminal to ask on. Please run: sudo $install"
        [ -z "$without" ] || echo "$without"
        exit 2
    fi
fi

echo "Installing: $install"
log=$(mktemp) || exit 2
if [ "$manager" = apt ]; then
    DEBIAN_FRONTEND=noninteractive $as_root apt-get update >"$log" 2>&1
    install="env DEBIAN_FRONTEND=noninteractive $install"
fi
# shellcheck disable=SC2086
if ! $as_root $install >>"$log" 2>&1; then
    tail -n 15 "$log"
    rm -f "$log"
    echo "That failed. Please run it yourself: ${as_root:+sudo }${install#env DEBIAN_FRONTEND=noninteractive }"
    exit 2
fi
rm -f "$log"
