/* SPDX-License-Identifier: MIT */
#include "smp.h"
#include "panic.h"
#include "../arch-x86/acpi.h"
#include "../arch-x86/ap.h"
#include "../arch-x86/cpu.h"
#include "../arch-x86/irq.h"
#include "../arch-x86/lapic.h"
#include "../arch-x86/tsc.h"
#include "../arch-x86/regs/apic.h"

#define START_TIMEOUT_NS 5000000000ull
#define STOP_TIMEOUT_NS 1000000000ull

/* One line per CPU: the boot CPU polls `state` while the owner writes it. */
struct smp_cpu {
	u32 state;           /* enum smp_state, __atomic */
	struct percpu *percpu;
	void (*fn)(void *);  /* mailbox: full when not NULL, __atomic */
	void *arg;
} __attribute__((aligned(CACHE_LINE)));

static struct smp_cpu *cpus;
static u32 nr_cpus = 1;

/* The AP being started reports here; one at a time. */
static struct cpu_report *ap_report;
static bool ap_linux52;

u32 smp_nr(void)
{
	return nr_cpus;
}

enum smp_state smp_state(u32 cpu)
{
	if (!cpus)
		return SMP_RUNNING;
	return __atomic_load_n(&cpus[cpu].state, __ATOMIC_ACQUIRE);
}

struct percpu *smp_percpu(u32 cpu)
{
	return cpus ? cpus[cpu].percpu : percpu_self();
}

void smp_ipi(u32 cpu, u8 vector)
{
	lapic_ipi(cpus[cpu].percpu->apic_id, vector);
}

static void set_state(struct smp_cpu *c, enum smp_state state)
{
	__atomic_store_n(&c->state, state, __ATOMIC_RELEASE);
}

/* Entered on an empty stack. */
static void noreturn_fn park_loop(void)
{
	struct smp_cpu *me = &cpus[percpu_cpu()];

	irq_disable();
	set_state(me, SMP_PARKED);
	for (;;) {
		void (*fn)(void *) = __atomic_load_n(&me->fn, __ATOMIC_ACQUIRE);

		if (!fn) {
			cpu_halt_until_irq();
			continue;
		}
		__atomic_store_n(&me->fn, NULL, __ATOMIC_RELAXED);
		fn(me->arg);
		irq_disable();
		set_state(me, SMP_PARKED);
	}
}

void smp_run_on(u32 cpu, void (*fn)(void *), void *arg)
{
	struct smp_cpu *c = &cpus[cpu];

	panic_unless(smp_state(cpu) == SMP_PARKED, "smp: CPU %u is not parked", cpu);
	c->arg = arg;
	/* The caller marks it, so that smp_wait_parked() cannot see the old state. */
	set_state(c, SMP_RUNNING);
	__atomic_store_n(&c->fn, fn, __ATOMIC_RELEASE);
	smp_ipi(cpu, VEC_CALL);
}

void smp_wait_parked(u32 cpu)
{
	while (smp_state(cpu) != SMP_PARKED)
		cpu_pause();
}

static void report_self(struct cpu_report *r)
{
	struct cpuid_snap snap;

	cpuid_capture(&snap);
	topo_decode(&snap, ap_linux52, &r->shifts);
	r->started = true;
}

void noreturn_fn ap_main(struct percpu *p)
{
	percpu_load(p);
	irq_load();
	lapic_enable();
	report_self(ap_report);
	park_loop();
}

static bool wait_for_ap(u32 cpu)
{
	u64 start = rdtsc(), limit = tsc_from_ns(START_TIMEOUT_NS);

	while (smp_state(cpu) != SMP_PARKED) {
		if (rdtsc() - start > limit)
			return false;
		cpu_pause();
	}
	return true;
}

static void start_one(u32 cpu, struct cpu_report *r)
{
	struct percpu *p = percpu_alloc(cpu, r->madt_id);

	cpus[cpu].percpu = p;
	/* xAPIC cannot address it: dead without the wait. */
	if (!lapic_is_x2apic() && r->madt_id > XAPIC_MAX_ID)
		return;
	ap_report = r;
	ap_start(p);
	if (!wait_for_ap(cpu)) {
		ap_cancel(p);
		r->started = false;
	}
}

static bool listed(const struct topo_input *in, u32 apic_id)
{
	for (u32 i = 0; i < in->nr; i++)
		if (in->cpu[i].madt_id == apic_id)
			return true;
	return false;
}

/* CPU 0 is the boot CPU wherever the MADT has it; spec/topology.md section 1. */
static void list_cpus(struct topo_input *in, u32 boot_id)
{
	const struct acpi_cpus *madt = acpi_cpus();
	bool boot_seen = false;

	in->cpu[in->nr++].madt_id = boot_id;
	for (u32 i = 0; i < madt->nr; i++) {
		const struct madt_entry *e = &madt->entry[i];

		if (!e->enabled) {
			in->madt_disabled++;
			continue;
		}
		in->madt_enabled++;
		if (e->apic_id == boot_id && !boot_seen)
			boot_seen = true;
		else if (listed(in, e->apic_id))
			in->duplicates++;
		else if (in->nr == MAX_CPUS)
			in->dropped++;
		else
			in->cpu[in->nr++].madt_id = e->apic_id;
	}
	in->madt_enabled += madt->dropped;
	in->dropped += madt->dropped;
	in->no_madt = !madt->have_madt;
}

u32 smp_start_all(const struct boot_info *bi, bool linux52, struct topo_input *in,
		  struct arena *a)
{
	u32 started = 1, boot_id = lapic_id();

	*in = (struct topo_input){ .x2apic = lapic_is_x2apic(), .nr_nodes = acpi_nr_nodes() };
	in->cpu = arena_alloc(a, (acpi_cpus()->nr + 1) * sizeof(*in->cpu));
	list_cpus(in, boot_id);
	if (acpi_have_srat())
		in->node_of_apic = acpi_node_of_apic;
	in->slit = acpi_slit();

	ap_linux52 = linux52;
	percpu_self()->apic_id = boot_id;
	report_self(&in->cpu[0]);
	struct smp_cpu *list = arena_alloc(a, in->nr * sizeof(*list));

	list[0].percpu = percpu_self();
	list[0].state = SMP_RUNNING;
	cpus = list;
	nr_cpus = in->nr;
	if (in->nr == 1 || !ap_prepare(bi))
		return started;
	for (u32 cpu = 1; cpu < in->nr; cpu++) {
		start_one(cpu, &in->cpu[cpu]);
		started += in->cpu[cpu].started;
	}
	ap_finish();
	return started;
}

void smp_stop_others(void)
{
	u64 start = rdtsc(), limit = tsc_from_ns(STOP_TIMEOUT_NS);
	u32 self = percpu_cpu();

	if (!cpus)
		return;
	for (u32 cpu = 0; cpu < nr_cpus; cpu++)
		if (cpu != self && smp_state(cpu) != SMP_OFFLINE)
			lapic_nmi(cpus[cpu].percpu->apic_id);
	for (u32 cpu = 0; cpu < nr_cpus; cpu++)
		while (cpu != self && smp_state(cpu) != SMP_OFFLINE &&
		       !__atomic_load_n(&cpus[cpu].percpu->stopped, __ATOMIC_ACQUIRE) &&
		       rdtsc() - start < limit)
			cpu_pause();
}
