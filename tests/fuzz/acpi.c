/* SPDX-License-Identifier: MIT */
/* sources: tests/host/panic_host.c */
/* fuzz: -max_len=4096 */
/*
 * Bytes as ACPI tables: RSDP, root table and up to eight tables, each right before
 * a page that cannot be read. Signatures, lengths and checksums are made right,
 * mostly, or no input would get past them. A byte of options, then tables: kind,
 * size (2 bytes), contents.
 */
#include "phys.h"

#include "arch-x86/acpi.c"

#define TABLES_MAX 8
#define ROOM (4u << 10)
#define PLACE 0x100000ull /* table i ends at PLACE * (i + 1) */

enum option { OPT_REVISION_1 = 1, OPT_BAD_RSDP = 2, OPT_BAD_ROOT = 4, OPT_BAD_TABLE = 8,
	      OPT_X_DSDT = 16 };

static u64 place(u32 i)
{
	return PLACE * (i + 1);
}

static void setup(void)
{
	if (phys_memory)
		return;
	phys_init();
	for (u32 i = 0; i < TABLES_MAX + 2; i++)
		must(!mprotect(phys_memory + place(i), PHYS_PAGE, PROT_NONE));
}

static u8 checksum(const u8 *p, u32 n)
{
	u8 sum = 0;

	while (n--)
		sum = (u8)(sum + *p++);
	return (u8)-sum;
}

/* buf holds contents behind room for the header. */
static u64 put_table(u32 i, const char *signature, u8 *buf, u32 size, bool bad)
{
	struct table *t = (struct table *)buf;

	memcpy(t->signature, signature, 4);
	t->length = size;
	t->checksum = 0;
	t->checksum = (u8)(checksum(buf, size) + bad);
	return phys_put(place(i), buf, size, ROOM);
}

static u64 put_rsdp(u64 root, u8 options)
{
	struct rsdp r = { .revision = options & OPT_REVISION_1 ? 0 : 2, .length = sizeof(r) };

	memcpy(r.signature, "RSD PTR ", 8);
	if (options & OPT_REVISION_1)
		r.rsdt = (u32)root;
	else
		r.xsdt = root;
	r.checksum = checksum((u8 *)&r, RSDP_V1_SIZE);
	r.checksum2 = (u8)(checksum((u8 *)&r, sizeof(r)) + !!(options & OPT_BAD_RSDP));
	return phys_put(place(TABLES_MAX + 1), &r, sizeof(r), ROOM);
}

/* By the old field or the new one. */
static void point_at_dsdt(u8 *fadt, u32 size, u64 dsdt, u8 options)
{
	u64 none = 0;

	if (size >= FADT_DSDT + 4)
		memcpy(fadt + FADT_DSDT, options & OPT_X_DSDT ? &none : &dsdt, 4);
	if (size >= FADT_X_DSDT + 8)
		memcpy(fadt + FADT_X_DSDT, options & OPT_X_DSDT ? &dsdt : &none, 8);
}

static u64 put_tables(struct input *in)
{
	static const char *const kinds[] = { "APIC", "SRAT", "SLIT", "FACP", "DSDT", "TEST" };
	static u8 buf[ROOM], root[ROOM];
	u32 nr = 0, root_size = sizeof(struct table);
	u8 options = take8(in);
	u64 dsdt = 0;

	while (in->left > 3 && nr < TABLES_MAX) {
		const char *kind = kinds[take8(in) % ARRAY_SIZE(kinds)];
		u32 size = sizeof(struct table), wanted = size + take16(in) % 2048;
		u64 addr;

		memset(buf, 0, sizeof(buf));
		while (size < wanted && in->left)
			buf[size++] = take8(in);
		if (!strcmp(kind, "FACP"))
			point_at_dsdt(buf, size, dsdt, options);
		addr = put_table(nr, kind, buf, size, options & OPT_BAD_TABLE && !nr);
		nr++;
		if (!strcmp(kind, "DSDT"))
			dsdt = addr;
		memcpy(root + root_size, &addr, sizeof(addr));
		root_size += options & OPT_REVISION_1 ? 4 : 8;
	}
	return put_rsdp(put_table(TABLES_MAX, options & OPT_REVISION_1 ? "RSDT" : "XSDT", root,
				  root_size, options & OPT_BAD_ROOT), options);
}

static void reset(void)
{
	memset(&cpus, 0, sizeof(cpus));
	memset(&s5, 0, sizeof(s5));
	nr_affinity = nr_nodes = 0;
	have_slit = false;
	root_table = NULL;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };

	setup();
	reset();
	acpi_init(put_tables(&in));
	must(acpi_cpus()->nr <= ACPI_MAX_CPUS);
	must(acpi_nr_nodes() >= 1 && acpi_nr_nodes() <= ACPI_MAX_NODES);
	must(!acpi_slit() || acpi_have_srat());
	for (u32 i = 0; i < acpi_cpus()->nr; i++)
		must(acpi_node_of_apic(acpi_cpus()->entry[i].apic_id, NULL) < acpi_nr_nodes());
	for (u32 i = 1; i < nr_nodes; i++)
		must(domain_of_node[i - 1] < domain_of_node[i]);
	return 0;
}
