/* SPDX-License-Identifier: MIT */
/*
 * Red-black tree with a cached leftmost node, embedded in its members.
 * Equal keys go to the right of those already there: first in, first out.
 * No locking: the owner of the tree serialises.
 */
#ifndef LIB_RBTREE_H
#define LIB_RBTREE_H

#include "types.h"

struct rb_node {
	struct rb_node *parent, *left, *right;
	bool red;
};

struct rb_tree {
	struct rb_node *root, *leftmost;
};

/* True when a sorts strictly before b. */
typedef bool (*rb_less_fn)(const struct rb_node *a, const struct rb_node *b);

void rb_insert(struct rb_tree *t, struct rb_node *n, rb_less_fn less);

/* n must be in t. */
void rb_erase(struct rb_tree *t, struct rb_node *n);

/* Successor in order, NULL after the last. */
struct rb_node *rb_next(const struct rb_node *n);

static inline struct rb_node *rb_first(const struct rb_tree *t)
{
	return t->leftmost;
}

/* Checks colours, parents, order and the cached leftmost; returns the number
 * of nodes, or -1 when something is wrong. For tests and sched/check.c. */
int rb_check(const struct rb_tree *t, rb_less_fn less);

#endif
