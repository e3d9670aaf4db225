/* SPDX-License-Identifier: MIT */
#include "exit.h"
#include "acpi.h"
#include "cpu.h"
#include "serial.h"
#include "regs/isa.h"

void noreturn_fn arch_exit(u32 status)
{
	irq_disable();
	serial_drain();
	outl(DEBUG_EXIT, status);
	acpi_power_off();
	cpu_halt_forever();
}
