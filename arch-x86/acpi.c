/* SPDX-License-Identifier: MIT */
/* ACPI specification 6.4, chapters 5 (tables) and 4.8 (PM1 registers). */
#include "acpi.h"
#include "cpu.h"
#include "../kernel/lib/string.h"

#define MAPPED_END (1ull << 32)
#define TABLE_MAX (16u << 20)

/* Where a physical address is seen: acpi_init() runs on the boot tables, which map
 * it to itself. Fuzzing (tests/fuzz) has it elsewhere. */
#ifndef PHYS
#define PHYS(addr) ((const void *)(addr))
#endif

struct rsdp {
	char signature[8];
	u8 checksum;
	char oem[6];
	u8 revision;
	u32 rsdt;
	u32 length; /* revision 2 and later, as is the rest */
	u64 xsdt;
	u8 checksum2, reserved[3];
} __attribute__((packed));

#define RSDP_V1_SIZE 20

struct table {
	char signature[4];
	u32 length;
	u8 revision, checksum;
	char oem[6], oem_table[8];
	u32 oem_revision, creator, creator_revision;
} __attribute__((packed));

/* Offsets of entries that follow a table's fixed part. */
#define MADT_ENTRIES 44
#define SRAT_ENTRIES 48
#define SLIT_COUNT 36
#define SLIT_MATRIX 44

#define MADT_LAPIC 0
#define MADT_X2APIC 9
#define MADT_ENABLED 1u
#define APIC_ID_NONE 0xff
#define X2APIC_ID_NONE 0xffffffffu

#define SRAT_LAPIC 0
#define SRAT_X2APIC 2
#define SRAT_ENABLED 1u

#define FADT_DSDT 40
#define FADT_SMI_CMD 48
#define FADT_ACPI_ENABLE 52
#define FADT_PM1A_CNT 64
#define FADT_PM1B_CNT 68
#define FADT_X_DSDT 140

#define PM1_SCI_EN 0x0001
#define PM1_SLP_TYP_SHIFT 10
#define PM1_SLP_EN 0x2000

struct affinity {
	u32 apic_id, domain;
};

static struct acpi_cpus cpus;
static struct affinity affinity[ACPI_MAX_CPUS];
static u32 nr_affinity;
static u32 domain_of_node[ACPI_MAX_NODES];
static u32 nr_nodes;
static u8 slit[ACPI_MAX_NODES * ACPI_MAX_NODES];
static bool have_slit;

static struct {
	bool valid;
	u32 smi_cmd, pm1a, pm1b;
	u8 acpi_enable, type_a, type_b;
} s5;

/* Tables are packed: fields may be unaligned. */
static u16 get16(const void *p)
{
	u16 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static u32 get32(const void *p)
{
	u32 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static u64 get64(const void *p)
{
	u64 v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static bool readable(u64 addr, u64 size)
{
	return addr && addr < MAPPED_END && size <= MAPPED_END - addr;
}

static bool sums_to_zero(const void *p, u32 n)
{
	const u8 *b = p;
	u8 sum = 0;

	for (u32 i = 0; i < n; i++)
		sum = (u8)(sum + b[i]);
	return !sum;
}

/* The table at addr if it is sound, at least min long and, with a signature
 * given, of that kind. */
static const u8 *table_at(u64 addr, const char *signature, u32 min)
{
	const struct table *t = PHYS(addr);

	if (!readable(addr, sizeof(*t)) || (signature && memcmp(t->signature, signature, 4)))
		return NULL;
	if (t->length < sizeof(*t) || t->length < min || t->length > TABLE_MAX ||
	    !readable(addr, t->length) || !sums_to_zero(t, t->length))
		return NULL;
	return (const u8 *)t;
}

static u32 table_length(const u8 *t)
{
	return ((const struct table *)t)->length;
}

static const u8 *root_table;
static u32 root_entry_size;

static void find_root(u64 addr)
{
	const struct rsdp *r = PHYS(addr);

	if (!readable(addr, RSDP_V1_SIZE) || memcmp(r->signature, "RSD PTR ", 8) ||
	    !sums_to_zero(r, RSDP_V1_SIZE))
		return;
	if (r->revision >= 2 && readable(addr, sizeof(*r)) && r->length >= sizeof(*r) &&
	    r->length <= 4096 && sums_to_zero(r, r->length)) {
		root_table = table_at(r->xsdt, "XSDT", 0);
		root_entry_size = 8;
	}
	if (!root_table) {
		root_table = table_at(r->rsdt, "RSDT", 0);
		root_entry_size = 4;
	}
}

static const u8 *find_table(const char *signature, u32 min)
{
	if (!root_table)
		return NULL;

	u32 end = table_length(root_table);

	for (u32 off = sizeof(struct table); off + root_entry_size <= end; off += root_entry_size) {
		const u8 *p = root_table + off;
		const u8 *t = table_at(root_entry_size == 8 ? get64(p) : get32(p), signature, min);

		if (t)
			return t;
	}
	return NULL;
}

/* Calls fn for every whole entry (type byte, length byte, ...) of a table. */
static void each_entry(const u8 *t, u32 first, void (*fn)(const u8 *e, u8 type, u8 len))
{
	u32 end = table_length(t);

	for (u32 off = first; off + 2 <= end;) {
		u8 len = t[off + 1];

		if (len < 2 || len > end - off)
			return;
		fn(t + off, t[off], len);
		off += len;
	}
}

static void madt_add(u32 apic_id, u32 flags, bool type9)
{
	if (cpus.nr == ACPI_MAX_CPUS) {
		cpus.dropped += flags & MADT_ENABLED;
		return;
	}
	cpus.entry[cpus.nr++] = (struct madt_entry){
		.apic_id = apic_id,
		.enabled = flags & MADT_ENABLED,
		.type9 = type9,
	};
}

static void madt_entry(const u8 *e, u8 type, u8 len)
{
	if (type == MADT_LAPIC && len >= 8 && e[3] != APIC_ID_NONE)
		madt_add(e[3], get32(e + 4), false);
	else if (type == MADT_X2APIC && len >= 16 && get32(e + 4) != X2APIC_ID_NONE)
		madt_add(get32(e + 4), get32(e + 8), true);
}

static void add_node(u32 domain)
{
	u32 i = nr_nodes;

	for (u32 k = 0; k < nr_nodes; k++)
		if (domain_of_node[k] == domain)
			return;
	if (nr_nodes == ACPI_MAX_NODES)
		return;
	for (; i && domain_of_node[i - 1] > domain; i--)
		domain_of_node[i] = domain_of_node[i - 1];
	domain_of_node[i] = domain;
	nr_nodes++;
}

static void srat_entry(const u8 *e, u8 type, u8 len)
{
	struct affinity a;

	if (type == SRAT_LAPIC && len >= 16 && get32(e + 4) & SRAT_ENABLED) {
		a.apic_id = e[3];
		a.domain = e[2] | (u32)e[9] << 8 | (u32)get16(e + 10) << 16;
	} else if (type == SRAT_X2APIC && len >= 24 && get32(e + 12) & SRAT_ENABLED) {
		a.apic_id = get32(e + 8);
		a.domain = get32(e + 4);
	} else {
		return;
	}
	if (nr_affinity == ACPI_MAX_CPUS)
		return;
	affinity[nr_affinity++] = a;
	add_node(a.domain);
}

/* The matrix is indexed by proximity domain; ours by node. */
static void read_slit(const u8 *t)
{
	u64 n = get64(t + SLIT_COUNT);

	if (n > 1024 || table_length(t) < SLIT_MATRIX + n * n)
		return;
	for (u32 i = 0; i < nr_nodes; i++)
		for (u32 j = 0; j < nr_nodes; j++) {
			u32 a = domain_of_node[i], b = domain_of_node[j];

			if (a >= n || b >= n)
				return;
			slit[i * nr_nodes + j] = t[SLIT_MATRIX + a * n + b];
		}
	have_slit = nr_nodes > 0;
}

/* An AML integer constant (ACPI 6.4 section 20.2.3); false for anything else. */
static bool aml_integer(const u8 **p, const u8 *end, u8 *value)
{
	if (*p >= end)
		return false;
	switch (*(*p)++) {
	case 0x00: /* ZeroOp */
		*value = 0;
		return true;
	case 0x01: /* OneOp */
		*value = 1;
		return true;
	case 0x0a: /* BytePrefix */
		if (*p >= end)
			return false;
		*value = *(*p)++;
		return true;
	}
	return false;
}

/* Name(\_S5_, Package(){SLP_TYPa, SLP_TYPb, ...}): found by its bytes, since an
 * AML interpreter for one constant would be out of proportion. */
static bool find_s5(const u8 *dsdt)
{
	const u8 *end = dsdt + table_length(dsdt);

	for (const u8 *p = dsdt + sizeof(struct table); end - p >= 8; p++) {
		const u8 *q = p + 4;

		if (memcmp(p, "_S5_", 4) || *q++ != 0x12) /* PackageOp */
			continue;
		q += 1 + (*q >> 6) + 1; /* PkgLength, element count */
		if (aml_integer(&q, end, &s5.type_a) && aml_integer(&q, end, &s5.type_b))
			return true;
	}
	return false;
}

static void read_fadt(const u8 *t)
{
	const u8 *dsdt = table_at(get32(t + FADT_DSDT), "DSDT", 0);

	if (!dsdt && table_length(t) >= FADT_X_DSDT + 8)
		dsdt = table_at(get64(t + FADT_X_DSDT), "DSDT", 0);
	s5.smi_cmd = get32(t + FADT_SMI_CMD);
	s5.acpi_enable = t[FADT_ACPI_ENABLE];
	s5.pm1a = get32(t + FADT_PM1A_CNT);
	s5.pm1b = get32(t + FADT_PM1B_CNT);
	s5.valid = dsdt && s5.pm1a && find_s5(dsdt);
}

void acpi_init(u64 rsdp)
{
	const u8 *t;

	find_root(rsdp);
	t = find_table("APIC", MADT_ENTRIES);
	if (t) {
		cpus.have_madt = true;
		each_entry(t, MADT_ENTRIES, madt_entry);
	}
	t = find_table("SRAT", SRAT_ENTRIES);
	if (t)
		each_entry(t, SRAT_ENTRIES, srat_entry);
	t = find_table("SLIT", SLIT_MATRIX);
	if (t)
		read_slit(t);
	t = find_table("FACP", FADT_PM1B_CNT + 4);
	if (t)
		read_fadt(t);
}

const struct acpi_cpus *acpi_cpus(void)
{
	return &cpus;
}

u32 acpi_nr_nodes(void)
{
	return nr_nodes ? nr_nodes : 1;
}

bool acpi_have_srat(void)
{
	return nr_nodes > 0;
}

u32 acpi_node_of_apic(u32 apic_id, void *ctx)
{
	(void)ctx;
	for (u32 i = 0; i < nr_affinity; i++)
		if (affinity[i].apic_id == apic_id)
			for (u32 n = 0; n < nr_nodes; n++)
				if (domain_of_node[n] == affinity[i].domain)
					return n;
	return 0;
}

const u8 *acpi_slit(void)
{
	return have_slit ? slit : NULL;
}

static void sleep(u32 port, u8 type)
{
	if (port && port <= 0xffff)
		outw((u16)port, (u16)((inw((u16)port) & ~(7 << PM1_SLP_TYP_SHIFT)) |
				      (type & 7) << PM1_SLP_TYP_SHIFT | PM1_SLP_EN));
}

void acpi_power_off(void)
{
	if (!s5.valid || s5.pm1a > 0xffff)
		return;
	/* Legacy mode: ask the firmware for ACPI mode first (section 4.8.2.5). */
	if (!(inw((u16)s5.pm1a) & PM1_SCI_EN) && s5.smi_cmd && s5.smi_cmd <= 0xffff &&
	    s5.acpi_enable) {
		outb((u16)s5.smi_cmd, s5.acpi_enable);
		for (u32 i = 0; i < 1000000 && !(inw((u16)s5.pm1a) & PM1_SCI_EN); i++)
			cpu_pause();
	}
	sleep(s5.pm1a, s5.type_a);
	sleep(s5.pm1b, s5.type_b);
	/* It takes effect within milliseconds, or not at all. */
	for (u32 i = 0; i < 1000000; i++)
		cpu_pause();
}
