# SPDX-License-Identifier: BSD-3-Clause
# Short names for common tasks. CMake builds (CMakePresets.json); tools/ holds the scripts.
#   JOBS=n        parallel jobs; default: all cores
#   PREFIX=path   destination of install; default: /usr/local
#   HOURS=n       duration of soak; default: 1
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
HOURS ?= 1
SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h' '*.cl')
export DXP_JOBS := $(JOBS)

.PHONY: build demo check check-all clang asan tsan fuzz soak bench plots format tidy install
.PHONY: uninstall deb site clean help

build: ## programs to build/bin (the default); names missing packages, installs none
	@tools/setup --list build
	@mkdir -p build
	@cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build --preset release -j $(JOBS)

demo: ## from a bare machine to a photo classified by two xPUs; installs packages as root
	@tools/setup demo
	@$(MAKE) --no-print-directory build
	@tools/model
	@tools/demo

check: ## from a bare machine to tests (gcc; clang, ASan, UBSan); installs packages as root
	@tools/setup check
	@tools/check

check-all: ## as check, plus long tests, ThreadSanitizer, a short fuzz run, packages
	@tools/setup check
	@tools/setup deb
	@tools/setup site
	@tools/check tidy release release-long clang asan-all tsan fuzz packages

clang asan tsan fuzz: ## build one configuration and run its tests (fuzz: 30 s over all targets)
	@tools/setup --list check
	@tools/check $@

soak: build ## run new seeds of the simulator on all cores, HOURS=1; prints replays of failures
	@DXP_HOURS=$(HOURS) tools/soak

bench: build ## run all benchmarks, print tables; `tools/setup bench` installs the peers
	@build/bin/dxp bench all

plots: build ## bench into docs/reference (performance.md, plots); QUICK=1: a tenth, in build
	@tools/setup --list bench
	@tools/plots $(if $(QUICK),--quick)

format: ## format all C sources with clang-format
	@tools/setup --list check
	@clang-format -i $(SOURCES)

tidy: ## check the style
	@tools/tidy

install: build ## to PREFIX
	@cmake --install build --prefix $(PREFIX)
	@tools/install-hint $(PREFIX)

uninstall: ## removes what the last install wrote
	@test -f build/install_manifest.txt || \
		{ echo "nothing to remove: no build/install_manifest.txt of make install"; exit 1; }
	@sed "s|^|$(DESTDIR)|" build/install_manifest.txt | tr '\n' '\0' | xargs -0 rm -f
	@sed "s|^|$(DESTDIR)|;s|/[^/]*$$||" build/install_manifest.txt | sort -ru | grep /dxp | \
		tr '\n' '\0' | xargs -0 -r rmdir --ignore-fail-on-non-empty 2>/dev/null || true
	@rm -f build/install_manifest.txt

deb: ## Debian packages of the committed tree, to build/deb; `tools/setup deb` installs the tools
	@tools/setup --list deb
	@tools/deb

site: build ## web site of the documentation, to build/site; `tools/setup site` installs the tools
	@tools/setup --list site
	@tools/site

clean: ## remove all builds; models/ stays
	@rm -rf build build-clang build-debug build-asan build-tsan build-fuzz

help: ## this list
	@sed -n 's/^\([a-z -]*\):[^#]*## \(.*\)/  \1\t\2/p' Makefile | expand -t 26
