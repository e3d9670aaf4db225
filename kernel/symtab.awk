# SPDX-License-Identifier: MIT
# `nm -n image` to the table that kernel/backtrace.c reads. Functions only.
# Without input: an empty table, for the first link pass.
BEGIN {
	print "\t.section .symtab_embedded, \"a\""
	print "\t.globl symtab, symtab_end, symtab_names"
	print "\t.balign 8\nsymtab:"
}
$2 ~ /^[tT]$/ && $3 != "text_start" && $3 != "text_end" {
	printf "\t.long 0x%s, %d\n", substr($1, length($1) - 7), offset
	names = names "\t.asciz \"" $3 "\"\n"
	offset += length($3) + 1
}
END {
	print "symtab_end:\nsymtab_names:"
	printf "%s", names
	print "\t.section .note.GNU-stack, \"\", @progbits"
}
