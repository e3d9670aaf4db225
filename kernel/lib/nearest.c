/* SPDX-License-Identifier: MIT */
/* Nearest name by edit distance: see nearest.h. */
#include "nearest.h"
#include "fmt.h"
#include "string.h"

static char fold(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static u32 least(u32 a, u32 b)
{
	return a < b ? a : b;
}

u32 edit_distance(struct span a, struct span b)
{
	u8 rows[3][NEAREST_LEN_MAX + 1]; /* of the table: two above, above, this */
	u8 *above2 = rows[0], *above = rows[1], *row = rows[2];

	if (a.n > NEAREST_LEN_MAX || b.n > NEAREST_LEN_MAX)
		return NEAREST_LEN_MAX + 1;
	for (size_t j = 0; j <= b.n; j++)
		row[j] = (u8)j;
	for (size_t i = 1; i <= a.n; i++) {
		u8 *spare = above2;

		above2 = above;
		above = row;
		row = spare;
		row[0] = (u8)i;
		for (size_t j = 1; j <= b.n; j++) {
			char ca = fold(a.p[i - 1]), cb = fold(b.p[j - 1]);
			u32 d = least(least(above[j], row[j - 1]) + 1u,
				      above[j - 1] + (ca != cb ? 1u : 0u));

			if (i > 1 && j > 1 && ca == fold(b.p[j - 2]) && cb == fold(a.p[i - 2]))
				d = least(d, above2[j - 2] + 1u);
			row[j] = (u8)d;
		}
	}
	return row[b.n];
}

void nearest_init(struct nearest *n, struct span typed)
{
	*n = (struct nearest){ .typed = typed };
}

static bool begins_with(struct span s, struct span start)
{
	if (start.n > s.n)
		return false;
	for (size_t i = 0; i < start.n; i++)
		if (fold(s.p[i]) != fold(start.p[i]))
			return false;
	return true;
}

void nearest_offer(struct nearest *n, const char *candidate)
{
	struct span c = span_of(candidate);
	u32 limit = n->typed.n < 4 ? 1 : n->typed.n < 9 ? 2 : (u32)n->typed.n / 3;
	u32 d = edit_distance(n->typed, c);

	if (d > limit && n->typed.n >= 3 && begins_with(c, n->typed))
		d = limit;
	if (d <= limit && d < n->typed.n && (!n->best || d < n->distance)) {
		n->best = candidate;
		n->distance = d;
	}
}

void nearest_offer_words(struct nearest *n, const char *words, char hold[NEAREST_LEN_MAX])
{
	struct span rest = span_of(words), word;
	char offer[NEAREST_LEN_MAX];

	while (span_next(&rest, '|', &word)) {
		span_text(word, offer, sizeof(offer));
		nearest_offer(n, offer);
		if (n->best == offer) {
			memcpy(hold, offer, sizeof(offer));
			n->best = hold;
		}
	}
}

char *nearest_text(const struct nearest *n, char *buf, size_t size)
{
	if (n->best)
		fmt_sn(buf, size, "; did you mean \"%s\"?", n->best);
	else if (size)
		buf[0] = '\0';
	return buf;
}
