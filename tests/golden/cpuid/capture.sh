#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the CPUID snapshots of this folder from QEMU (7.2 when committed):
# capture.sh [PATTERN] renews the lines of list.txt that contain PATTERN.
set -eu
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
${CC:-gcc} -m32 -O1 -ffreestanding -fno-pic -fno-stack-protector -fno-asynchronous-unwind-tables \
	-nostdlib -static -Wl,-Ttext=0x100000 -Wl,--build-id=none -Wl,-e,entry \
	-o "$tmp/capture.elf" capture.c
grep -v '^#' list.txt | grep -e "${1:-}" | while read -r name accel cpu smp; do
	timeout 20 qemu-system-x86_64 -machine q35 -accel "$accel" -cpu "$cpu" -smp "$smp" -m 32 \
		-display none -no-reboot -nodefaults -device isa-debug-exit,iobase=0xf4 \
		-serial file:"$tmp/out" -kernel "$tmp/capture.elf" 2>"$tmp/err" </dev/null || true
	{
		echo "# qemu-system-x86_64 -accel $accel -cpu $cpu -smp $smp"
		tr -d '\r' <"$tmp/out" | grep -E '^([0-9a-f]{8} ){5}[0-9a-f]{8}$'
	} >"$name.txt"
	echo "$name: $(wc -l <"$name.txt") lines"
done
