# SPDX-License-Identifier: Apache-2.0
# One non-recursive makefile.  A tool is a directory under tools/ and a word in TOOLS; all
# files below libcommon/ go into one archive.
#
#   make             programs in build/bin
#   make libs        libnputools, static and shared, in build/lib
#   make demo        packages for building, programs, and a model compiled, run and reported
#   make check       packages, programs, all tests
#   make test T=PATTERN   the suites whose names match, and only what they need; with
#                    B=build-quick CFLAGS=-O0 FAST_CFLAGS= compilation takes a third of the time
#   make firmware-demo  the model in firmware, run in an emulator whose NPU is the
#                    simulator; MODEL= INPUT= NPU= ETHOSU_DRIVER= TFLM= TFLM_DEPS=
#   make check-asan  the tests once more, with address and undefined sanitizers
#   make check-all   the tests for every compiler, sanitizer and machine available
#   make lint        warnings of two compilers, linters, include order, manuals
#   make accept      rewrite tests/cases/*/*/want.* from the programs' outputs
#   make fuzz        libFuzzer programs in build-fuzz/fuzz (clang)
#   make fuzz-run SECONDS=60      run each of them for this time; tests/fuzz/run
#   make oss-fuzz    build them as OSS-Fuzz does, and run their seeds
#   make digits-accuracy  how many of 5,000 drawings the demo model recognises
#   make bench       compile times and estimates beside the reference's
#   make bench-models  our files and Vela's by four estimators (part of bench)
#   make bench-tosa  the shared TOSA networks beside TFLite's, and Vela's
#   make bench-sweep the shared networks for all accelerators; OLD=build/sweep.json of
#                    another build: what became worse since, TOLERANCE= per cent
#   make bench-speed time of each stage, and of chains of 10 to 1000 operators
#   make install     to $(DESTDIR)$(PREFIX)
#   make dist        nputools-VERSION.tar.gz of the committed tree, in $(DIST)
#   make wasm        programs as WebAssembly modules; make check-wasm: test them by node
#   make npm, web, wheel, deb     packages of the programs, and the web page, with tests
#   make html        the manual as HTML, in build-html
#   make site        web page, manual and examples for a static host, in build-site
#   make STATIC=1    programs need no shared library; STATIC=0: programs use shared libc
#   make V=1         show the commands;  make WERROR=  warnings are no errors

VERSION := 1.0.0
TOOLS := $(filter-out libnputools,$(notdir $(patsubst %/,%,$(wildcard tools/*/))))

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
B ?= build
# Under this directory, a relative name: dependency files name the objects as make was called.
override B := $(patsubst $(CURDIR)/%,%,$(B))
V ?= 0
WERROR ?= -Werror
CFLAGS ?= -O2 -g
PKG_CONFIG ?= pkg-config
# For the inner loops of kernels, simulator, weights and search.  gcc's -O3 inlines callers
# that rely on err_set() returning false.  gcc does not see that, and then warns of
# uninitialized variables.  -O2, clang, which lacks this warning, and the linters stay strict.
IS_CLANG := $(findstring __clang__,$(shell $(CC) -dM -E -x c /dev/null 2>/dev/null))
FAST_CFLAGS ?= -O3 $(if $(IS_CLANG),,-Wno-maybe-uninitialized)

# no contraction and no registers of 80 bits: floats in reports and scales are the same on
# every machine
MACHINE := $(shell $(CC) -dumpmachine)
SSE := $(if $(filter x86_64-% i386-% i486-% i586-% i686-%,$(MACHINE)),-msse2 -mfpmath=sse)
PTHREAD := $(if $(filter arm-none-eabi wasm32-%,$(MACHINE)),,-pthread)
# libnputools consists of the objects of the programs, so that nothing is compiled twice
PIC := $(if $(filter arm-none-eabi wasm32-%,$(MACHINE)),,-fPIC -fvisibility=hidden)
# Hardening, which scripts/check-hardening checks; HARDEN= leaves it out.  Sanitizers, firmware
# and WebAssembly have none.  Fortified functions need an optimizer.
HARDEN := $(if $(PTHREAD),$(if $(findstring -fsanitize=,$(CFLAGS) $(LDFLAGS)),,1))
HARDEN_CFLAGS := $(if $(HARDEN),-fstack-protector-strong \
	$(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2) \
	$(if $(filter x86_64-% i686-%,$(MACHINE)),-fcf-protection -fstack-clash-protection) \
	$(if $(filter aarch64-%,$(MACHINE)),-mbranch-protection=standard))
STD := -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 \
	-DNPUTOOLS_VERSION='"$(VERSION)"' -Ilibcommon -Ischema $(PTHREAD) \
	-ffp-contract=off $(SSE) $(PIC) $(HARDEN_CFLAGS)
WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wcast-qual $(WERROR)
ALL_CPPFLAGS = $(STD) $(CPPFLAGS)
LIBS := -lm $(PTHREAD)

# more flags for one program: LIBS_NAME and CPPFLAGS_NAME
has = $(shell $(PKG_CONFIG) --exists $(1) 2>/dev/null && echo 1)
# the flag, if a program with the flag links
links = $(shell echo 'int main(void) { return 0; }' | $(CC) $(CFLAGS) $(LDFLAGS) $(1) \
	-x c - -o /dev/null -x none $(LIBS) 2>/dev/null && echo $(1))
ifeq ($(HARDEN),1)
override LDFLAGS := -Wl,-z,relro,-z,now,-z,noexecstack $(LDFLAGS)
STATIC_PIE := $(if $(filter -static -no-pie,$(LDFLAGS)),,$(call links,-static-pie))
endif
# a static program uses a library if all its dependencies have an archive
ifeq ($(STATIC),1)
override LDFLAGS += $(or $(STATIC_PIE),-static)
pkg_libs = $(shell $(PKG_CONFIG) --static --libs $(1))
has = $(shell $(PKG_CONFIG) --exists $(1) 2>/dev/null && \
	echo 'int main(void) { return 0; }' | $(CC) -static -x c - -o /dev/null \
	-Wl,--whole-archive $$($(PKG_CONFIG) --libs $(1)) -Wl,--no-whole-archive \
	$$($(PKG_CONFIG) --static --libs $(1)) -lm 2>/dev/null && echo 1)
else
pkg_libs = $(shell $(PKG_CONFIG) --libs $(1))
endif
# argp is part of glibc; for other libcs it is a separate library, or the tree's own.
# override: CPPFLAGS or LDFLAGS on the command line add flags and do not replace these.
ifeq ($(call has,argp-standalone),1)
override CPPFLAGS += $(shell $(PKG_CONFIG) --cflags argp-standalone)
LIBS += $(call pkg_libs,argp-standalone)
else ifeq ($(shell $(CC) -include argp.h -E -x c /dev/null >/dev/null 2>&1 && echo 1),)
ARGP := $(wildcard libcommon/base/argp/*.c)
override CPPFLAGS += -Ilibcommon/base/argp
endif
ifeq ($(call has,libpng),1)
CPPFLAGS_samples += -DHAVE_LIBPNG $(shell $(PKG_CONFIG) --cflags libpng)
LIBS_samples += $(call pkg_libs,libpng)
endif
ifeq ($(call has,sndfile),1)
CPPFLAGS_samples += -DHAVE_SNDFILE $(shell $(PKG_CONFIG) --cflags sndfile)
LIBS_samples += $(call pkg_libs,sndfile)
endif
# the programs that read pictures and sounds
LIBS_mkinput = $(LIBS_samples)
LIBS_tfl-quantize = $(LIBS_samples)


# Programs are linked with a static libc if that link succeeds: a stage of a small network
# spent a fifth to a quarter of its time on loading a shared libc.  Exceptions are programs
# that read pictures, because of their libraries, and instrumented programs, whose runtime
# must be loaded before libc.  Position-independent programs (-static-pie), which HARDEN wants,
# take 1 % longer: npu-sched 0.215 s for mbv2_int8, 0.207 s without all of HARDEN.
ifeq ($(STATIC)$(findstring -fsanitize=,$(CFLAGS) $(LDFLAGS)),)
IN_ONE := $(or $(STATIC_PIE),$(call links,-static))
endif

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@echo "  $(1)	$(2)")

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

LIB := $(B)/libcommon.a
LIB_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard libcommon/*/*.c) $(ARGP))
# GNU ar makes no index of WebAssembly's objects; its linker drops unused objects
ifneq ($(filter wasm32-%,$(MACHINE)),)
LIB := $(LIB_OBJ) $(patsubst %.c,$(B)/%.o,$(wildcard libcommon/base/wasi/*.c))
endif
BIN := $(TOOLS:%=$(B)/bin/%)

.PHONY: all
all: $(LIB) $(BIN)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) -pipe $(ALL_CPPFLAGS) $(WARN) $(CFLAGS) $(EXTRA_CFLAGS) -MMD -MP -c -o $@ $<

$(B)/libcommon.a: $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $^

FAST := kernels perf real rewrite tosakernels sim weights emit
$(FAST:%=$(B)/libcommon/%/%.o) $(B)/tools/npu-sched/%.o: EXTRA_CFLAGS += $(FAST_CFLAGS)

# the NPU and its dependencies, for firmware: no files, threads or mappings
SIM_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard libcommon/sim/npu*.c \
	$(foreach f,arena attempt block diag exhausted fixed hash quote text,libcommon/base/$(f).c) \
	$(foreach d,map stream target weights,libcommon/$(d)/*.c)))

$(B)/libsim.a: $(SIM_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $^

# The objects depend on the libraries that were found: this file has their flags, so that
# the objects are made again if PKG_CONFIG=false or STATIC= gives others.
FOUND := $(B)/found
FOUND_NOW = $(VERSION) $(CPPFLAGS_samples) $(LIBS_samples) $(LDFLAGS) $(STATIC)
$(shell mkdir -p $(B) && printf '%s\n' '$(FOUND_NOW)' | \
	cmp -s - $(FOUND) || printf '%s\n' '$(FOUND_NOW)' >$(FOUND))
$(patsubst %.c,$(B)/%.o,$(wildcard libcommon/samples/*.c)) $(BIN): $(FOUND)
$(B)/libcommon/samples/%.o: EXTRA_CFLAGS += $(CPPFLAGS_samples)
# these objects contain VERSION
$(B)/libcommon/base/cli.o $(B)/tools/npu-cmdgen/model.o $(B)/tools/npucc/manifest.o: $(FOUND)

# style and script of npu-report's page, as strings: page_css and page_js, whose files are
# one script in the order of their names
HELD := tools/npu-report/page.css $(sort $(wildcard tools/npu-report/page/*.js))
OBJ_npu-report := $(B)/tools/npu-report/held.o
$(B)/tools/npu-report/held.c: $(HELD)
	@mkdir -p $(@D)
	$(Q)for name in page_css page_js; do echo "const char $$name[] ="; \
		for f in $(HELD); do case $$name$$f in page_css*.css | page_js*.js) \
			sed 's/[\\"]/\\&/g; s/^/"/; s/$$/\\n"/' $$f ;; esac; done; \
		echo ";"; done >$@
$(B)/tools/npu-report/held.o: $(B)/tools/npu-report/held.c
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(WARN) $(CFLAGS) -c -o $@ $<

define tool
$(B)/tools/$(1)/%.o: EXTRA_CFLAGS += $(CPPFLAGS_$(1))
$(B)/bin/$(1): $$(patsubst %.c,$(B)/%.o,$$(wildcard tools/$(1)/*.c tools/$(1)/*/*.c)) $(OBJ_$(1)) $(LIB)
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) $$(if $$(LIBS_$(1)),,$$(IN_ONE)) -o $$@ \
		$$(filter-out $(FOUND),$$^) $$(LIBS_$(1)) $$(LIBS)
# with a shared libc, before which tests/faults.bats loads its own functions
$(B)/dynamic/bin/$(1): $(B)/bin/$(1)
	@mkdir -p $$(@D)
	$$(if $$(IN_ONE),$$(call say,LD,$$@))
	$$(Q)$$(if $$(IN_ONE),$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$(filter %.o,$$^) \
		$$(LIB) $$(LIBS_$(1)) $$(LIBS),ln -f $$< $$@)
$(B)/dynamic/bin/$(1): $$(patsubst %.c,$(B)/%.o,$$(wildcard tools/$(1)/*.c tools/$(1)/*/*.c)) $(OBJ_$(1))
endef
$(foreach t,$(TOOLS),$(eval $(call tool,$(t))))

# ---- libnputools -----------------------------------------------------------

# Each stage is an object in which only its functions in $(LIBSRC)/stages are global.  The library is
# one object, too, in which only the functions of nputools.h are global; the shared library
# and the archive are made of it.  These programs have the function that they share with the
# library in main.c.
LIBSRC := tools/libnputools
LIB_IN_MAIN := npu-sched tosa-partition
# files that read samples from files, or draw them; the library has other functions for these
LIB_OWN := tools/tfl-quantize/samples.c
OBJCOPY ?= objcopy
SOVERSION := $(firstword $(subst ., ,$(VERSION)))
LIB_STAGES := $(basename $(notdir $(wildcard $(LIBSRC)/stages/*.c)))
LIB_A := $(B)/lib/libnputools.a
LIB_SO := $(B)/lib/libnputools.so.$(SOVERSION)
$(B)/$(LIBSRC)/%.o: EXTRA_CFLAGS += -I$(LIBSRC) -Itools
$(B)/$(LIBSRC)/call.o $(B)/$(LIBSRC)/version.o: $(FOUND)
define lib_stage
$(B)/lib/joined/$(1).o: $(B)/$(LIBSRC)/stages/$(1).o $$(patsubst %.c,$(B)/%.o,$$(filter-out \
		$(if $(filter $(LIB_IN_MAIN),$(1)),,%/main.c) $(LIB_OWN),$$(wildcard tools/$(1)/*.c tools/$(1)/*/*.c)))
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(LD) -r --force-group-allocation -o $$@ $$^
	$$(Q)$$(OBJCOPY) --wildcard --keep-global-symbol='lib_$(subst -,_,$(1))*' $$@
endef
$(foreach t,$(LIB_STAGES),$(eval $(call lib_stage,$(t))))

$(B)/lib/joined.o: $(patsubst %.c,$(B)/%.o,$(wildcard $(LIBSRC)/*.c)) \
		$(LIB_STAGES:%=$(B)/lib/joined/%.o) $(LIB)
	$(call say,LD,$@)
	$(Q)$(LD) -r --force-group-allocation -o $@ $^
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbol='nputools_*' $@

$(LIB_A): $(B)/lib/joined.o
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $^

$(LIB_SO): $(B)/lib/joined.o $(LIBSRC)/nputools.map
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(filter-out -static -static-pie,$(LDFLAGS)) -shared -Wl,-soname,$(@F) \
		-Wl,--version-script=$(LIBSRC)/nputools.map -o $@ $< $(LIBS)
	$(Q)ln -sf $(@F) $(B)/lib/libnputools.so

.PHONY: libs
libs: $(LIB_A) $(LIB_SO)

# ---- tests ---------------------------------------------------------------

UNIT := $(patsubst tests/unit/%.c,$(B)/tests/%,$(wildcard tests/unit/*.c))

$(UNIT): $(B)/tests/%: $(B)/tests/unit/%.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) $(LIBS)

# tests of programs' code: the objects that a unit test tests
$(B)/tests/perf_models $(B)/tests/perf_phases $(B)/tests/perf_vela21: \
	$(patsubst %.c,$(B)/%.o,$(wildcard tools/npu-perf/models/*.c))
$(B)/tests/packing $(B)/tests/gaps $(B)/tests/dividing $(B)/tests/front $(B)/tests/enumeration: $(patsubst %.c,$(B)/%.o,\
	$(filter-out %/main.c,$(wildcard tools/npu-sched/*.c tools/npu-sched/*/*.c)))
$(B)/tests/share: $(B)/tools/npu-share/choose.o $(B)/tools/npu-share/place.o
$(B)/tests/tfl2c_plans: $(patsubst %.c,$(B)/%.o,$(filter-out %/main.c,$(wildcard tools/tfl2c/*.c)))
$(B)/tests/lowering $(B)/tests/lowering_rules $(B)/tests/lowering_values: $(patsubst %.c,$(B)/%.o,$(filter-out %/main.c,$(wildcard tools/tfl-partition/*.c tools/tfl-partition/*/*.c)))

# one reader each; linked with a driver that replays files (any compiler)
FUZZ := $(patsubst tests/fuzz/%.c,%,$(filter-out %/replay.c,$(wildcard tests/fuzz/*.c)))
FUZZ_REPLAY := $(FUZZ:%=$(B)/fuzz/%-replay)
# OSS-Fuzz has another linker and engine
FUZZ_LD = $(CC)
FUZZ_ENGINE = -fsanitize=fuzzer

# Programs inside a target (tests/fuzz/lib/programs.h): the objects of each program are
# joined to one object, in which only main is global, under another name.  There are no
# groups of sections: the last link would keep those of one program only (i686's thunks).
FUZZ_FLOW := flow stages data quantize
FUZZ_PROGRAMS := $(filter-out npucc npu-share npu-sweep npu-vela,$(TOOLS))
FUZZ_LIB := $(patsubst %.c,$(B)/%.o,$(wildcard tests/fuzz/lib/*.c))
define fuzz_program
$(B)/fuzz/programs/$(1).o: $$(patsubst %.c,$(B)/%.o,$$(wildcard tools/$(1)/*.c tools/$(1)/*/*.c)) $(OBJ_$(1))
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(LD) -r --force-group-allocation -o $$@ $$^
	$$(Q)$$(OBJCOPY) --keep-global-symbol=main $$@
	$$(Q)$$(OBJCOPY) --redefine-sym main=main_$(subst -,_,$(1)) $$@
endef
$(foreach t,$(FUZZ_PROGRAMS),$(eval $(call fuzz_program,$(t))))
$(B)/tests/fuzz/%.o: EXTRA_CFLAGS += -Itests/fuzz

FLOW_OBJ := $(FUZZ_LIB) $(FUZZ_PROGRAMS:%=$(B)/fuzz/programs/%.o)
$(foreach t,$(FUZZ_FLOW),$(B)/fuzz/$(t) $(B)/fuzz/$(t)-replay): $(FLOW_OBJ)
$(foreach t,$(FUZZ_FLOW),$(B)/fuzz/$(t) $(B)/fuzz/$(t)-replay): \
	FUZZ_LIBS = $(foreach t,$(FUZZ_PROGRAMS),$(LIBS_$(t)))

$(FUZZ_REPLAY): $(B)/fuzz/%-replay: $(B)/tests/fuzz/%.o $(B)/tests/fuzz/replay.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(LIB) $(FUZZ_LIBS) $(LIBS)

$(FUZZ:%=$(B)/fuzz/%): $(B)/fuzz/%: $(B)/tests/fuzz/%.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(FUZZ_LD) $(CFLAGS) $(LDFLAGS) $(FUZZ_ENGINE) -o $@ $(filter %.o,$^) $(LIB) \
		$(FUZZ_LIBS) $(LIBS)

# libnputools is a whole, whose functions are not those of libcommon.a
FUZZ_LIBRARY := $(patsubst %,$(B)/tests/fuzz/lib/%.o,dice mutate_model mutate_tosa tree)
$(B)/fuzz/library $(B)/fuzz/library-replay: $(FUZZ_LIBRARY) $(LIB_A)
$(B)/fuzz/library $(B)/fuzz/library-replay: FUZZ_LIBS = $(LIB_A)
$(B)/tests/fuzz/library.o: EXTRA_CFLAGS += -I$(LIBSRC)

# dictionaries of the targets, from the tables of schema/
WORDS := $(patsubst %.c,$(B)/%.o,$(wildcard tests/fuzz/words/*.c))

$(B)/fuzz/words: $(WORDS) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# Programs that tests call, one directory each: generators of models (gen-model, gen-tosa,
# chain-model), the converter to TOSA (tfl-tosa), the generator of stream mutants
# (mutate-streams, linux-mutants), the NPU of the driver's stand-in (npu-engine), the demo
# model's trainer (digits), the kit's programs in one process (in-process).
TEST_PROGRAMS := $(notdir $(patsubst %/,%,$(wildcard tests/programs/*/)))
define test_program
$(B)/tests/$(1): $$(patsubst %.c,$(B)/%.o,$$(wildcard tests/programs/$(1)/*.c)) $(LIB)
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) $$(if $$(LIBS_$(1)),,$$(IN_ONE)) -o $$@ \
		$$(filter %.o,$$^) $$(LIB) $$(LIBS_$(1)) $$(LIBS)
endef
$(foreach t,$(TEST_PROGRAMS),$(eval $(call test_program,$(t))))
$(B)/tests/tfl-tosa: $(B)/tests/programs/gen-tosa/file.o
$(B)/tests/in-process: $(FLOW_OBJ)
LIBS_in-process = $(foreach t,$(FUZZ_PROGRAMS),$(LIBS_$(t)))
$(B)/tests/programs/in-process/%.o: EXTRA_CFLAGS += -Itests
# the check of Linux's driver by other means
$(B)/tests/linux-mutants: $(B)/tests/linux/driver.o

# Makes the demo model from scratch, byte for byte: `make digits` rewrites
# tests/models/digits.tflite and the pictures in tests/models/digits/.
$(B)/tests/programs/digits/%.o: EXTRA_CFLAGS += $(FAST_CFLAGS)

.PHONY: digits
digits: $(B)/tests/digits
	$(B)/tests/digits tests/models/digits.tflite tests/models/digits

# how many of 5,000 drawings the demo model recognises, plain and compiled, as README.md
# says
.PHONY: digits-accuracy
digits-accuracy: all $(B)/tests/digits
	scripts/digits-accuracy $(B)

# calls that fail, one after the other (tests/faults.bats); deeds of hostile input
# (tests/sandbox.bats)
$(B)/tests/inject.so $(B)/tests/intrude.so: $(B)/tests/%.so: tests/faults/%.c
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(WARN) -O1 -g -fPIC -fvisibility=default -shared -o $@ $< -ldl

# a stand-in for Linux's ethosu driver (tests/linux.bats)
$(B)/tests/ethosu.so: tests/linux/standin.c tests/linux/driver.c tests/linux/driver.h \
		tools/npu-run/ioctl.h
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(WARN) -O1 -g -fPIC -fvisibility=default -shared -o $@ \
		$(filter %.c,$^) -ldl

# programs that embed libnputools, the shared library and the archive (tests/libnputools.bats)
EMBED_CXX := $(if $(findstring clang,$(CC)),$(subst clang,clang++,$(CC)),$(if \
	$(findstring gcc,$(CC)),$(subst gcc,g++,$(CC)),g++))
EMBED_C := $(B)/tests/embed $(B)/tests/embed-starve $(B)/tests/embed-hooks $(B)/tests/embed-stages \
	$(B)/tests/embed-options $(B)/tests/embed-quantize
EMBED := $(EMBED_C) $(if $(shell command -v $(EMBED_CXX)),$(B)/tests/embed-cc)
EMBED_WARN := -Wall -Wextra -Wshadow $(WERROR) -I$(LIBSRC)

$(EMBED_C): $(B)/tests/%: tests/embed/%.c $(LIBSRC)/nputools.h $(LIB_SO)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(EMBED_WARN) $(CFLAGS) $(filter-out -static -static-pie,$(LDFLAGS)) -o $@ $< \
		-L$(B)/lib -lnputools -Wl,-rpath,'$$ORIGIN/../lib' $(PTHREAD)

$(B)/tests/embed-cc: tests/embed/embed.cc $(LIBSRC)/nputools.h $(LIB_A)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(EMBED_CXX) -std=c++17 $(EMBED_WARN) -Wold-style-cast $(CFLAGS) $(LDFLAGS) -o $@ $< \
		$(LIB_A) $(LIBS)

$(B)/tests/fault-drive: $(B)/tests/faults/drive.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# make read this file before the packages were installed; therefore make runs again
.PHONY: deps check check-run check-asan check-all tests
deps:
	$(Q)scripts/install-deps

tests: suite-programs $(UNIT) $(FUZZ_REPLAY) $(B)/fuzz/words $(B)/tests/inject.so \
	$(B)/tests/intrude.so $(B)/tests/fault-drive $(TOOLS:%=$(B)/dynamic/bin/%)

# what a bats file needs; cases need fewer programs (tests/lib/case-programs)
.PHONY: suite-programs test
suite-programs: all $(TEST_PROGRAMS:%=$(B)/tests/%) $(B)/tests/ethosu.so $(EMBED) \
	$(B)/dynamic/bin/npu-run

T =
test:
	$(Q)$(MAKE) --no-print-directory $$(tests/run $(B) '$(T)' --needs)
	$(Q)tests/run $(B) '$(T)'

# suites about this tree, its releases and its scripts rather than about the programs: .ci/run
# and make check-all run them
TREE_SUITES = ^bats:\(arrows\|build-systems\|compilers\|differential\|hardening\|install\|pages\|release\|tree\|user-ci\)$$

# Without TREE_SUITES; SKIP= in the environment: with them.  A small sample of what suites draw;
# NPUTOOLS_QUICK= in the environment: the larger one.
check: deps
	$(Q)SKIP="$${SKIP-$(TREE_SUITES)}" NPUTOOLS_QUICK=$${NPUTOOLS_QUICK-1} \
		$(MAKE) --no-print-directory check-run

# Tests that take long: random weights through the codec and back, random models, pages in a
# browser, and the suites that otherwise take a sample (NPUTOOLS_ALL).  make check-long
# MODELS=100000 runs more of them; RELEASES="DIR..." also compares the streams of earlier
# versions, in these directories.
MODELS = 10000
RELEASES =
TENSORS = 1000000
.PHONY: check-long
check-long: tests
	$(Q)$(B)/tests/weights $(TENSORS) $(or $(SEED),1)
	$(Q)$(B)/tests/weights85 20000 $(or $(SEED),1)
	$(Q)tests/random-models -b $(B) -n $(MODELS) -s $(or $(SEED),1)
	$(Q)ACCELERATORS="$(addprefix ethos-u85-,128 256 512 1024 2048)" \
		tests/random-models -b $(B) -n $(MODELS) -s $(or $(SEED),20000)
	$(Q)scripts/differential -b $(B) -a all --vela=none -n $(MODELS) -s $(or $(SEED),1) \
		$(addprefix --against=,$(RELEASES))
	$(Q)NPUTOOLS_ALL=1 $(B)/tests/weights_streams
	$(Q)NPUTOOLS_ALL=1 $(B)/tests/npu_flips
	$(Q)tests/pictures $(B)
	$(Q)NPUTOOLS_ALL=1 tests/run $(B) \
		"$$(grep -l 'NPUTOOLS_\(ALL\|QUICK\)\|load lib/\(partition\|rewrites\)' tests/*.bats | \
		sed 's,.*/\(.*\)\.bats,^bats:\1$$,' | paste -s -d '|' | sed 's,|,\\|,g')"

check-run: tests
	$(Q)tests/run $(B)

ASAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined -DCHECK_BOUNDS
# Without warnings, as instrumented code causes wrong ones; the normal build has them.  The
# programs contain the sanitizers' runtimes and have fixed addresses: a program starts in
# two thirds of the time, and suites start thousands of programs.  -O2 is not faster in
# total: objects take a third longer to compile, and unit tests take as long to run.  -g1
# has the lines for reports and compiles in four fifths of the time of -g.
check-asan:
	$(Q)$(MAKE) --no-print-directory B=build-asan FAST_CFLAGS=-O1 WARN= \
		CFLAGS="-O1 -g1 -fno-omit-frame-pointer $(ASAN)" \
		LDFLAGS="-static-libasan -static-libubsan -no-pie" check-run

# BUILDS="clang s390x ...": only these builds of tests/check-all -l
check-all:
	$(Q)scripts/install-deps --all
	$(Q)tests/check-all $(BUILDS)

.PHONY: demo demo-run
# installs no packages of the tests; uses all processors, unless -j is given
demo:
	$(Q)scripts/install-deps --demo
	$(Q)$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell \
		getconf _NPROCESSORS_ONLN)) demo-run
demo-run: all
	$(Q)scripts/demo $(B)

# MODEL=FILE INPUT=FILE NPU=ethos-u65-256 and others: scripts/firmware-demo
.PHONY: firmware-demo
firmware-demo: deps
	$(Q)scripts/install-deps --firmware
	$(Q)$(MAKE) --no-print-directory all
	$(Q)scripts/firmware-demo $(B)

.PHONY: accept fuzz bench lint
accept: all
	$(Q)tests/lib/run-cases --accept $(B)

# Reports of comparisons guide the readers' targets; in code that computes, they take most of
# the time.
fuzz:
	$(Q)$(MAKE) --no-print-directory B=build-fuzz CC=clang \
		FAST_CFLAGS="-O2 -fno-sanitize-coverage=trace-cmp" \
		CFLAGS="-O1 -g $(ASAN) -fsanitize=fuzzer-no-link" fuzz-programs
.PHONY: fuzz-programs
fuzz-programs: $(FUZZ:%=$(B)/fuzz/%) $(B)/fuzz/words

# SECONDS for each target; TARGETS=flow: only that target
SECONDS = 60
# the targets as OSS-Fuzz builds them, with the flags of its image base-builder for ASan
OSS_FUZZ := $(CURDIR)/build-oss-fuzz
OSS_FUZZ_CFLAGS := -O1 -fno-omit-frame-pointer -gline-tables-only -fsanitize=address \
	-fsanitize-address-use-after-scope -fsanitize=fuzzer-no-link \
	-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
.PHONY: oss-fuzz
oss-fuzz: tests
	$(Q)scripts/install-deps --oss-fuzz
	$(Q)rm -rf $(OSS_FUZZ)/out && mkdir -p $(OSS_FUZZ)/out
	$(Q)env -u SRC OUT=$(OSS_FUZZ)/out WORK=$(OSS_FUZZ) CC=clang CXX=clang++ CFLAGS="$(OSS_FUZZ_CFLAGS)" \
		CXXFLAGS="$(OSS_FUZZ_CFLAGS)" LIB_FUZZING_ENGINE=-fsanitize=fuzzer \
		tests/fuzz/oss-fuzz/build.sh
	$(Q)NPUTOOLS_OSS_FUZZ=$(OSS_FUZZ)/out tests/run $(B) '^packages:oss-fuzz$$'

.PHONY: fuzz-run
fuzz-run: fuzz
	$(Q)tests/fuzz/run build-fuzz $(SECONDS) $(TARGETS)

bench: all
	$(Q)scripts/bench $(B)
	$(Q)scripts/bench-u85 $(B)
	$(Q)scripts/bench-models $(B)

.PHONY: bench-models
bench-models: all
	$(Q)scripts/bench-models $(B)

.PHONY: bench-sweep
TOLERANCE = 0
bench-sweep: all
	$(Q)scripts/bench-sweep $(B) $(if $(OLD),"$(OLD)" "$(TOLERANCE)")

.PHONY: bench-tosa
bench-tosa: all
	$(Q)scripts/bench-tosa $(B)

.PHONY: bench-speed
bench-speed: tests
	$(Q)scripts/bench-speed $(B)

lint:
	$(Q)scripts/lint

# ---- WebAssembly ---------------------------------------------------------

# Every program as a module of WASI in build-wasm; libcommon/base/wasi has the functions
# that WASI's libc lacks.  -Os: a host compiles the modules when they run, and smaller code
# compiles kws_ref_model in 0.7 of the time of -O2.  The stack lies before the data, so that
# a stack overflow is a trap.
WASM := build-wasm
WASM_CC = clang --target=wasm32-wasi
.PHONY: wasm check-wasm wasm-modules
wasm:
	$(Q)scripts/install-deps --wasm
	$(Q)$(MAKE) --no-print-directory B=$(WASM) CC="$(WASM_CC)" PKG_CONFIG=false STATIC=0 \
		CPPFLAGS="-Ilibcommon/base/wasi -include wasi.h -D_WASI_EMULATED_SIGNAL \
		-D_WASI_EMULATED_GETPID" \
		CFLAGS="-Os -msimd128" FAST_CFLAGS= \
		LDFLAGS="-Wl,--strip-all,--stack-first,-z,stack-size=4194304" \
		LIBS="-lwasi-emulated-signal -lwasi-emulated-getpid -lm" wasm-modules
wasm-modules: $(TOOLS:%=$(B)/%.wasm)
$(B)/%.wasm: $(B)/bin/%
	$(Q)cp $< $@

# Runs cases and flows of the suite with the modules under node, and compares their outputs
# with those of the programs.  NPUTOOLS_ALL: all cases and the suite of the whole flow.
WASM_SUITES = ^packages:wasm$$\|^cases:$(if $(NPUTOOLS_ALL),\|^bats:flow$$)
check-wasm: wasm tests
	$(Q)scripts/wasm/as-programs $(WASM) $(B) $(WASM)/node
	$(Q)NPUTOOLS_NATIVE=$(CURDIR)/$(B) CASES_STEP=$(if $(NPUTOOLS_ALL),1,5) \
		tests/run $(WASM)/node '$(WASM_SUITES)'

# the modules as a package of npm, tested from the packed file in an empty folder
.PHONY: npm
npm: wasm tests
	$(Q)scripts/install-deps --npm
	$(Q)scripts/wasm/pack $(WASM) $(VERSION) build-npm
	$(Q)NPUTOOLS_NPM=$(CURDIR)/build-npm/nputools-$(VERSION).tgz \
		tests/run $(B) '^packages:npm$$'

# a page that compiles models in a browser, from a disk or a web server: build-web
.PHONY: web
web: tests
	$(Q)scripts/install-deps --web
	$(Q)$(MAKE) --no-print-directory wasm
	$(Q)scripts/web/make-page $(WASM) build-web
	$(Q)NPUTOOLS_PAGE=$(CURDIR)/build-web tests/run $(B) '^packages:web$$'

# the manual as HTML: build-html
.PHONY: html
html:
	$(Q)scripts/install-deps --html
	$(Q)rm -rf build-html
	$(Q)scripts/site/make-html build-html
	$(Q)echo "build-html/index.html: the manual"

# the folder that a static host serves: the page, the manual and examples, in build-site
.PHONY: site
site: web
	$(Q)scripts/site/make-site $(B)/bin build-web build-site
	$(Q)echo "build-site: page, examples and manual, for a static host"
	$(Q)NPUTOOLS_SITE=$(CURDIR)/build-site tests/run $(B) '^packages:site$$'

# ---- packages ------------------------------------------------------------

# programs that need no shared library, and a module of libnputools, in two wheels, tested in
# fresh environments
.PHONY: wheel wheel-programs
wheel: tests
	$(Q)scripts/install-deps --wheel
	$(Q)$(MAKE) --no-print-directory B=build-wheel STATIC=1 CFLAGS="-O2 -Wl,--strip-all" WARN=\
		all libs
	$(Q)scripts/packaging/make-wheel build-wheel/bin $(VERSION) build-wheel/dist
	$(Q)NPUTOOLS_WHEELS=$(CURDIR)/build-wheel/dist \
		tests/run $(B) '^packages:wheel$$\|^packages:executorch$$'

# packages in Debian's format: the programs, which use shared libraries, and libnputools
.PHONY: deb
deb: tests libs
	$(Q)scripts/install-deps --deb
	$(Q)rm -rf build-deb
	$(Q)$(MAKE) --no-print-directory DESTDIR=$(CURDIR)/build-deb/tree PREFIX=/usr \
		LIBDIR=/usr/lib/$$(dpkg-architecture -qDEB_HOST_MULTIARCH) install >/dev/null
	$(Q)cp $(TOOLS:%=$(B)/dynamic/bin/%) build-deb/tree/usr/bin
	$(Q)scripts/packaging/make-deb build-deb/tree $(VERSION) build-deb
	$(Q)NPUTOOLS_DEB=$(CURDIR)/build-deb tests/run $(B) '^packages:deb$$'

# ---- installation --------------------------------------------------------

BINDIR := $(DESTDIR)$(PREFIX)/bin
MANDIR := $(DESTDIR)$(PREFIX)/share/man
DATADIR := $(DESTDIR)$(PREFIX)/share/nputools
CMAKEDIR := $(DESTDIR)$(PREFIX)/share/cmake/nputools
PKGCONFIGDIR := $(DESTDIR)$(PREFIX)/share/pkgconfig
COMPLETION_BASH := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
COMPLETION_ZSH := $(DESTDIR)$(PREFIX)/share/zsh/site-functions
# bash-completion looks for a file with the command's name
COMPLETED := $(patsubst %,$(COMPLETION_BASH)/%,$(TOOLS))
INSTALLED := $(TOOLS:%=$(BINDIR)/%) \
	$(foreach m,$(wildcard man/*.[1-9]),$(MANDIR)/man$(patsubst .%,%,$(suffix $(m)))/$(notdir $(m))) \
	$(DATADIR)/npu.mk $(DATADIR)/LICENSE \
	$(patsubst scripts/%,$(DATADIR)/%,$(wildcard scripts/examples/* scripts/boards/*.* \
		scripts/boards/make-network scripts/boards/*/* scripts/github/* scripts/gitlab/* \
		scripts/jenkins/* scripts/zephyr/zephyr/*)) \
	$(CMAKEDIR)/nputools-config.cmake $(CMAKEDIR)/nputools-config-version.cmake \
	$(PKGCONFIGDIR)/nputools.pc \
	$(COMPLETION_ZSH)/_nputools $(COMPLETED)
# for programs that embed libnputools
LIBRARYDIR := $(DESTDIR)$(LIBDIR)
INSTALLED_LIB := $(DESTDIR)$(PREFIX)/include/nputools.h $(LIBRARYDIR)/pkgconfig/libnputools.pc \
	$(LIBRARYDIR)/libnputools.a $(LIBRARYDIR)/$(notdir $(LIB_SO))

.PHONY: install install-programs install-lib uninstall dist
install: install-programs install-lib
install-programs: all $(INSTALLED)
install-lib: $(INSTALLED_LIB)
	ln -sf $(notdir $(LIB_SO)) $(LIBRARYDIR)/libnputools.so

$(BINDIR)/%: $(B)/bin/%
	install -D -m 755 $< $@
$(MANDIR)/man1/%: man/%
	install -D -m 644 $< $@
$(MANDIR)/man3/%: man/%
	install -D -m 644 $< $@
$(MANDIR)/man5/%: man/%
	install -D -m 644 $< $@
$(MANDIR)/man7/%: man/%
	install -D -m 644 $< $@
$(DATADIR)/LICENSE: LICENSE
	install -D -m 644 $< $@
$(DATADIR)/%: scripts/%
	install -D -m $(if $(shell test -x $< && echo 1),755,644) $< $@
$(CMAKEDIR)/% $(PKGCONFIGDIR)/% $(LIBRARYDIR)/pkgconfig/%: scripts/cmake/%
	@mkdir -p $(@D)
	sed 's,@VERSION@,$(VERSION),; s,@PREFIX@,$(PREFIX),; s,@LIBDIR@,$(LIBDIR),' $< >$@ && chmod 644 $@
$(LIBRARYDIR)/%: $(B)/lib/%
	install -D -m 644 $< $@
$(DESTDIR)$(PREFIX)/include/%: $(LIBSRC)/%
	install -D -m 644 $< $@
$(COMPLETED): scripts/completions/nputools.bash
	install -D -m 644 $< $@
$(COMPLETION_ZSH)/_nputools: scripts/completions/_nputools
	install -D -m 644 $< $@

uninstall:
	rm -f $(INSTALLED) $(INSTALLED_LIB) $(LIBRARYDIR)/libnputools.so

# times are the commit's: the same commit gives the same archive
DIST = .
dist:
	git archive --prefix=nputools-$(VERSION)/ HEAD | gzip -9n >$(DIST)/nputools-$(VERSION).tar.gz

# all files of a release of the commit HEAD, in build-release/VERSION; SIGN=minisign:KEYFILE or
# openpgp:KEYID signs their sums.  PARTS=source,...: only these
.PHONY: release
release:
	$(Q)scripts/release/make-release $(VERSION) $(if $(SIGN),--sign=$(SIGN)) \
		$(if $(PARTS),--only=$(PARTS))

# builds a release twice, in other folders, by other users, and compares its files
.PHONY: check-release
check-release: all
	$(Q)scripts/release/twice $(VERSION) build-release
	$(Q)NPUTOOLS_RELEASE=$(CURDIR)/build-release tests/run $(B) '^packages:release$$'

.PHONY: clean
clean:
	rm -rf build build-* nputools-*.tar.gz

-include $(shell find $(B) -name '*.d' 2>/dev/null)
