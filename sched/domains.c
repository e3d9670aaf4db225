/* SPDX-License-Identifier: MIT */
/*
 * The scheduling domains of spec/topology.md section 5.
 *
 * All CPUs of one group of a level see the same span, so the work is done per
 * level and group ("part"): parts are made to nest, chains are pruned, and one
 * ring of groups is shared by the CPUs of a part. That keeps thousands of CPUs
 * linear; only the domain itself exists once per CPU and level.
 */
#include "topo.h"

#define SD_COMMON                                                                  \
	(SD_LOAD_BALANCE | SD_BALANCE_NEWIDLE | SD_BALANCE_EXEC | SD_BALANCE_FORK | \
	 SD_WAKE_AFFINE | SD_PREFER_SIBLING)

/* Beyond this distance v5.2 neither places new tasks nor pulls wakeups. */
#define NUMA_FAR 30
#define NUMA_LOCAL 10

struct level {
	const char *name;
	u32 flags, imbalance_pct;
	u32 *part;                    /* [nr_cpus] */
	u32 nr_parts;
	const struct cpumask **span;  /* [nr_parts] */
	u32 *weight;                  /* [nr_parts] */
	struct sched_domain **dom;    /* [nr_cpus]; NULL where pruned */
};

struct builder {
	const struct sched_topo *t;
	struct arena *a;
	struct sched_domains *d;
	u32 n, nr_online;
	struct level *level;          /* bottom first */
	u32 nr_levels;
	const struct cpumask **single; /* [nr_cpus] one-CPU spans, made on demand */
	struct sched_group **ring_of; /* [nr_cpus] scratch: group by child part */
};

static struct level *level_add(struct builder *b, const char *name, u32 flags, u32 pct)
{
	struct level *l = &b->level[b->nr_levels++];

	*l = (struct level){ .name = name, .flags = flags, .imbalance_pct = pct };
	l->part = arena_alloc(b->a, b->n * sizeof(*l->part));
	l->dom = arena_alloc(b->a, b->n * sizeof(struct sched_domain *));
	return l;
}

static void level_weigh(struct builder *b, struct level *l)
{
	l->weight = arena_alloc(b->a, l->nr_parts * sizeof(*l->weight));
	for (u32 p = 0; p < l->nr_parts; p++)
		l->weight[p] = cpumask_weight(l->span[p], b->n);
}

static u32 root_of(u32 *up, u32 p)
{
	while (up[p] != p)
		p = up[p] = up[up[p]];
	return p;
}

/* Merges the parts of l that share a part of the level below, so that each of
 * those lies within one. up[] becomes the union-find forest. True if any did. */
static bool parts_merge(struct builder *b, const struct level *below, struct level *l, u32 *up)
{
	u32 *first = arena_alloc(b->a, below->nr_parts * sizeof(*first)); /* part + 1 */
	bool merged = false;

	for (u32 p = 0; p < l->nr_parts; p++)
		up[p] = p;
	for (u32 c = 0; c < b->n; c++) {
		u32 *f = &first[below->part[c]], p = root_of(up, l->part[c]);

		if (!b->t->cpu[c].online)
			continue;
		if (*f && root_of(up, *f - 1) != p) {
			up[p] = root_of(up, *f - 1);
			merged = true;
		}
		if (!*f)
			*f = l->part[c] + 1;
	}
	return merged;
}

/* WARN NEST: a span of the level below reaches beyond its parent. */
static void level_nest(struct builder *b, const struct level *below, struct level *l)
{
	u32 *up = arena_alloc(b->a, l->nr_parts * sizeof(*up));
	struct cpumask **wide;

	if (!parts_merge(b, below, l, up))
		return;
	wide = arena_alloc(b->a, l->nr_parts * sizeof(struct cpumask *));
	for (u32 p = 0; p < l->nr_parts; p++) {
		u32 r = root_of(up, p);

		if (r == p)
			continue;
		if (!wide[r]) {
			wide[r] = arena_alloc(b->a, sizeof(struct cpumask));
			*wide[r] = *l->span[r];
			b->d->nest_warnings++;
		}
		cpumask_or(wide[r], l->span[p], b->n);
	}
	for (u32 p = 0; p < l->nr_parts; p++)
		if (wide[p])
			l->span[p] = wide[p];
	for (u32 c = 0; c < b->n; c++) {
		l->part[c] = root_of(up, l->part[c]);
		if (!b->d->nest_level && b->t->cpu[c].online && wide[l->part[c]]) {
			b->d->nest_level = l->name;
			b->d->nest_cpu = c;
		}
	}
}

/* A level whose parts are a level of the topology. */
static void level_topo(struct builder *b, const char *name, enum topo_level tl, u32 flags, u32 pct)
{
	const struct sched_topo *t = b->t;
	struct level *l = level_add(b, name, SD_COMMON | flags, pct);

	for (u32 c = 0; c < b->n; c++) {
		l->part[c] = (u32)(topo_mask(t, tl, c) - t->group[tl]);
		if (l->part[c] >= l->nr_parts)
			l->nr_parts = l->part[c] + 1;
	}
	l->span = arena_alloc(b->a, l->nr_parts * sizeof(*l->span));
	for (u32 p = 0; p < l->nr_parts; p++)
		l->span[p] = &t->group[tl][p];
	if (b->nr_levels > 1)
		level_nest(b, l - 1, l);
	level_weigh(b, l);
}

/* Spans of CPUs at distance <= d, made per part of the level of nodes; those
 * that are equal become one part. They may overlap, but as each holds its own
 * node and d ascends from level to level, they nest for any SLIT. */
static void level_numa(struct builder *b, const struct level *node, u32 d)
{
	const struct sched_topo *t = b->t;
	u32 flags = (SD_COMMON | SD_NUMA | SD_SERIALIZE) & ~(u32)SD_PREFER_SIBLING;
	u32 nodes = t->nr_nodes, *part_of = arena_alloc(b->a, nodes * sizeof(*part_of));
	u32 *same = arena_alloc(b->a, node->nr_parts * sizeof(*same));
	struct cpumask **span;
	struct level *l;

	if (d > NUMA_FAR)
		flags &= ~(u32)(SD_BALANCE_EXEC | SD_BALANCE_FORK | SD_WAKE_AFFINE);
	l = level_add(b, "NUMA", flags, 125);
	l->nr_parts = node->nr_parts;
	span = arena_alloc(b->a, l->nr_parts * sizeof(struct cpumask *));
	for (u32 p = 0; p < l->nr_parts; p++) {
		span[p] = arena_alloc(b->a, sizeof(struct cpumask));
		*span[p] = *node->span[p];
	}
	for (u32 c = 0; c < b->n; c++)
		part_of[t->cpu[c].node] = node->part[c];
	for (u32 i = 0; i < nodes; i++)
		for (u32 j = 0; j < nodes; j++)
			if (t->distance[i * nodes + j] <= d)
				cpumask_or(span[part_of[i]], &t->group[TOPO_NODE][j], b->n);

	l->span = (const struct cpumask **)span;
	for (u32 p = 0; p < l->nr_parts; p++)
		for (same[p] = 0; same[p] < p; same[p]++)
			if (cpumask_equal(span[same[p]], span[p], b->n))
				break;
	for (u32 c = 0; c < b->n; c++)
		l->part[c] = same[node->part[c]];
	level_weigh(b, l);
}

static u32 numa_distances(const struct sched_topo *t, bool seen[256])
{
	u32 nr = 0;

	if (!t->distance || t->nr_nodes < 2)
		return 0;
	for (u32 i = 0; i < t->nr_nodes * t->nr_nodes; i++) {
		u8 d = t->distance[i];

		if (d > NUMA_LOCAL && !seen[d]) {
			seen[d] = true;
			nr++;
		}
	}
	return nr;
}

static void levels_build(struct builder *b, bool pkg_level)
{
	bool seen[256] = { false };
	u32 nr_numa = numa_distances(b->t, seen);
	struct level *node;

	b->level = arena_alloc(b->a, (4 + nr_numa) * sizeof(*b->level));
	level_topo(b, "SMT", TOPO_SMT, SD_SHARE_CPUCAPACITY | SD_SHARE_PKG_RESOURCES, 110);
	level_topo(b, "MC", TOPO_LLC, SD_SHARE_PKG_RESOURCES, 117);
	if (pkg_level)
		level_topo(b, "PKG", TOPO_PKG, 0, 125);
	level_topo(b, "DIE", TOPO_NODE, 0, 125);
	node = &b->level[b->nr_levels - 1];
	for (u32 d = 0; nr_numa && d < 256; d++)
		if (seen[d])
			level_numa(b, node, d);
}

static struct sched_domain *domain_new(struct builder *b, const struct level *l, u32 cpu)
{
	struct sched_domain *sd = arena_alloc(b->a, sizeof(*sd));
	u32 weight = l->weight[l->part[cpu]];

	*sd = (struct sched_domain){
		.span = l->span[l->part[cpu]], .name = l->name, .span_weight = weight,
		.flags = l->flags, .imbalance_pct = l->imbalance_pct, .busy_factor = 32,
		.min_interval_ms = weight, .max_interval_ms = 2 * weight,
	};
	return sd;
}

/* Spans nest, so a span adds something exactly when it is heavier than the one
 * below; a bottom span of one CPU adds nothing either. */
static void chain_build(struct builder *b, u32 cpu)
{
	struct sched_domain *top = NULL;
	u32 covered = 1;

	for (u32 i = 0; i < b->nr_levels && covered < b->nr_online; i++) {
		struct level *l = &b->level[i];
		u32 weight = l->weight[l->part[cpu]];

		if (weight <= covered) {
			if (top)
				top->flags |= l->flags & SD_PREFER_SIBLING;
			continue;
		}
		covered = weight;
		l->dom[cpu] = domain_new(b, l, cpu);
		l->dom[cpu]->child = top;
		if (top)
			top->parent = l->dom[cpu];
		else
			b->d->bottom[cpu] = l->dom[cpu];
		top = l->dom[cpu];
		/* Only the two lowest levels share, so these are the bottom run. */
		if (top->flags & SD_SHARE_PKG_RESOURCES)
			b->d->llc[cpu] = top;
	}
}

static const struct cpumask *single_span(struct builder *b, u32 cpu)
{
	if (!b->single[cpu]) {
		struct cpumask *m = arena_alloc(b->a, sizeof(*m));

		cpumask_set(m, cpu);
		b->single[cpu] = m;
	}
	return b->single[cpu];
}

static const struct cpumask *child_span(struct builder *b, u32 level, u32 cpu)
{
	const struct level *below;

	if (!level)
		return single_span(b, cpu);
	below = &b->level[level - 1];
	return below->span[below->part[cpu]];
}

static struct sched_group *group_new(struct builder *b, const struct cpumask *span)
{
	struct sched_group *g = arena_alloc(b->a, sizeof(*g));

	g->span = span;
	g->weight = cpumask_weight(span, b->n);
	return g;
}

/* Appends g to the ring that ends in last (NULL: begins one); the new last. */
static struct sched_group *ring_append(struct sched_group *last, struct sched_group *g)
{
	g->next = last ? last->next : g;
	if (last)
		last->next = g;
	return g;
}

/* The general case: spans that overlap, or CPUs numbered so that the order
 * depends on where one starts. A group reaching beyond the domain is cut. */
static struct sched_group *ring_private(struct builder *b, u32 level, u32 cpu)
{
	const struct cpumask *span = b->level[level].dom[cpu]->span;
	struct cpumask covered = { { 0 } };
	struct sched_group *last = NULL;

	for_each_cpu_wrap(c, span, cpu, b->n) {
		const struct cpumask *child;

		if (cpumask_test(&covered, c))
			continue;
		child = child_span(b, level, c);
		if (!cpumask_subset(child, span, b->n)) {
			struct cpumask *cut = arena_alloc(b->a, sizeof(*cut));

			*cut = *child;
			cpumask_and(cut, span, b->n);
			child = cut;
		}
		last = ring_append(last, group_new(b, child));
		cpumask_or(&covered, child, b->n);
	}
	return last->next;
}

/* One ring for all CPUs of the span. It serves each of them, entered at its own
 * group, if walking the span moves along the ring by at most one group a step:
 * then the wrap order from any CPU is the ring's. ring_of[] tells each child
 * part's group. False: the order differs, or children overlap. */
static bool ring_shared(struct builder *b, u32 level, const struct cpumask *span)
{
	const u32 *child_part = level ? b->level[level - 1].part : NULL;
	struct sched_group *last = NULL, *prev = NULL;
	u32 sum = 0;

	for_each_cpu(c, span, b->n)
		b->ring_of[child_part ? child_part[c] : c] = NULL;
	for_each_cpu(c, span, b->n) {
		struct sched_group **g = &b->ring_of[child_part ? child_part[c] : c];

		if (*g)
			continue;
		*g = last = ring_append(last, group_new(b, child_span(b, level, c)));
		sum += last->weight;
		if (!cpumask_subset(last->span, span, b->n))
			return false;
	}
	if (sum != cpumask_weight(span, b->n))
		return false;
	prev = last;
	for_each_cpu(c, span, b->n) {
		struct sched_group *g = b->ring_of[child_part ? child_part[c] : c];

		if (g != prev && g != prev->next)
			return false;
		prev = g;
	}
	return prev == last;
}

/* Gives every domain of the level its groups. */
static void groups_build(struct builder *b, u32 level)
{
	struct level *l = &b->level[level];

	for (u32 first = 0; first < b->n; first++) {
		const struct cpumask *span;
		bool shared;

		if (!l->dom[first] || l->dom[first]->groups)
			continue;
		span = l->dom[first]->span;
		shared = ring_shared(b, level, span);
		for_each_cpu(c, span, b->n) {
			if (!l->dom[c] || l->dom[c]->span != span)
				continue;
			l->dom[c]->groups =
				!shared ? ring_private(b, level, c)
				: level ? b->ring_of[b->level[level - 1].part[c]]
					: b->ring_of[c];
		}
	}
}

void domains_build(struct sched_domains *d, const struct sched_topo *t, bool pkg_level,
		   struct arena *a)
{
	struct builder b = { .t = t, .a = a, .d = d, .n = t->nr_cpus };

	*d = (struct sched_domains){ .bottom = NULL };
	d->bottom = arena_alloc(a, b.n * sizeof(struct sched_domain *));
	d->llc = arena_alloc(a, b.n * sizeof(struct sched_domain *));
	d->llc_id = arena_alloc(a, b.n * sizeof(*d->llc_id));
	d->llc_size = arena_alloc(a, b.n * sizeof(*d->llc_size));
	b.single = arena_alloc(a, b.n * sizeof(*b.single));
	b.ring_of = arena_alloc(a, b.n * sizeof(struct sched_group *));
	for (u32 c = 0; c < b.n; c++)
		b.nr_online += t->cpu[c].online;

	levels_build(&b, pkg_level);
	for (u32 c = 0; c < b.n; c++)
		if (t->cpu[c].online)
			chain_build(&b, c);
	for (u32 l = 0; l < b.nr_levels; l++)
		groups_build(&b, l);
	for (u32 c = 0; c < b.n; c++) {
		const struct sched_domain *llc = d->llc[c];

		d->llc_id[c] = llc ? cpumask_first(llc->span, b.n) : c;
		d->llc_size[c] = llc ? llc->span_weight : 1;
	}
}
