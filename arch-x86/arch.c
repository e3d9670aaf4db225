/* SPDX-License-Identifier: MIT */
#include "arch.h"
#include "acpi.h"
#include "irq.h"
#include "lapic.h"
#include "paging.h"
#include "percpu.h"
#include "serial.h"
#include "tsc.h"
#include "regs/apic.h"

static bool any_id_above_xapic(void)
{
	const struct acpi_cpus *c = acpi_cpus();

	for (u32 i = 0; i < c->nr; i++)
		if (c->entry[i].enabled && c->entry[i].apic_id > XAPIC_MAX_ID)
			return true;
	return false;
}

void arch_init(const struct boot_info *bi)
{
	serial_init();
	percpu_boot_init();
	irq_init();          /* from here on faults are reported */
	if (!bi->protocol)
		arch_fatal("no boot information by PVH or multiboot2 (QEMU's own BIOS loses it "
			   "when the command line is longer than 4 KiB)");
	acpi_init(bi->rsdp); /* before paging_init(): firmware tables may lie in free RAM */
	paging_init(bi);
	percpu_boot_stacks();
	pic_mask();
	lapic_init(any_id_above_xapic());
	percpu_self()->apic_id = lapic_id();
	tsc_init();
	lapic_timer_calibrate();
}
