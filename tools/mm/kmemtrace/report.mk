# SPDX-License-Identifier: GPL-2.0-only
#
# Additional rules for kmemtrace-report, which writes JSON and profiles.

REPORT_LIBS += $(JSON_LIBS) $(PPROF_LIBS)

$(OUT)/kmemtrace-report: $(JSON_OBJ) $(PPROF_OBJ)

# fuzz-report reads the same seeds as fuzz-trace, from fuzz-corpus.py
FUZZ_REPORT_SRC := $(filter-out report.c,$(REPORT_SRC)) $(TRACE_SRC)

$(OUT)/fuzz-report: FUZZ_LIBS = $(REPORT_LIBS)
$(OUT)/fuzz-report: $(call fuzz_objects,fuzz-report.c $(FUZZ_REPORT_SRC) $(LIB_SRC) $(JSON_SRC) $(PPROF_SRC))

# the same without libFuzzer: test-report.sh cuts traces off with it
$(OUT)/cut-report: fuzz-report.c $(HEADERS) $(call objects,$(FUZZ_REPORT_SRC)) \
		$(JSON_OBJ) $(PPROF_OBJ) $(LIB)
	$(COMPILE) -DFUZZ_MAIN -o $@ $(filter-out %.h,$^) $(REPORT_LIBS)

# bench-trace DIR EVENTS LIVE: for measuring, and for the long traces of test-report.sh
.PHONY: bench-trace
bench-trace: $(OUT)/bench-trace

$(OUT)/bench-trace: bench-trace.c $(HEADERS) $(OUT)/.flags
	$(COMPILE) $(LDFLAGS) -o $@ $<
