/* SPDX-License-Identifier: MIT */
/*
 * "Did you mean": the candidate nearest to what was typed. Case is ignored. Of
 * equally near candidates the first one offered wins.
 */
#ifndef LIB_NEAREST_H
#define LIB_NEAREST_H

#include "parse.h"

/* Longer texts are never near. */
#define NEAREST_LEN_MAX 48

struct nearest {
	struct span typed;
	const char *best; /* NULL: nothing near enough */
	u32 distance;
};

/* Edits between two texts: insertions, deletions, substitutions, swaps of
 * neighbours (Damerau-Levenshtein, each place edited once). Above
 * NEAREST_LEN_MAX for a text longer than that. */
u32 edit_distance(struct span a, struct span b);

void nearest_init(struct nearest *n, struct span typed);

/* Offers a candidate; it must outlive n. Near enough is one edit for three
 * letters typed (for less: only another case), two from four on, a third of
 * them from nine on; or a candidate that begins with what was typed, three
 * letters at least. */
void nearest_offer(struct nearest *n, const char *candidate);

/* Offers each of "a|b|c"; `hold` keeps the best of them. */
void nearest_offer_words(struct nearest *n, const char *words, char hold[NEAREST_LEN_MAX]);

/* `; did you mean "x"?` into buf, or "" when nothing is near. Returns buf. */
char *nearest_text(const struct nearest *n, char *buf, size_t size);

#endif
