# SPDX-License-Identifier: GPL-2.0-only
#
# Everything a person types.  Each target installs and fetches what it lacks:
# setup-NAME installs the list NAME of packages.txt.  `make help` lists the targets.
# The work is in scripts/ and qemu-test/, which can be called directly, too.

CONFIG ?= default
ARCH ?= x86_64
CROSS := $(filter i386 arm64 s390x,$(ARCH))

.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

.PHONY: help
help:			## this list
	@echo 'Variables: CONFIG=$(CONFIG) (qemu-test/configs/), ARCH=$(ARCH) (or um),'
	@echo 'KERNEL_SRC=dir (your own 6.1.y in place of the one of Debian).'
	@echo
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' Makefile | \
		while IFS="$$(printf '\t')" read -r name text; do \
			printf '  make %-10s %s\n' "$$name" "$$text"; done

.PHONY: demo
demo: setup-demo	## build the patched kernel, boot it, show which lines hold its memory
	@scripts/kernel default x86_64
	@qemu-test/demo

.PHONY: shell
shell: setup-demo	## the same kernel, an interactive shell inside
	@scripts/kernel default x86_64
	@qemu-test/shell

.PHONY: test
test: setup-test	## the tests of the tooling, KUnit, the QEMU tests; last line N passed, N failed
	@scripts/test

.PHONY: test-all
test-all: setup-test-all	## those, the long QEMU tests, and a build of every commit of the series
	@scripts/test --all

.PHONY: kunit
kunit: setup-kernel	## the KUnit tests alone, as User Mode Linux
	@scripts/kunit

.PHONY: bench
bench: setup-bench	## ours beside the base and mainline (BENCH_PEER=0: without): table, CSV, SVG
	@scripts/bench

.PHONY: lint
lint: setup-lint	## checkpatch --strict, sparse, shellcheck, the rules of patches/README.md
	@scripts/lint

.PHONY: kernel
kernel: setup-kernel $(CROSS:%=setup-%)	## build build/$(ARCH)/$(CONFIG)/ from qemu-test/configs/$(CONFIG).config
	@scripts/kernel $(CONFIG) $(ARCH)

.PHONY: tree
tree: setup-tree	## build/linux, the base with overlay and queue; build/linux-base, the base
	@scripts/tree

.PHONY: refresh
refresh: setup-tree	## write the commits of build/linux back to patches/
	@scripts/refresh

.PHONY: rebase
rebase: setup-tree	## move base and queue to the newest 6.1.y of the archive
	@scripts/rebase

.PHONY: apply
apply: setup-apply	## put overlay and queue into your own 6.1 tree: make apply KERNEL_SRC=dir
	@scripts/apply "$(KERNEL_SRC)"

.PHONY: series
series: setup-tree	## build/series/0000-cover-letter.patch and on, for git am
	@scripts/series

.PHONY: setup
setup:			## install the packages of packages.txt that lack
	@scripts/setup

setup-%:
	@scripts/setup $*

.PHONY: clean
clean:			## remove built kernels; the sources stay
	@scripts/clean

.PHONY: distclean
distclean:		## remove build/ whole, if build/linux holds no work that patches/ lacks
	@scripts/clean --all
