/* SPDX-License-Identifier: MIT */
/* From a parsed command line to runs and reports. */
#include "command.h"

#include "console.h"
#include "engine/exec.h"
#include "frame.h"
#include "help.h"
#include "lib/fmt.h"
#include "platform.h"
#include "report.h"
#include "selftest.h"
#include "verdict.h"

/* Real time between progress lines. */
#define PROGRESS_NS 5000000000ull

/* host is mux in a program of another kind. */
static const struct executor *const executors[] = {
	[EXEC_MUX] = &executor_mux, [EXEC_SMP] = &executor_smp, [EXEC_LIVE] = &executor_live,
	[EXEC_HOST] = &executor_mux,
};

static struct rig rig;
static struct sched_topo topo;
static u32 failed_runs, failed_verdicts, checks_failed;
static const char *machines[16]; /* NULL behind the last */
static const struct cmdline_names names = { .machines = machines, .selftests = selftest_names };

static void noreturn_fn usage(const char *f, ...) printf_like(1, 2);
static void noreturn_fn usage(const char *f, ...)
{
	char buf[CMDLINE_ERROR_MAX];
	va_list ap;

	va_start(ap, f);
	fmt_vsn(buf, sizeof(buf), f, ap);
	va_end(ap);
	console_line(buf);
	plat_exit(2);
}

const struct cmdline *command_parse(const char *text, bool truncated)
{
	static struct cmdline cl;

	panic_unless(machine_count < ARRAY_SIZE(machines), "machines.def has %u rows",
		     machine_count);
	for (u32 i = 0; i < machine_count; i++)
		machines[i] = machine_table[i].name;
	if (!cmdline_parse(&cl, text, truncated, &names))
		usage("%s", cl.error);
	return &cl;
}

/* ---- topology ------------------------------------------------------------------------ */

static bool same_machine(const struct sched_topo *a, const struct sched_topo *b)
{
	if (a->nr_cpus != b->nr_cpus)
		return false;
	for (u32 c = 0; c < a->nr_cpus; c++) {
		const struct topo_cpu *x = &a->cpu[c], *y = &b->cpu[c];

		if (x->core != y->core || x->die != y->die || x->pkg != y->pkg ||
		    x->online != y->online)
			return false;
	}
	return true;
}

/* Values that only the machine can refuse: CPU numbers, masks, sizes; and those that
 * go together or not, once the machine has settled them. */
static void check_values(const struct cmdline *cl, struct arena *a)
{
	struct plan_point *point = arena_alloc(a, sizeof(*point));
	u64 points = plan_points(cl);
	char why[256];

	for (u64 i = 0; i < points; i++) {
		const struct workload *w;

		plan_point(cl, i, topo.nr_cpus, topo.nr_cores, point);
		w = point->workload;
		for (u32 p = 0; p < workload_nr_params(w); p++)
			if (!param_fits(workload_param(w, p), &point->values.p[p], topo.nr_cpus,
					why, sizeof(why)))
				usage("error: %s", why);
		if (!params_agree(w, &point->values, why, sizeof(why)))
			usage("error: %s", why);
		if (w->check && !w->check(w, &point->values, &topo, why, sizeof(why)))
			usage("error: %s", why);
	}
}

/* topo=, else the machine's shape, else the booted CPUs (DESIGN section 5). */
static void choose_topology(const struct cmdline *cl, const struct booted *b, struct arena *a)
{
	const struct machine *m = rig.machine;
	struct topo_shifts shifts = b->shifts;
	struct topo_shape shape = { m->sockets, 1, m->cores, m->threads };
	bool given = cl->given[OPT_topo], simulated = given || m->sockets;
	u32 nodes = (u32)cl->number[OPT_nodes], warnings = 0;
	struct sched_topo booted;
	struct sched_domains domains;

	if (given) {
		const char *why;

		if (!topo_shape_parse(cl->value[OPT_topo], &shape, &why))
			usage("error: topo=%s: %s; allowed SxCxT or SxDxCxT, "
			      "up to %u CPUs",
			      cl->value[OPT_topo], why, MAX_CPUS);
	} else if (cl->given[OPT_nodes]) {
		usage("error: nodes=%u: goes with topo= only", nodes);
	}
	if (nodes > 1 && shape.pkgs % nodes)
		usage("error: nodes=%u: must divide the %u packages", nodes, shape.pkgs);
	topology_from_boot(&booted, &b->in, a, &warnings);
	if (simulated) {
		topology_from_shape(&topo, &shape, nodes, 0, a);
		topo_simulate(shape.dies, shape.cores, shape.threads, &shifts);
	} else {
		topo = booted;
	}
	/* What the machine is known to have, on any topology of its shape. */
	if (m->sockets && topo.nr_pkgs == m->sockets && topo.nr_cores == m->sockets * m->cores &&
	    topo.smt_max == m->threads)
		topology_override(&topo,
				  cl->given[OPT_nodes] ? 0 : m->nodes_per_socket * m->sockets,
				  m->llc_cores, a);
	if (rig.exec->needs_cpus && !same_machine(&topo, &booted))
		usage("error: exec=%s: needs the topology that booted (%u CPUs), not %s",
		      cl->exec, booted.nr_cpus,
		      given ? cl->value[OPT_topo] : m->name);
	for (u32 c = 0; rig.exec->needs_cpus && c < topo.nr_cpus; c++)
		if (!topo.cpu[c].online)
			usage("error: exec=%s: needs all CPUs, and CPU %u did not start",
			      cl->exec, c);
	check_values(cl, a);
	if (rig.plant) {
		console_printf("plant: %s", plant_names[rig.plant]);
		topo.plant = rig.plant;
		topo_build_masks(&topo, a); /* the threads come up once more, with the fault */
	}
	domains_build(&domains, &topo, feat(&cl->arm[0].vector, FEAT_SD_PKG), a);
	topology_log(&topo, &domains, simulated ? NULL : &b->in, &shifts, console_line);
	topology_tree(&topo, console_line);
	frames_init(a, topo.nr_cpus);
	report_header(cl, &rig, b->cpus);
	for (u32 i = 0; i < cl->nr_arms; i++)
		if (topo.nr_nodes == 1 && feat(&cl->arm[i].vector, FEAT_TG_COUNTER))
			console_printf("note: arm %s: TG_COUNTER=node on one NUMA node is one "
				       "counter; nodes= or machine= gives more", cl->arm[i].name);

	struct json *j = frame_begin("topology");

	topology_frame(j, &topo, &domains, shifts.source, simulated ? 0 : warnings);
	frame_end(j);
}

/* ---- runs ------------------------------------------------------------------------------ */

static void note_failure(const struct run_result *r)
{
	if (!r->failed)
		return;
	failed_runs++;
	checks_failed += r->ctx.checks_failed ? r->ctx.checks_failed : 1;
}

static struct {
	u64 start_ns, last_ns, total;
} shown;

static void progress_start(u64 total)
{
	shown.start_ns = shown.last_ns = plat_host_ns();
	shown.total = total;
}

static void progress(u64 done)
{
	u64 now_ns = plat_host_ns();

	if (now_ns - shown.last_ns < PROGRESS_NS || done == shown.total)
		return;
	shown.last_ns = now_ns;
	console_printf("progress: %llu of %llu runs, %llu s, about %llu s to go",
		       (unsigned long long)done, (unsigned long long)shown.total,
		       (unsigned long long)((now_ns - shown.start_ns) / 1000000000),
		       (unsigned long long)((now_ns - shown.start_ns) / done *
					    (shown.total - done) / 1000000000));
}

/* All arms and seeds of a point, whose first run is the i-th of all. */
static void run_point(const struct cmdline *cl, const struct plan_point *point, u64 i,
		      struct run_result *r)
{
	const struct workload *w = point->workload;
	u32 nr = cl->arms[point->bench].nr * (u32)cl->number[OPT_runs];
	bool complete = true;

	for (u32 k = 0; k < nr; k++) {
		struct plan_run run = plan_run(cl, i + k);
		const struct arm *arm = &cl->arm[run.arm];
		struct run_spec spec = { w, &point->values, &arm->vector, run.seed };

		run_execute(&rig, &spec, r);
		note_failure(r);
		if (cl->number[OPT_calibrate])
			calibrate_add();
		complete &= !r->failed;
		if (!r->failed && w->kind == WORKLOAD_PROBE) {
			w->report(&r->ctx, arm->name, !k);
		} else if (!r->failed) {
			verdict_add(k, &r->ctx);
			report_run(cl, &rig, point, &run, r);
			profile_note(&run, r);
		}
		progress(i + k + 1);
	}
	if (!complete || w->kind == WORKLOAD_PROBE)
		return;
	report_point(cl, point);
	profile_point(cl, point);
	if (w->kind == WORKLOAD_SCENARIO && !verdict_give(cl, point))
		failed_verdicts++;
}

static void print_tables(const struct cmdline *cl, u32 bench)
{
	report_table(cl, bench);
	profile_table();
}

static void run_plan(const struct cmdline *cl, struct arena *a)
{
	u64 points = plan_points(cl), run = 0;
	u32 runs_max = (u32)cl->number[OPT_runs] * cl->nr_arms;
	struct run_result *r = arena_alloc(a, sizeof(*r));
	struct plan_point *point = arena_alloc(a, sizeof(*point));

	report_init(cl, a);
	profile_init(cl, a);
	if (points && cl->bench[0]->kind == WORKLOAD_SCENARIO)
		verdict_init(runs_max, a);
	rig.arena_mark = a->used;
	progress_start(plan_total(cl));
	for (u64 p = 0; p < points; p++) {
		u32 before = point->bench;

		plan_point(cl, p, topo.nr_cpus, topo.nr_cores, point);
		if (p && before != point->bench)
			print_tables(cl, before);
		run_point(cl, point, run, r);
		run += cl->arms[point->bench].nr * cl->number[OPT_runs];
	}
	if (points)
		print_tables(cl, point->bench);
	if (cl->number[OPT_calibrate])
		calibrate_print();
}

static void run_selftests(const struct cmdline *cl, struct arena *a)
{
	const char *only = cl->value[OPT_selftest];
	struct run_result *r = arena_alloc(a, sizeof(*r));
	struct param_values *none = arena_alloc(a, sizeof(*none));

	rig.arena_mark = a->used;
	for (u32 i = 0; i < selftest_count; i++) {
		const struct selftest *t = &selftest_table[i];
		struct run_spec spec = { &t->workload, none, &cl->arm[0].vector,
					 cl->number[OPT_seed] };

		if (only[0] ? !span_is(span_of(only), t->workload.name) : t->breaks)
			continue;
		run_execute(&rig, &spec, r);
		note_failure(r);
		console_printf("selftest %s: %s", t->workload.name,
			       r->failed ? "FAILED" : "passed");
	}
}

void command_help(const struct cmdline *cl, struct arena *a)
{
	if (cl->listed == WORKLOAD_BENCH || cl->given[OPT_help])
		help_print(&names, cl->help_name, console_line);
	else
		help_list(&names, cl->listed, console_line);
	frames_init(a, 1);
	frame_finish(true, 0);
	plat_exit(0);
}

void command_run(const struct cmdline *cl, const struct booted *b, struct arena *a)
{
	rig = (struct rig){
		.topo = &topo, .machine = &machine_table[cl->machine],
		.exec = executors[cl->number[OPT_exec]], .arena = a,
		.hz = cl->hz,
		.slack_ps = cl->number[OPT_slack_ns] * 1000,
		.vlimit_ps = cl->number[OPT_vlimit_s] * 1000,
		.cost_insn = cl->number[OPT_cost] == COST_INSN,
		.reads_shared = cl->number[OPT_line_reads] == LINE_READS_SHARED,
		.trace = cl->number[OPT_trace],
		.plant = cl->plant,
	};
	if (!(plat_executors() >> cl->number[OPT_exec] & 1))
		usage("error: exec=%s: %s", cl->exec,
		      cl->number[OPT_exec] == EXEC_HOST
			      ? "that is the native program, tools/run --exec host"
			      : "not in this native program; host is always there");
	panic_add_dump(tasks_panic_dump);
	choose_topology(cl, b, a);
	if (cl->given[OPT_selftest])
		run_selftests(cl, a);
	run_plan(cl, a);
	if (failed_runs)
		console_printf("%u run%s failed", failed_runs, failed_runs == 1 ? "" : "s");
	frame_digest();
	frame_finish(!failed_runs && !failed_verdicts, checks_failed + failed_verdicts);
	plat_exit(failed_runs || failed_verdicts ? 1 : 0);
}
