/* SPDX-License-Identifier: MIT */
/*
 * Faults planted on purpose: plants.def. One branch each, at the place where the
 * mistake would be made; a release build has neither the branches nor the key.
 */
#ifndef SCHED_PLANT_H
#define SCHED_PLANT_H

enum sched_plant {
	PLANT_none,
#define PLANT(name, help) PLANT_##name,
#include "plants.def"
#undef PLANT
	PLANT_NR
};

/*
 * planted(): the fault is on; where is what carries the field `plant`.
 * planted_once(): true at one occasion, when the run is under way.
 */
#ifdef ANECHOIC_DEBUG
#define PLANTS_BUILT_IN true
#define PLANT_OCCASION 100
#define planted(where, name) unlikely((where)->plant == PLANT_##name)
#define planted_once(s, name)  \
	(planted(s, name) &&   \
	 __atomic_add_fetch(&(s)->plant_occasions, 1, __ATOMIC_RELAXED) == PLANT_OCCASION)
#else
#define PLANTS_BUILT_IN false
#define planted(where, name) false
#define planted_once(s, name) false
#endif

#endif
