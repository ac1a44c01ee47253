# SPDX-License-Identifier: Apache-2.0
# One non-recursive makefile.  A tool is a directory under tools/ and a word
# in TOOLS; everything below libcommon/ goes into one archive.
#
#   make            programs in build/bin
#   make demo       packages, programs, and a model compiled, run and reported
#   make check      packages, programs, all tests
#   make V=1        show the commands;  make WERROR=  warnings stay warnings

VERSION := 0.1.0
TOOLS := $(notdir $(patsubst %/,%,$(wildcard tools/*/)))

PREFIX ?= /usr/local
B ?= build
V ?= 0
WERROR ?= -Werror
CFLAGS ?= -O2 -g
PKG_CONFIG ?= pkg-config

# 32-bit lanes of integer kernels vectorise far better with this; the
# programs still run on any x86-64 or arm64 machine
STD := -std=gnu11 -D_GNU_SOURCE -DNPUTOOLS_VERSION='"$(VERSION)"' \
	-Ilibcommon -Ischema -pthread -ffp-contract=off
WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wcast-qual $(WERROR)
ALL_CPPFLAGS = $(STD) $(CPPFLAGS)
LIBS := -lxxhash -lm -pthread

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@echo "  $(1)	$(2)")

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

LIB := $(B)/libcommon.a
LIB_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard libcommon/*/*.c))
BIN := $(TOOLS:%=$(B)/bin/%)

.PHONY: all
all: $(LIB) $(BIN)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(WARN) $(CFLAGS) $(EXTRA_CFLAGS) -MMD -MP -c -o $@ $<

$(LIB): $(LIB_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $^

define tool
$(B)/bin/$(1): $$(patsubst %.c,$(B)/%.o,$$(wildcard tools/$(1)/*.c)) $(LIB)
	@mkdir -p $$(@D)
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LIBS_$(1)) $$(LIBS)
endef
$(foreach t,$(TOOLS),$(eval $(call tool,$(t))))

.PHONY: clean
clean:
	rm -rf build build-*

-include $(shell find $(B) -name '*.d' 2>/dev/null)
