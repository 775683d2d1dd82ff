# SPDX-License-Identifier: GPL-2.0-only
#
# Additional rules for kmemtrace-report: json-c, and the code that protobuf-c generates
# from profile.proto.

CPPFLAGS += -I$(OUT)
REPORT_LIBS += $(shell $(PKG_CONFIG) --libs json-c libprotobuf-c 2>/dev/null || \
		       echo -ljson-c -lprotobuf-c)

$(OUT)/kmemtrace-report: $(OUT)/profile.pb-c.o

$(OUT)/profile.pb-c.c $(OUT)/profile.pb-c.h &: profile.proto
	protoc-c --c_out=$(OUT) profile.proto

$(OUT)/profile.pb-c.o: $(OUT)/profile.pb-c.c $(OUT)/.flags
	$(COMPILE) -MMD -MP -c -o $@ $<

$(OUT)/report-pprof.o: $(OUT)/profile.pb-c.h

# fuzz-report reads the same seeds as fuzz-trace, from fuzz-corpus.py
FUZZ_REPORT_SRC := fuzz-report.c $(filter-out report.c,$(REPORT_SRC)) \
		   $(TRACE_SRC) $(LIB_SRC)

$(OUT)/fuzz-report: $(FUZZ_REPORT_SRC) $(OUT)/profile.pb-c.c $(wildcard *.h)
	$(CLANG) $(CPPFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ \
		$(FUZZ_REPORT_SRC) $(OUT)/profile.pb-c.c $(REPORT_LIBS)

# the same without libFuzzer: test-report.sh cuts traces off with it
$(OUT)/cut-report: $(FUZZ_REPORT_SRC) $(OUT)/profile.pb-c.c $(wildcard *.h)
	$(COMPILE) $(SAN) -DFUZZ_MAIN -o $@ $(FUZZ_REPORT_SRC) \
		$(OUT)/profile.pb-c.c $(REPORT_LIBS)

# bench-trace DIR EVENTS LIVE: for measuring, and for the long traces of test-report.sh
.PHONY: bench-trace
bench-trace: $(OUT)/bench-trace

$(OUT)/bench-trace: bench-trace.c
	$(COMPILE) $(LDFLAGS) -o $@ $<
