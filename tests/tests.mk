# SPDX-License-Identifier: MIT
# Test targets. The recipes call make again for the image, because the compiler
# may be among what tools/setup installs first.

.PHONY: test fuzz coverage test-host test-boot test-lint bench images

# The other compiler's image must give the same digits; the debug builds check and
# assert at every step, and plant faults.
images:
	@$(MAKE) --no-print-directory -j2 all
	@$(MAKE) --no-print-directory -j2 CC=clang all
	@$(MAKE) --no-print-directory -j2 DEBUG=1 all
	@$(MAKE) --no-print-directory -j2 host
	@$(MAKE) --no-print-directory -j2 DEBUG=1 host
	@$(MAKE) --no-print-directory -j2 DEBUG=1 SANITIZE=thread host-threads \
		build/debug/host-thread/anechoic-threads-planted

test:  ## host tests, lint, QEMU scenarios; closes with N passed, N failed
	@tools/setup test
	@$(MAKE) --no-print-directory images
	@tests/run

test-host:  ## unit tests under ASan and UBSan, gcc and clang
	@tools/setup test
	@tests/run --group host $(ONLY)

SECONDS ?= 60

fuzz:  ## fuzzes all targets of tests/fuzz for SECONDS=60 (ONLY=name for one)
	@tools/setup test
	@tests/fuzzing.py --seconds $(SECONDS) $(ONLY)

coverage:  ## lines of sched/ and kernel/engine that the host tests reach
	@tools/setup coverage
	@tests/coverage.py

test-boot:  ## the QEMU scenarios of tests/boot (ONLY=name for one)
	@tools/setup test
	@$(MAKE) --no-print-directory images
	@tests/run --group boot $(ONLY)

test-lint:  ## include edges, file rules, what the image may contain
	@tools/setup test
	@$(MAKE) --no-print-directory all
	@tests/run --group lint $(ONLY)

bench:  ## measures the figures of the design's target table
	@tools/setup run
	@$(MAKE) --no-print-directory all
	@tools/bench
