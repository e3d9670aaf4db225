/* SPDX-License-Identifier: MIT */
#include "serial.h"
#include "cpu.h"
#include "regs/isa.h"

/* One poll is a port read: about 1 us on hardware, less in an emulator. This
 * is used before the TSC's rate is known, so it counts polls. */
#define POLLS_PATIENT 4000000u
#define POLLS_STUCK 1u

static bool present;
static u32 polls = POLLS_PATIENT;

void serial_init(void)
{
	outb(COM1 + UART_IER, 0);
	outb(COM1 + UART_LCR, UART_LCR_DLAB);
	outb(COM1 + UART_THR, 1); /* divisor 1: 115200 baud */
	outb(COM1 + UART_IER, 0);
	outb(COM1 + UART_LCR, UART_LCR_8N1);
	outb(COM1 + UART_FCR, UART_FCR_ENABLE_CLEAR);
	outb(COM1 + UART_MCR, UART_MCR_DTR_RTS);
	outb(COM1 + UART_SCR, 0x5a);
	present = inb(COM1 + UART_SCR) == 0x5a && inb(COM1 + UART_LSR) != 0xff;
}

static bool wait_lsr(u8 bit)
{
	for (u32 i = 0; i < polls; i++) {
		if (inb(COM1 + UART_LSR) & bit) {
			polls = POLLS_PATIENT;
			return true;
		}
		cpu_pause();
	}
	polls = POLLS_STUCK;
	return false;
}

void serial_write(const char *s, size_t n)
{
	if (!present)
		return;
	while (n) {
		size_t chunk = n < UART_FIFO ? n : UART_FIFO;

		if (wait_lsr(UART_LSR_THRE))
			for (size_t i = 0; i < chunk; i++)
				outb(COM1 + UART_THR, (u8)s[i]);
		s += chunk;
		n -= chunk;
	}
}

void serial_drain(void)
{
	if (present)
		wait_lsr(UART_LSR_TEMT);
}
