# The entry point of the build; CMake does the work. `make help` lists the targets.
#
# Every target installs the packages it is missing (packages.txt, scripts/setup.sh) and configures its build
# directory the first time only. Useful variables:
#
#   CC=clang              the compiler, when a build directory is first configured
#   BUILD=build           the build directory
#   CMAKE_ARGS=           more options for CMake, e.g. -DTRELLIS_WERROR=OFF
#   JOBS=N                compile and test N things at a time (default: one per processor)
#   SETUP=no              install no packages
#   PREFIX=/usr/local DESTDIR=    where `make install` puts things
#   FUZZ_SECONDS=60       how long `make fuzz` runs each fuzzer (`make reliability`: 30)
#   FUZZ_ENGINE=libfuzzer what `make fuzz` runs them with: libfuzzer or afl (AFL++)
#   RESUME=yes            tests: leave out those that passed before in the same build of the library
#   MUTANTS=200           how many places of src/ `make mutants` changes

BUILD        ?= build
CMAKE_ARGS   ?=
JOBS         ?= $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
SETUP        ?= yes
PREFIX       ?= /usr/local
DESTDIR      ?=
FUZZ_SECONDS ?= 60
FUZZ_ENGINE  ?= libfuzzer
MUTANTS      ?= 200
RESUME       ?= no

.DEFAULT_GOAL := all
.NOTPARALLEL:
.PHONY: all mpi demo test bench install uninstall wheel lint format asan tsan races compilers cross coverage fuzz soak mutants reliability stress clean help

ifeq ($(origin CC),default)
compiler =
else
compiler = -DCMAKE_C_COMPILER=$(CC)
endif

# A comma inside $(call).
, := ,

# $(call setup,GROUPS)
setup = $(if $(filter yes,$(SETUP)),scripts/setup.sh $(1),:)
# $(call configure,DIRECTORY,OPTIONS): the Makefile is the last file that CMake writes, so it marks a configured directory.
configure = test -f $(1)/Makefile || cmake -S . -B $(1) -G "Unix Makefiles" $(compiler) $(2) $(CMAKE_ARGS)
# $(call compile,DIRECTORY,TARGET)
compile = MAKEFLAGS= cmake --build $(1) --parallel $(JOBS) --target $(2) -- --no-print-directory
# Tests are many times slower under the thread sanitizer.
tsan = -DCMAKE_BUILD_TYPE=Debug -DTRELLIS_SANITIZE=thread -DTRELLIS_TEST_TIMEOUT=3600
# $(call run_tests,DIRECTORY,OPTIONS[,TARGET,OPTIONS OF CTEST]): configures again if the directory was configured
# without tests; runs all tests, unless a target builds some and options for ctest select them.
define run_tests
@grep -qsx 'TRELLIS_TESTS:BOOL=ON' $(1)/CMakeCache.txt && test -f $(1)/Makefile || \
    cmake -S . -B $(1) -G "Unix Makefiles" $(compiler) -DTRELLIS_TESTS=ON $(2) $(CMAKE_ARGS)
@$(call compile,$(1),$(if $(3),$(3),build_tests))
@JOBS=$(JOBS) RESUME=$(RESUME) scripts/run_tests.sh $(1) $(4)
endef

all: ## build the command and both libraries into build/
	@$(call setup,build)
	@$(call configure,$(BUILD))
	@$(call compile,$(BUILD),all)

mpi: ## build trellis-mpi as well, the command for training on many machines
	@$(call setup,build mpi)
	@cmake -S . -B $(BUILD) -G "Unix Makefiles" $(compiler) $(CMAKE_ARGS) -DTRELLIS_MPI=ON
	@$(call compile,$(BUILD),all)
	@test -x $(BUILD)/trellis-mpi || { echo "no MPI was found; give its compiler as CMAKE_ARGS=-DMPI_C_COMPILER=..."; exit 1; }

demo: all ## train and evaluate four taggers on the corpora that ship, then tag a sentence
	@scripts/demo.sh $(BUILD)

bench: all ## measure speed, memory and scaling, compared with other tools on PATH; BENCH_FULL=1 takes longer
	@bench/run.sh $(BUILD)/trellis $(BUILD)/bench.json

test: ## build and run all tests
	@$(call setup,build test mpi)
	$(call run_tests,$(BUILD))

install: all ## install into $(DESTDIR)$(PREFIX)
	@DESTDIR='$(DESTDIR)' cmake --install $(BUILD) --prefix '$(PREFIX)'
	@cp $(BUILD)/install_manifest.txt $(BUILD)/installed.txt
	@if [ -z '$(DESTDIR)' ] && [ "$$(id -u)" = 0 ]; then ldconfig || true; fi

uninstall: ## remove what the last `make install` from this directory installed
	@test -f $(BUILD)/installed.txt || { echo "nothing was installed from $(BUILD)/"; exit 1; }
	@sed 's|^|$(DESTDIR)|' $(BUILD)/installed.txt | tr '\n' '\0' | xargs -0 rm -fv

wheel: all ## build a wheel of the Python package with all libraries in it, and its sdist
	@$(call setup,build test wheel)
	@scripts/wheel.sh $(BUILD)

lint: ## check formatting (clang-format) and run static analysis (clang-tidy, cppcheck)
	@$(call setup,build test mpi lint)
	@$(call configure,$(BUILD))
	@JOBS=$(JOBS) scripts/lint.sh $(BUILD)

format: ## format all .c and .h files with clang-format
	@$(call setup,lint)
	@scripts/lint.sh --format

asan: ## run all tests under the address and undefined-behaviour sanitizers
	@$(call setup,build test mpi)
	$(call run_tests,build-asan,-DCMAKE_BUILD_TYPE=Debug -DTRELLIS_SANITIZE=address$(,)undefined)

tsan: ## run all tests under the thread sanitizer
	@$(call setup,build test mpi)
	$(call run_tests,build-tsan,$(tsan))

races: ## run the tests that use threads under the thread sanitizer
	@$(call setup,build test mpi)
	$(call run_tests,build-tsan,$(tsan),build_thread_tests,-L threads)

compilers: ## run all tests as gcc and clang compile them, without optimising and with -O3
	@$(call setup,build test mpi)
	@for compiler in gcc clang; do for level in 0 3; do \
	    $(MAKE) test SETUP=no BUILD=build-$$compiler-O$$level CC=$$compiler \
	        CMAKE_ARGS="-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O$$level" || exit 1; \
	done; done

cross: all ## run the unit tests on s390x, which is big-endian, by qemu-user
	@$(call setup,build test cross)
	@RESUME=$(RESUME) scripts/cross.sh s390x build-s390x

coverage: ## run all tests and measure the line coverage of src/
	@$(call setup,build test mpi)
	@find build-coverage -name '*.gcda' -delete 2>/dev/null || true
	$(call run_tests,build-coverage,-DCMAKE_BUILD_TYPE=Debug -DTRELLIS_COVERAGE=ON)
	@scripts/coverage.sh build-coverage

fuzz: ## run each tests/fuzz/fuzz_*.c for FUZZ_SECONDS and keep what it found
	@$(call setup,build test mpi $(filter afl,$(FUZZ_ENGINE)))
	@FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_ENGINE=$(FUZZ_ENGINE) JOBS=$(JOBS) scripts/fuzz.sh build-fuzz

soak: all ## tag 10^8 tokens and train for 1,000 epochs, monitoring memory
	@scripts/soak.sh $(BUILD)

stress: all ## send a million mixed requests and garbage to trellis serve
	@TRELLIS=$(abspath $(BUILD))/trellis STRESS_REQUESTS=1000000 scripts/with_tmp.sh bash tests/serve/test_stress.sh

mutants: ## mutation testing: all loops of the kernels, and MUTANTS places drawn from all of src/
	@$(call setup,build test mpi)
	@nice scripts/mutants.py build-mutants --jobs $(JOBS) --loops src/base/kernels_body.h src/dataset/row_kernels_body.h
	@nice scripts/mutants.py build-mutants --jobs $(JOBS) --count $(MUTANTS)

reliability: ## run all stress tests and fuzzers and write the tables in docs/reliability.md
	@$(call setup,build test mpi)
	@$(call configure,$(BUILD),-DTRELLIS_TESTS=ON)
	@$(call compile,$(BUILD),build_tests)
	@FUZZ_SECONDS=$(if $(filter file,$(origin FUZZ_SECONDS)),30,$(FUZZ_SECONDS)) JOBS=$(JOBS) scripts/reliability.sh $(BUILD)

clean: ## remove all build directories
	rm -rf $(BUILD) build-asan build-tsan build-coverage build-fuzz build-mutants build-gcc-O* build-clang-O* build-s390x

help: ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

