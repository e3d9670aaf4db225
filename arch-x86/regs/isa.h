/* SPDX-License-Identifier: MIT */
/* ISA ports: 16550 UART, 8259 PIC, 8254 PIT, and QEMU's isa-debug-exit. */
#ifndef REGS_ISA_H
#define REGS_ISA_H

#define COM1 0x3f8
#define UART_THR 0 /* write; DLAB: divisor low */
#define UART_IER 1 /* DLAB: divisor high */
#define UART_FCR 2
#define UART_LCR 3
#define UART_MCR 4
#define UART_LSR 5
#define UART_SCR 7
#define UART_LCR_8N1 0x03
#define UART_LCR_DLAB 0x80
#define UART_FCR_ENABLE_CLEAR 0x07
#define UART_MCR_DTR_RTS 0x03
#define UART_LSR_THRE 0x20 /* transmit FIFO empty */
#define UART_LSR_TEMT 0x40 /* shift register empty too */
#define UART_FIFO 16

#define PIC1_CMD 0x20
#define PIC1_DATA 0x21
#define PIC2_CMD 0xa0
#define PIC2_DATA 0xa1
#define PIC_ICW1_INIT 0x11
#define PIC_ICW4_8086 0x01

#define PIT_HZ 1193182
#define PIT_CH2 0x42
#define PIT_CMD 0x43
#define PIT_CMD_CH2_MODE0 0xb0 /* channel 2, low then high byte, one-shot count-down */
#define PIT_CMD_LATCH_CH2 0x80
#define PORT_B 0x61
#define PORT_B_GATE2 0x01
#define PORT_B_SPEAKER 0x02
#define PORT_B_OUT2 0x20

/* -device isa-debug-exit,iobase=0xf4,iosize=0x04 */
#define DEBUG_EXIT 0xf4

#endif
