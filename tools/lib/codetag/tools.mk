# SPDX-License-Identifier: GPL-2.0-only
#
# The common part of the Makefiles of the tools. A Makefile sets PROGRAMS,
# TEST_PROGRAMS, FUZZERS and COMPLETION, then includes this file. The manual page of a program is
# PROGRAM.8 if the program is for root, else PROGRAM.1. COMPLETION is the file with the
# completions of all these programs for bash.
#
#	make O=dir		put the products into dir
#	make STATIC=1		link statically, for an initramfs, if the Makefile supports it
#	make SANITIZE=1		build with the sanitizers for addresses and undefined behaviour
#	make install		the programs, their manual pages and completions: to
#				$(DESTDIR)$(prefix), or to bindir, sbindir, mandir and
#				completionsdir; sbindir is bindir if only that is given

.DEFAULT_GOAL := all

ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
ifeq ($(origin AR),default)
AR := $(CROSS_COMPILE)ar
endif
CLANG ?= clang
PKG_CONFIG ?= $(CROSS_COMPILE)pkg-config
INSTALL ?= install
SECONDS ?= 30
prefix ?= /usr/local
bindir ?= $(prefix)/bin
sbindir ?= $(if $(filter file,$(origin bindir)),$(prefix)/sbin,$(bindir))
mandir ?= $(prefix)/share/man
completionsdir ?= $(prefix)/share/bash-completion/completions

# What --version of all programs prints. A package passes its own version.
TOOLS_VERSION ?= 1.0

CODETAG_LIB := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
UAPI := $(CODETAG_LIB)/../../../include/uapi

# As in kbuild, O is relative to the directory in which make was called.
ifneq ($(O),)
OUT := $(shell cd "$(PWD)" && mkdir -p "$(O)" && cd "$(O)" && pwd)
ifeq ($(OUT),)
$(error cannot make the directory $(O))
endif
else
OUT := $(CURDIR)
endif

# Only headers that libc does not have are taken from the kernel.
CPPFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I$(CODETAG_LIB) -I$(OUT) \
	    -DTOOLS_VERSION='"$(TOOLS_VERSION)"' \
	    -idirafter $(UAPI)
CFLAGS ?= -O2 -g
TOOL_CFLAGS := -std=gnu11 -Wall -Wextra -Werror
SAN := -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_FLAGS = $(TOOL_CFLAGS) $(SAN) -O1 -g -fno-omit-frame-pointer

ifeq ($(SANITIZE),1)
TOOL_CFLAGS += $(SAN) -fno-omit-frame-pointer
endif
ifeq ($(STATIC),1)
STATIC_FLAG := -static
endif

COMPILE = $(CC) $(CPPFLAGS) $(TOOL_CFLAGS) $(CFLAGS)
objects = $(patsubst %.c,$(OUT)/%.o,$(1))
vpath %.c $(CODETAG_LIB)

# The code that needs a library. It is not in libcodetag.a, so that the other programs can
# be built without json-c and protobuf-c. A program that writes JSON links $(JSON_OBJ) and
# $(JSON_LIBS), one that writes profiles $(PPROF_OBJ) and $(PPROF_LIBS).
JSON_SRC := $(CODETAG_LIB)/jsonfile.c
JSON_OBJ := $(OUT)/jsonfile.o
JSON_LIBS = $(shell $(PKG_CONFIG) --libs json-c 2>/dev/null || echo -ljson-c)
PPROF_SRC := $(CODETAG_LIB)/pprof.c $(OUT)/profile.pb-c.c
PPROF_OBJ := $(OUT)/pprof.o $(OUT)/profile.pb-c.o
PPROF_LIBS = $(shell $(PKG_CONFIG) --libs libprotobuf-c zlib 2>/dev/null || \
		     echo -lprotobuf-c -lz)

# The code that all tools share. The linker takes only the parts that a program calls.
LIB_SRC := $(filter-out $(JSON_SRC) $(PPROF_SRC),$(wildcard $(CODETAG_LIB)/*.c))
LIB := $(OUT)/libcodetag.a
HEADERS := $(wildcard *.h $(CODETAG_LIB)/*.h \
			$(addprefix $(UAPI)/linux/,alloc_tag.h kmemtrace.h kmon.h))

.PHONY: all
all: $(addprefix $(OUT)/,$(PROGRAMS))

# .flags changes with the command, so objects built by another command are rebuilt.
$(OUT)/%.o: %.c $(OUT)/.flags
	$(COMPILE) -pthread -MMD -MP -c -o $@ $<

$(LIB): $(call objects,$(notdir $(LIB_SRC)))
	rm -f $@
	$(AR) rcs $@ $^

# what protobuf-c makes of profile.proto
$(OUT)/profile.pb-c.c $(OUT)/profile.pb-c.h &: $(CODETAG_LIB)/profile.proto
	protoc-c -I $(CODETAG_LIB) --c_out=$(OUT) $<

$(OUT)/profile.pb-c.o: $(OUT)/profile.pb-c.c $(OUT)/.flags
	$(COMPILE) -MMD -MP -c -o $@ $<

# A fuzzer is linked from the objects that its Makefile gives as prerequisites, and from
# $(FUZZ_LIBS). The fuzzers of a tool share these objects.
$(addprefix $(OUT)/,$(FUZZERS)):
	$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $^ $(FUZZ_LIBS)

FUZZ_COMPILE = $(CLANG) $(CPPFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link -MMD -MP
fuzz_objects = $(patsubst %.c,$(OUT)/%.fuzz.o,$(notdir $(1)))

$(OUT)/%.fuzz.o: %.c $(OUT)/.flags
	$(FUZZ_COMPILE) -c -o $@ $<

$(OUT)/profile.pb-c.fuzz.o: $(OUT)/profile.pb-c.c $(OUT)/.flags
	$(FUZZ_COMPILE) -c -o $@ $<

$(OUT)/pprof.o $(OUT)/pprof.fuzz.o: $(OUT)/profile.pb-c.h

.PHONY: FORCE
$(OUT)/.flags: FORCE
	@echo '$(COMPILE) $(STATIC_FLAG) $(FUZZ_COMPILE)' | cmp -s - $@ || \
		echo '$(COMPILE) $(STATIC_FLAG) $(FUZZ_COMPILE)' > $@

.PHONY: tests
tests: all $(addprefix $(OUT)/,$(TEST_PROGRAMS))

.PHONY: check
check: tests
	$(MAKE) O=$(OUT)/sanitized SANITIZE=1 STATIC= tests
	@bad=0; for dir in $(OUT) $(OUT)/sanitized; do \
		for t in ./test-*.sh; do \
			[ $$t = ./test-lib.sh ] && continue; \
			echo "# $$t $$dir"; TEST_ALL=y $$t $$dir || bad=1; \
		done; \
	done; exit $$bad

SBIN_PROGRAMS := $(patsubst %.8,%,$(wildcard $(PROGRAMS:=.8)))
BIN_PROGRAMS := $(filter-out $(SBIN_PROGRAMS),$(PROGRAMS))

# install_to DIR,MODE,FILES: FILES may be empty
install_to = $(if $(3),$(INSTALL) -d $(DESTDIR)$(1) && $(INSTALL) -m $(2) $(3) $(DESTDIR)$(1))

.PHONY: install
install: all
	$(call install_to,$(bindir),755,$(addprefix $(OUT)/,$(BIN_PROGRAMS)))
	$(call install_to,$(sbindir),755,$(addprefix $(OUT)/,$(SBIN_PROGRAMS)))
	$(call install_to,$(mandir)/man1,644,$(wildcard $(BIN_PROGRAMS:=.1)))
	$(call install_to,$(mandir)/man8,644,$(SBIN_PROGRAMS:=.8))
	$(call install_to,$(completionsdir),644,$(COMPLETION))
	cd $(DESTDIR)$(completionsdir) && for program in $(PROGRAMS); do \
		ln -sf $(COMPLETION) $$program || exit; done

# libFuzzer needs clang with its run-time library.
LIBFUZZER = $(shell echo 'int LLVMFuzzerTestOneInput() { return 0; }' | \
	$(CLANG) -fsanitize=fuzzer,address,undefined -x c - -o /dev/null 2>/dev/null && echo y)

# run_fuzzers LIST: run each fuzzer for SECONDS in $(OUT), with the seeds in corpus
define run_fuzzers
@cd $(OUT) && mkdir -p found && bad=0; for fuzzer in $(1); do \
	./$$fuzzer -max_total_time=$(SECONDS) -max_len=65536 -timeout=20 \
		-rss_limit_mb=1024 -artifact_prefix=found/$$fuzzer- \
		-print_final_stats=1 -verbosity=0 corpus || bad=1; \
done; exit $$bad
endef

-include $(wildcard $(OUT)/*.d)
