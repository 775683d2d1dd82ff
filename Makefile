# SPDX-License-Identifier: GPL-2.0-only
#
# The commands of this project.  `make help` lists them in the words of README.md, and
# `make lint` checks that.  The programs in scripts/ and qemu-test/ do the work; you can
# also call them directly.
#
# setup-NAME installs the missing packages of the list NAME in packages.txt.

CONFIG ?= default
ARCH ?= x86_64
N ?= 50
CROSS := $(filter i386 arm64 s390x,$(ARCH))
OTHER := $(patsubst %,--arch=%,$(filter-out x86_64,$(ARCH)))
MACHINE := $(shell dpkg --print-architecture 2>/dev/null)
DEB_ARM64 := $(if $(filter arm64,$(or $(FLAVOUR),$(MACHINE))),setup-deb-arm64 \
	$(if $(filter arm64,$(MACHINE)),,setup-deb-tools-arm64))

.DEFAULT_GOAL := help
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

.PHONY: help
help:			## print this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' Makefile | \
		while IFS="$$(printf '\t')" read -r name text; do \
			printf '  make %-10s %s\n' "$$name" "$$text"; done
	@echo
	@echo 'CONFIG is $(CONFIG) (a file of qemu-test/configs/), ARCH is $(ARCH) (or um, i386, arm64,'
	@echo 's390x); demo, shell, test and test-all take ARCH=arm64, too.  KERNEL_SRC=dir takes your own'
	@echo '6.1.y in place of the one from Debian.  The base is the unpatched kernel, the queue is'
	@echo 'patches/, and the overlay is the files here that the kernel does not have.'

.PHONY: demo
demo: setup-demo $(CROSS:%=setup-%)	## build the patched kernel, boot it in QEMU, show which lines hold its memory
	@scripts/kernel default $(ARCH)
	@qemu-test/demo --arch $(ARCH)

.PHONY: shell
shell: setup-demo $(CROSS:%=setup-%)	## boot the same kernel with an interactive shell
	@scripts/kernel default $(ARCH)
	@qemu-test/shell --arch $(ARCH)

.PHONY: test
test: setup-test $(CROSS:%=setup-%)	## run the tests of the tooling, KUnit, the guest tests, the demo and the packages; the last line counts them
	@scripts/test $(OTHER)

.PHONY: test-all
test-all: setup-test-all	## run make test, the long tests, and a build of every commit of the series
	@scripts/test --all $(OTHER)

.PHONY: kunit
kunit: setup-kernel	## run the KUnit tests alone, as User Mode Linux
	@scripts/kunit

.PHONY: bench
bench: setup-bench	## measure the patched kernel beside the base and mainline: table, CSV, SVG
	@scripts/bench

.PHONY: lint
lint: setup-lint	## run checkpatch --strict, sparse, shellcheck and the rules of patches/README.md
	@scripts/lint

.PHONY: kernel
kernel: setup-kernel $(CROSS:%=setup-%)	## build build/ARCH/CONFIG/ from qemu-test/configs/CONFIG.config
	@scripts/kernel $(CONFIG) $(ARCH)

.PHONY: randconfigs
randconfigs: setup-configs	## compile N random configurations (N=50): with and without profiling, SLUB and SLAB, SMP and not
	@scripts/build-configs random -n $(N)

.PHONY: deb
deb: setup-deb setup-deb-tools $(DEB_ARM64)	## build build/deb/FLAVOUR/: Debian packages of the patched kernel (FLAVOUR=cloud-amd64, amd64, arm64 or default) and codetag-tools
	@scripts/deb "$(FLAVOUR)"
	@scripts/deb-tools "$(FLAVOUR)"

.PHONY: tree
tree: setup-tree	## make build/linux, the base with overlay and queue, and build/linux-base, the base
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
series: setup-tree	## write build/series/: a cover letter and mails (IDENTITY='Name <mail>', CC_MAINTAINERS=1)
	@scripts/series

.PHONY: debian
debian: setup-debian	## write build/debian/: patches and configuration for a distribution's kernel package
	@scripts/debian-series

.PHONY: setup
setup:			## install the packages that any of these commands needs
	@scripts/setup

setup-%:
	@scripts/setup $*

.PHONY: clean
clean:			## remove what was built; the sources stay
	@scripts/clean

.PHONY: distclean
distclean:		## remove build/, unless build/linux has work that patches/ does not have
	@scripts/clean --all
