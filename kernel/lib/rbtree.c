/* SPDX-License-Identifier: MIT */
/*
 * Red-black tree (Guibas and Sedgewick 1978; the case analysis as in Cormen et
 * al., "Introduction to Algorithms", ch. 13, with NULL for the sentinel):
 * the root is black, a red node has no red child, and every path from a node
 * down to NULL passes the same number of black nodes.
 */
#include "rbtree.h"

static bool is_red(const struct rb_node *n)
{
	return n && n->red;
}

/* Puts `with` (may be NULL) where n hangs; n's own links stay. */
static void replace_child(struct rb_tree *t, struct rb_node *n, struct rb_node *with)
{
	struct rb_node *parent = n->parent;

	if (!parent)
		t->root = with;
	else if (parent->left == n)
		parent->left = with;
	else
		parent->right = with;
	if (with)
		with->parent = parent;
}

/* n's right child takes n's place and n becomes its left child. */
static void rotate_left(struct rb_tree *t, struct rb_node *n)
{
	struct rb_node *up = n->right;

	replace_child(t, n, up);
	n->right = up->left;
	if (n->right)
		n->right->parent = n;
	up->left = n;
	n->parent = up;
}

static void rotate_right(struct rb_tree *t, struct rb_node *n)
{
	struct rb_node *up = n->left;

	replace_child(t, n, up);
	n->left = up->right;
	if (n->left)
		n->left->parent = n;
	up->right = n;
	n->parent = up;
}

/* n is red and may hang below a red parent. */
static void insert_fixup(struct rb_tree *t, struct rb_node *n)
{
	while (is_red(n->parent)) {
		struct rb_node *parent = n->parent;
		struct rb_node *grand = parent->parent; /* a red node is not the root */
		bool left = parent == grand->left;
		struct rb_node *uncle = left ? grand->right : grand->left;

		if (is_red(uncle)) {
			parent->red = uncle->red = false;
			grand->red = true;
			n = grand;
			continue;
		}
		if (left) {
			if (n == parent->right) {
				rotate_left(t, parent);
				parent = n;
			}
			rotate_right(t, grand);
		} else {
			if (n == parent->left) {
				rotate_right(t, parent);
				parent = n;
			}
			rotate_left(t, grand);
		}
		parent->red = false;
		grand->red = true;
		break;
	}
	t->root->red = false;
}

void rb_insert(struct rb_tree *t, struct rb_node *n, rb_less_fn less)
{
	struct rb_node **link = &t->root, *parent = NULL;
	bool leftmost = true;

	while (*link) {
		parent = *link;
		if (less(n, parent)) {
			link = &parent->left;
		} else {
			link = &parent->right;
			leftmost = false;
		}
	}
	n->parent = parent;
	n->left = n->right = NULL;
	n->red = true;
	*link = n;
	if (leftmost)
		t->leftmost = n;
	insert_fixup(t, n);
}

/* The subtree n (may be NULL) on one side of parent lacks one black node. */
static void erase_fixup(struct rb_tree *t, struct rb_node *n, struct rb_node *parent)
{
	while (parent && !is_red(n)) {
		bool left = n == parent->left;
		/* Exists: its side has at least one black node more. */
		struct rb_node *sib = left ? parent->right : parent->left;
		struct rb_node *near, *far;

		if (sib->red) {
			sib->red = false;
			parent->red = true;
			if (left)
				rotate_left(t, parent);
			else
				rotate_right(t, parent);
			sib = left ? parent->right : parent->left;
		}
		near = left ? sib->left : sib->right;
		far = left ? sib->right : sib->left;
		if (!is_red(near) && !is_red(far)) {
			sib->red = true;
			n = parent;
			parent = n->parent;
			continue;
		}
		/* near rises to sib's place; both get their colours below. */
		if (!is_red(far)) {
			if (left)
				rotate_right(t, sib);
			else
				rotate_left(t, sib);
			far = sib;
			sib = near;
		}
		sib->red = parent->red;
		parent->red = far->red = false;
		if (left)
			rotate_left(t, parent);
		else
			rotate_right(t, parent);
		return;
	}
	if (n)
		n->red = false;
}

void rb_erase(struct rb_tree *t, struct rb_node *n)
{
	struct rb_node *child, *parent; /* where a node leaves its path */
	bool lost_red;

	if (t->leftmost == n)
		t->leftmost = rb_next(n);
	if (n->left && n->right) {
		struct rb_node *next = n->right;

		while (next->left)
			next = next->left;
		lost_red = next->red;
		child = next->right;
		parent = next->parent;
		if (parent == n) {
			parent = next;
		} else {
			replace_child(t, next, child);
			next->right = n->right;
			next->right->parent = next;
		}
		replace_child(t, n, next);
		next->left = n->left;
		next->left->parent = next;
		next->red = n->red;
	} else {
		lost_red = n->red;
		child = n->left ? n->left : n->right;
		parent = n->parent;
		replace_child(t, n, child);
	}
	if (!lost_red)
		erase_fixup(t, child, parent);
}

struct rb_node *rb_next(const struct rb_node *n)
{
	struct rb_node *up;

	if (n->right) {
		up = n->right;
		while (up->left)
			up = up->left;
		return up;
	}
	for (up = n->parent; up && n == up->right; up = up->parent)
		n = up;
	return up;
}

/* Black height of the subtree, the NULL below counted as 1; 0 when broken.
 * Recursion is as deep as the tree, which a broken tree may make deep: the
 * depth is bounded by that of a red-black tree of 2^32 nodes. */
static u32 check_subtree(const struct rb_node *n, const struct rb_node *parent, u32 depth,
			 u32 *nodes)
{
	u32 left, right;

	if (!n)
		return 1;
	if (depth > 64 || n->parent != parent || (n->red && is_red(parent)))
		return 0;
	++*nodes;
	left = check_subtree(n->left, n, depth + 1, nodes);
	if (!left)
		return 0;
	right = check_subtree(n->right, n, depth + 1, nodes);
	return left == right ? left + !n->red : 0;
}

int rb_check(const struct rb_tree *t, rb_less_fn less)
{
	const struct rb_node *n = t->root, *next;
	u32 nodes = 0;

	if (is_red(n) || !check_subtree(n, NULL, 0, &nodes))
		return -1;
	while (n && n->left)
		n = n->left;
	if (t->leftmost != n)
		return -1;
	for (; n; n = next) {
		next = rb_next(n);
		if (next && less(next, n))
			return -1;
	}
	return (int)nodes;
}
