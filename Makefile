# SPDX-License-Identifier: MIT
# Builds build/anechoic.elf: one image for PVH (QEMU -kernel) and multiboot2 (GRUB).
#   make CC=clang    into build/clang        make DEBUG=1    into build/debug
#   make BUILD=dir   anywhere                make V=1        shows the commands
# Needs GCC or clang, GNU binutils, awk; `make iso` also grub-mkrescue.

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
SHELL := /bin/bash
comma := ,

# Native on x86-64; elsewhere the usual cross toolchain, unless told otherwise.
ifneq ($(shell uname -m),x86_64)
CROSS_COMPILE ?= x86_64-linux-gnu-
endif
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
LD := $(CROSS_COMPILE)ld
NM := $(CROSS_COMPILE)nm
OBJDUMP := $(CROSS_COMPILE)objdump

COMPILER := $(shell $(CC) --version 2>/dev/null | head -n 1)
CLANG := $(findstring clang,$(COMPILER))
BUILD ?= build$(if $(CLANG),/clang)$(if $(DEBUG),/debug)
ISO ?= $(BUILD)/anechoic.iso
CMDLINE ?=
Q := $(if $(V),,@)

# Folders in layer order: each may use those before it (tests/lint/layers.txt).
FOLDERS := boot arch-x86 kernel/lib sched kernel kernel/env kernel/engine \
	kernel/workloads kernel/probes kernel/scenarios kernel/stats

SOURCES := $(foreach d,$(FOLDERS),$(sort $(wildcard $(d)/*.S) $(wildcard $(d)/*.c)))
OBJECTS := $(addsuffix .o,$(addprefix $(BUILD)/,$(SOURCES)))

# What the code is: freestanding C11 with GNU extensions; only the compiler's
# own headers. -I kernel/env is how sched/env.h finds its implementation.
CFLAGS := -std=gnu11 -ffreestanding -nostdinc \
	-isystem $(shell $(CC) -print-file-name=include) -I kernel/env
# An interrupt pushes onto the interrupted stack: nothing may live below RSP.
CFLAGS += -mno-red-zone
# Context switches and interrupts do not save vector or x87 registers.
CFLAGS += -mgeneral-regs-only
# Linked below 2 GiB and never moved: no GOT, no PLT, 32-bit addresses.
CFLAGS += -mcmodel=small -fno-pic
# The canary lives at %fs:40, which no one sets up. Guard pages do its work.
CFLAGS += -fno-stack-protector
# Distributions turn it on by default; there is no shadow stack here.
CFLAGS += -fcf-protection=none
# Panics walk the frame pointers.
CFLAGS += -fno-omit-frame-pointer
# Tables for C++ exceptions and unwinders: no one reads them.
CFLAGS += -fno-asynchronous-unwind-tables
# Two definitions of one variable are a mistake.
CFLAGS += -fno-common
CFLAGS += -O2 -g
# The same image from any folder.
CFLAGS += -ffile-prefix-map=$(CURDIR)=.
CFLAGS += -Wall -Wextra -Werror
# Every function is static or declared in a header, with its arguments.
CFLAGS += -Wmissing-prototypes -Wstrict-prototypes
# Stacks are 16 KiB: no frame of unknown size, none that takes a quarter.
CFLAGS += -Wvla -Wframe-larger-than=4096
# The image and its loader address memory by number, page 0 included.
CFLAGS += $(if $(CLANG),--target=x86_64-linux-gnu,--param=min-pagesize=0)
CFLAGS += $(if $(DEBUG),-DANECHOIC_DEBUG)
CFLAGS += $(EXTRA_CFLAGS)

# A loop that is memmove must not be compiled into a call of memmove.
$(BUILD)/kernel/lib/string.c.o: CFLAGS += \
	$(if $(CLANG),-fno-builtin,-fno-tree-loop-distribute-patterns)

LDFLAGS := -nostdlib -static -z noexecstack -z max-page-size=4096 --build-id=none \
	--fatal-warnings -T linker.ld

.PHONY: all host host-threads iso run clean help force

all: $(BUILD)/anechoic.elf  ## the kernel image, with .map .sym .lst beside it

# Two passes: the first gives the functions' addresses, which the second embeds
# for backtraces. The check holds linker.ld to its promise that they do not move.
$(BUILD)/anechoic.elf: $(OBJECTS) linker.ld kernel/symtab.awk
	@echo "  LINK    $@"
	$(Q)awk -f kernel/symtab.awk </dev/null >$(BUILD)/symtab0.S
	$(Q)$(CC) $(CFLAGS) -c $(BUILD)/symtab0.S -o $(BUILD)/symtab0.o
	$(Q)$(LD) $(LDFLAGS) -o $(BUILD)/pass1.elf $(OBJECTS) $(BUILD)/symtab0.o
	$(Q)$(NM) -n $(BUILD)/pass1.elf | awk -f kernel/symtab.awk >$(BUILD)/symtab1.S
	$(Q)$(CC) $(CFLAGS) -c $(BUILD)/symtab1.S -o $(BUILD)/symtab1.o
	$(Q)$(LD) $(LDFLAGS) -Map $(BUILD)/anechoic.map -o $@.tmp $(OBJECTS) $(BUILD)/symtab1.o
	$(Q)$(NM) -n $@.tmp >$(BUILD)/anechoic.sym
	$(Q)awk -f kernel/symtab.awk $(BUILD)/anechoic.sym | cmp - $(BUILD)/symtab1.S
	$(Q)$(OBJDUMP) -d --no-show-raw-insn $@.tmp >$(BUILD)/anechoic.lst
	$(Q)mv $@.tmp $@

$(BUILD)/%.c.o: %.c $(BUILD)/flags $(BUILD)/build_id.h
	@echo "  CC      $<"
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -I $(BUILD) -MMD -MP -c $< -o $@

$(BUILD)/%.S.o: %.S $(BUILD)/flags
	@echo "  AS      $<"
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -MMD -MP -c $< -o $@

# Both are rewritten only when their contents change.
$(BUILD)/flags: force
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(COMPILER) $(CFLAGS))' >$@.new
	@cmp -s $@ $@.new && rm $@.new || mv $@.new $@

$(BUILD)/build_id.h: force
	@mkdir -p $(@D)
	@id=$$(git describe --always --dirty 2>/dev/null || echo unknown); \
	{ echo '/* SPDX-License-Identifier: MIT */'; \
	   echo "#define ANECHOIC_BUILD \"$$id\""; \
	   echo '#define ANECHOIC_COMPILER "$(subst ",,$(COMPILER))"'; } >$@.new
	@cmp -s $@ $@.new && rm $@.new || mv $@.new $@

# The native program: the same files without what touches the hardware. SANITIZE=
# builds it with that sanitizer, into a folder of its own.
HOST_BUILD := $(BUILD)/host$(if $(SANITIZE),-$(subst $(comma),-,$(SANITIZE)))
HOST_SOURCES := $(filter-out kernel/main.c kernel/platform_x86.c kernel/smp.c kernel/panic.c \
	kernel/backtrace.c kernel/lib/string.c,$(filter kernel/% sched/%,$(SOURCES))) \
	arch-x86/cpuid.c arch-x86/topo.c arch-x86/switch.S $(sort $(wildcard tools/host/*.c))
HOST_OBJECTS := $(addsuffix .o,$(addprefix $(HOST_BUILD)/,$(HOST_SOURCES)))
HOST_ONE_CPU := $(HOST_BUILD)/tools/host/one_cpu.c.o
HOST_THREADS := $(HOST_BUILD)/tools/host/threads.c.o
HOST_LIVE := $(HOST_BUILD)/kernel/engine/live.c.o
# libc has functions of these names, and the sanitizers call them.
HOST_CFLAGS := -Dsched_yield=kernel_sched_yield -Dsem_init=kernel_sem_init
HOST_CFLAGS += -std=gnu11 -O2 -g -Wall -Wextra -Werror -fno-omit-frame-pointer \
	-I kernel/env -I $(BUILD) $(if $(DEBUG),-DANECHOIC_DEBUG) \
	$(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all) $(EXTRA_CFLAGS)
# GCC warns of fences, which ThreadSanitizer does not know. Those here stand between
# atomic accesses only.
HOST_CFLAGS += $(if $(findstring thread,$(SANITIZE)),$(if $(CLANG),,-Wno-tsan))

host: $(HOST_BUILD)/anechoic-host  ## the native program, tools/run --exec host

host-threads: $(HOST_BUILD)/anechoic-threads  ## with a thread per CPU, for SANITIZE=thread

$(HOST_BUILD)/anechoic-host: $(filter-out $(HOST_THREADS),$(HOST_OBJECTS))
$(HOST_BUILD)/anechoic-threads: $(filter-out $(HOST_ONE_CPU),$(HOST_OBJECTS))
# For the test that ThreadSanitizer notices.
$(HOST_BUILD)/anechoic-threads-planted: $(filter-out $(HOST_ONE_CPU) $(HOST_LIVE),$(HOST_OBJECTS)) \
		$(HOST_LIVE:.c.o=-planted.o)
$(HOST_BUILD)/anechoic-host $(HOST_BUILD)/anechoic-threads $(HOST_BUILD)/anechoic-threads-planted:
	@echo "  LINK    $@"
	$(Q)$(CC) $(HOST_CFLAGS) -o $@ $^

$(HOST_LIVE:.c.o=-planted.o): kernel/engine/live.c $(HOST_LIVE)
	@echo "  HOSTCC  $< (planted)"
	$(Q)$(CC) $(HOST_CFLAGS) -DLIVE_UNLOCK_ORDER=__ATOMIC_RELAXED -c $< -o $@

$(HOST_BUILD)/%.o: % $(HOST_BUILD)/flags $(BUILD)/build_id.h
	@echo "  HOSTCC  $<"
	@mkdir -p $(@D)
	$(Q)$(CC) $(HOST_CFLAGS) -MMD -MP -c $< -o $@

$(HOST_BUILD)/flags: force
	@mkdir -p $(@D)
	@echo '$(subst ','\'',$(COMPILER) $(HOST_CFLAGS))' >$@.new
	@cmp -s $@ $@.new && rm $@.new || mv $@.new $@

iso: $(BUILD)/anechoic.elf  ## a bootable image (CMDLINE="key=value ...", ISO=path)
	$(Q)set -e; tree=$$(mktemp -d); trap 'rm -rf "$$tree" "$$tree.log"' EXIT; \
	mkdir -p "$$tree/boot/grub" "$$(dirname "$(ISO)")"; \
	cp $< "$$tree/boot/anechoic.elf"; \
	words=$$(printf '%s' "$$CMDLINE" | sed "s/[^ ][^ ]*/'&'/g"); \
	words=$$words awk '{ i = index($$0, "@CMDLINE@"); \
		if (i && !/^#/) \
			$$0 = substr($$0, 1, i - 1) ENVIRON["words"] substr($$0, i + 9); \
		print }' boot/grub.cfg >"$$tree/boot/grub/grub.cfg"; \
	grub-mkrescue -o "$(ISO)" "$$tree" >"$$tree.log" 2>&1 || \
		{ cat "$$tree.log" >&2; exit 1; }
	@echo "  ISO     $(ISO)"
export CMDLINE

run:  ## builds, boots the default topology, runs the demo comparison
	@tools/setup run
	@$(MAKE) --no-print-directory all
	@tools/run

clean:  ## removes what was built
	rm -rf $(BUILD)

help:  ## this list
	@awk -F ':|## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$NF }' \
		$(MAKEFILE_LIST)

-include tests/tests.mk
-include $(OBJECTS:.o=.d) $(HOST_OBJECTS:.o=.d)
