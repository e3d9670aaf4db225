/* SPDX-License-Identifier: MIT */
/* The topology in words: boot log (spec/topology.md section 6), topology frame
 * (DESIGN section 5), and a tree for people. */
#include "topology.h"
#include "lib/fmt.h"

#define LINE_MAX_BYTES 512

typedef void line_fn(const char *text);

/* One line under construction; text that does not fit is cut. */
struct text {
	char buf[LINE_MAX_BYTES];
	size_t len;
};

static void add(struct text *x, const char *f, ...) printf_like(2, 3);

static void add(struct text *x, const char *f, ...)
{
	va_list ap;
	int n;

	va_start(ap, f);
	n = fmt_vsn(x->buf + x->len, sizeof(x->buf) - x->len, f, ap);
	va_end(ap);
	x->len += (size_t)n;
	if (x->len > sizeof(x->buf) - 1)
		x->len = sizeof(x->buf) - 1;
}

/* "1 core", "2 cores" */
static void add_count(struct text *x, u32 n, const char *what)
{
	add(x, "%u %s%s", n, what, n == 1 ? "" : "s");
}

static void text_begin(struct text *x)
{
	x->len = 0;
	x->buf[0] = '\0';
}

static bool same_domains(const struct sched_domains *d, u32 a, u32 b)
{
	const struct sched_domain *x = d->bottom[a], *y = d->bottom[b];

	if (d->llc_id[a] != d->llc_id[b] || d->llc_size[a] != d->llc_size[b])
		return false;
	for (; x && y; x = x->parent, y = y->parent)
		if (x->name != y->name || x->span_weight != y->span_weight)
			return false;
	return x == y;
}

static void log_domains(const struct sched_topo *t, const struct sched_domains *d, line_fn *line)
{
	struct text x;

	for (u32 c = 0, end; c < t->nr_cpus; c = end) {
		for (end = c + 1; end < t->nr_cpus && same_domains(d, c, end); end++)
			;
		text_begin(&x);
		add(&x, "topo: cpu%u", c);
		if (end > c + 1)
			add(&x, "-%u", end - 1);
		add(&x, " sd");
		for (const struct sched_domain *sd = d->bottom[c]; sd; sd = sd->parent)
			add(&x, " %s:%u", sd->name, sd->span_weight);
		if (!d->bottom[c])
			add(&x, " none");
		add(&x, " llc_id=%u llc_size=%u", d->llc_id[c], d->llc_size[c]);
		line(x.buf);
	}
}

struct fault_lines {
	struct text x;
	line_fn *line;
};

static void log_fault(enum topo_warn code, const char *text, void *ctx)
{
	struct fault_lines *f = ctx;

	text_begin(&f->x);
	add(&f->x, "topo: WARN %s %s", topology_warn_name(code), text);
	f->line(f->x.buf);
}

static void log_faults(const struct sched_topo *t, const struct sched_domains *d,
		       const struct topo_input *in, line_fn *line)
{
	struct fault_lines f = { .line = line };
	struct text x;

	if (in)
		topology_faults(t, in, log_fault, &f);
	if (!d->nest_warnings)
		return;
	text_begin(&x);
	add(&x, "spans=%u widened, first %s of cpu%u", d->nest_warnings, d->nest_level,
	    d->nest_cpu);
	log_fault(TOPO_WARN_NEST, x.buf, &f);
}

static void log_madt(const struct topo_input *in, struct text *x)
{
	u32 started = 0;

	for (u32 c = 0; c < in->nr; c++)
		started += in->cpu[c].started;
	add(x, "topo: madt enabled=%u disabled=%u started=%u dropped=%u apic=%s",
	    in->madt_enabled, in->madt_disabled, started, in->dropped,
	    in->x2apic ? "x2apic" : "xapic");
}

void topology_log(const struct sched_topo *t, const struct sched_domains *d,
		  const struct topo_input *in, const struct topo_shifts *shifts,
		  void (*line)(const char *text))
{
	struct text x;

	text_begin(&x);
	if (in) {
		log_madt(in, &x);
		line(x.buf);
		text_begin(&x);
	}
	add(&x, "topo: src=%s vendor=%s C=%u D=%u P=%u llc=%s shift=%u", shifts->source,
	    shifts->vendor, shifts->core, shifts->die, shifts->pkg, shifts->llc_source,
	    shifts->llc);
	line(x.buf);
	if (shifts->llc_unannounced)
		line("topo: leaf 0x8000001D used without TOPOEXT, a hypervisor filled it");
	for (u32 c = 0; c < t->nr_cpus; c++) {
		const struct topo_cpu *tc = &t->cpu[c];

		text_begin(&x);
		add(&x, "topo: cpu%u apic=%u pkg=%u die=%u core=%u thr=%u llc=%u node=%u sibw=%u",
		    c, tc->apic, tc->pkg, tc->die, tc->core, tc->thr, tc->llc, tc->node,
		    t->sibling_weight[c]);
		line(x.buf);
	}
	log_domains(t, d, line);
	text_begin(&x);
	add(&x, "topo: packages=%u dies=%u llcs=%u cores=%u smt_max=%u smt_min=%u", t->nr_pkgs,
	    t->nr_dies, t->nr_llcs, t->nr_cores, t->smt_max, t->smt_min);
	line(x.buf);
	log_faults(t, d, in, line);
}

static void frame_cpu(struct json *j, const struct sched_topo *t, const struct sched_domains *d,
		      u32 cpu)
{
	const struct topo_cpu *tc = &t->cpu[cpu];

	json_obj(j, NULL);
	json_u64(j, "cpu", cpu);
	json_u64(j, "apic", tc->apic);
	json_u64(j, "pkg", tc->pkg);
	json_u64(j, "die", tc->die);
	json_u64(j, "core", tc->core);
	json_u64(j, "thread", tc->thr);
	json_u64(j, "llc", tc->llc);
	json_u64(j, "node", tc->node);
	json_u64(j, "sibling_weight", t->sibling_weight[cpu]);
	json_arr(j, "domains");
	for (const struct sched_domain *sd = d->bottom[cpu]; sd; sd = sd->parent) {
		json_obj(j, NULL);
		json_str(j, "name", sd->name);
		json_u64(j, "weight", sd->span_weight);
		json_end_obj(j);
	}
	json_end_arr(j);
	json_end_obj(j);
}

void topology_frame(struct json *j, const struct sched_topo *t, const struct sched_domains *d,
		    const char *source, u32 warnings)
{
	if (d->nest_warnings)
		warnings |= 1u << TOPO_WARN_NEST;
	json_str(j, "source", source);
	json_u64(j, "packages", t->nr_pkgs);
	json_u64(j, "dies", t->nr_dies);
	json_u64(j, "llcs", t->nr_llcs);
	json_u64(j, "cores", t->nr_cores);
	json_u64(j, "cpus", t->nr_cpus);
	json_u64(j, "smt_max", t->smt_max);
	json_u64(j, "smt_min", t->smt_min);
	json_arr(j, "warnings");
	for (u32 code = 0; code < TOPO_WARN_NR; code++)
		if (warnings >> code & 1)
			json_str(j, NULL, topology_warn_name(code));
	json_end_arr(j);
	json_arr(j, "cpu");
	for (u32 c = 0; c < t->nr_cpus; c++)
		frame_cpu(j, t, d, c);
	json_end_arr(j);
}

/* Larger machines have alike LLCs folded and threads left out in the middle. */
#define TREE_FOLD_CPUS 32
#define TREE_CORES_SHOWN 4
#define TREE_THREADS_SHOWN 16

static void add_range(struct text *x, const char *one, const char *many, u32 first, u32 last)
{
	if (first == last)
		add(x, "%s %u", one, first);
	else
		add(x, "%s %u-%u", many, first, last);
}

static void add_threads(struct text *x, const struct sched_topo *t, const struct cpumask *smt)
{
	u32 shown = 0;

	for_each_cpu(c, smt, t->nr_cpus) {
		if (shown == TREE_THREADS_SHOWN) {
			add(x, ",...");
			break;
		}
		add(x, "%s%u", shown++ ? "," : " {", c);
	}
	add(x, "}");
}

/* " {0,1} {2,3}": the online threads of each core of the LLC. */
static void add_cores(struct text *x, const struct sched_topo *t, const struct cpumask *llc,
		      u32 cores)
{
	bool fold = t->nr_cpus > TREE_FOLD_CPUS && cores > TREE_CORES_SHOWN;
	u32 shown = 0;

	for_each_cpu(c, llc, t->nr_cpus) {
		const struct cpumask *smt = topo_mask(t, TOPO_SMT, c);

		if (cpumask_first(smt, t->nr_cpus) != c)
			continue;
		shown++;
		if (fold && shown == TREE_CORES_SHOWN)
			add(x, " ...");
		if (fold && shown >= TREE_CORES_SHOWN && shown < cores)
			continue;
		add_threads(x, t, smt);
	}
}

struct llc_shape {
	u32 pkg, die, node, cpus, cores, smt, first;
};

static struct llc_shape llc_shape(const struct sched_topo *t, u32 llc)
{
	const struct cpumask *m = &t->group[TOPO_LLC][llc];
	struct llc_shape s = { .first = cpumask_first(m, t->nr_cpus) };

	for_each_cpu(c, m, t->nr_cpus) {
		s.cpus++;
		s.cores += cpumask_first(topo_mask(t, TOPO_SMT, c), t->nr_cpus) == c;
		if (t->sibling_weight[c] > s.smt)
			s.smt = t->sibling_weight[c];
	}
	if (s.cpus) {
		s.pkg = t->cpu[s.first].pkg;
		s.die = t->cpu[s.first].die;
		s.node = t->cpu[s.first].node;
	}
	return s;
}

/* One LLC, or the run of LLCs up to `last` that look like it. */
static void tree_llcs(const struct sched_topo *t, u32 llc, u32 last, const struct llc_shape *s,
		      line_fn *line)
{
	const struct cpumask *m = &t->group[TOPO_LLC][llc];
	struct llc_shape z = llc_shape(t, last);
	struct text x;

	text_begin(&x);
	add(&x, "  ");
	add_range(&x, "package", "packages", s->pkg, z.pkg);
	add_range(&x, ", die", ", dies", s->die, z.die);
	if (t->nr_nodes > 1)
		add_range(&x, ", node", ", nodes", s->node, z.node);
	add_range(&x, ", LLC", ", LLCs", llc, last);
	add(&x, "%s", llc == last ? ": " : ": each ");
	add_count(&x, s->cpus, "CPU");
	add(&x, ", ");
	add_count(&x, s->cores, "core");
	if (llc == last) {
		add(&x, ", threads");
		add_cores(&x, t, m, s->cores);
	} else {
		add(&x, " of ");
		add_count(&x, s->smt, "thread");
		add(&x, ", CPUs from %u", s->first);
	}
	line(x.buf);
}

void topology_tree(const struct sched_topo *t, void (*line)(const char *text))
{
	const struct {
		u32 n;
		const char *what;
	} totals[] = { { t->nr_pkgs, "package" }, { t->nr_nodes, "NUMA node" },
		       { t->nr_dies, "die" },     { t->nr_llcs, "LLC" },
		       { t->nr_cores, "core" },   { t->nr_cpus, "CPU" } };
	bool fold = t->nr_cpus > TREE_FOLD_CPUS;
	struct text x;

	text_begin(&x);
	add(&x, "topology: ");
	for (u32 i = 0; i < ARRAY_SIZE(totals); i++) {
		add(&x, "%s", i ? ", " : "");
		add_count(&x, totals[i].n, totals[i].what);
	}
	line(x.buf);
	for (u32 l = 0, end; l < t->nr_llcs; l = end) {
		struct llc_shape s = llc_shape(t, l);

		end = l + 1;
		if (!s.cpus)
			continue;
		/* The machine's first LLC is shown in full, its likes in one line. */
		while (fold && l && end < t->nr_llcs) {
			struct llc_shape n = llc_shape(t, end);

			if (n.cpus != s.cpus || n.cores != s.cores || n.smt != s.smt)
				break;
			end++;
		}
		tree_llcs(t, l, end - 1, &s, line);
	}
}
