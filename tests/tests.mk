# SPDX-License-Identifier: MIT
# Test targets. The recipes call make again for the image, because the compiler
# may be among what tools/setup installs first.

.PHONY: test test-host test-boot test-lint bench

test:  ## everything a developer needs green: host tests, lint, QEMU scenarios
	@tools/setup test
	@$(MAKE) --no-print-directory build/anechoic.elf
	@tests/run

test-host:  ## unit tests under ASan and UBSan, gcc and clang
	@tools/setup test
	@tests/run --group host $(ONLY)

test-boot:  ## the QEMU scenarios of tests/boot (ONLY=name for one)
	@tools/setup test
	@$(MAKE) --no-print-directory build/anechoic.elf
	@tests/run --group boot $(ONLY)

test-lint:  ## include edges, file rules, what the image may contain
	@tools/setup test
	@$(MAKE) --no-print-directory build/anechoic.elf
	@tests/run --group lint $(ONLY)

bench:  ## measures the figures of the design's target table
	@tools/setup run
	@$(MAKE) --no-print-directory build/anechoic.elf
	@tools/bench
