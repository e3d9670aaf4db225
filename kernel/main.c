/* SPDX-License-Identifier: MIT */
#include "panic.h"
#include "smp.h"
#include "build_id.h"
#include "../arch-x86/arch.h"
#include "../arch-x86/cpu.h"
#include "../arch-x86/exit.h"
#include "../arch-x86/paging.h"
#include "../arch-x86/tsc.h"

static struct arena memory;

void noreturn_fn kernel_main(const struct boot_info *bi)
{
	struct topo_input in;
	u64 start;

	arch_init(bi);
	panic_say("anechoic %s (%s), %s, tsc %llu Hz from %s\n", ANECHOIC_BUILD,
		       ANECHOIC_COMPILER, bi->protocol, (unsigned long long)tsc_hz(),
		       tsc_source());
	arch_memory_arena(&memory);
	start = rdtsc();
	smp_start_all(bi, false, &in, &memory);
	panic_say("%u CPUs in %llu us, command line \"%s\"\n", in.nr,
		       (unsigned long long)tsc_to_ns(rdtsc() - start) / 1000, bi->cmdline);
	arch_exit(0);
}
