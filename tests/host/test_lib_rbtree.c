/* SPDX-License-Identifier: MIT */
/* sources: kernel/lib/rbtree.c */
/* rbtree.c against a sorted array, and rb_check() against broken trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "../../kernel/lib/rbtree.h"

#define NODES 400

struct item {
	struct rb_node rb;
	u32 key;
	bool in;
};

static struct item items[NODES];
static struct item *model[NODES]; /* in the order that the tree must have */
static int nr_model;

static bool item_less(const struct rb_node *a, const struct rb_node *b)
{
	return container_of(a, struct item, rb)->key < container_of(b, struct item, rb)->key;
}

static void insert(struct rb_tree *t, struct item *it)
{
	int at = nr_model;

	/* Behind all that are not larger: equal keys are first in, first out. */
	while (at > 0 && model[at - 1]->key > it->key)
		at--;
	memmove(model + at + 1, model + at, (size_t)(nr_model - at) * sizeof(*model));
	model[at] = it;
	nr_model++;
	memset(&it->rb, 0xa5, sizeof(it->rb)); /* insertion sets every link */
	it->rb.red = false;
	rb_insert(t, &it->rb, item_less);
	it->in = true;
}

static void erase(struct rb_tree *t, struct item *it)
{
	int at = 0;

	while (model[at] != it)
		at++;
	nr_model--;
	memmove(model + at, model + at + 1, (size_t)(nr_model - at) * sizeof(*model));
	rb_erase(t, &it->rb);
	it->in = false;
}

static int height(const struct rb_node *n)
{
	int l, r;

	if (!n)
		return 0;
	l = height(n->left);
	r = height(n->right);
	return 1 + (l > r ? l : r);
}

static void compare(const struct rb_tree *t)
{
	struct rb_node *n = rb_first(t);
	int most = 0;

	for (int i = 0; i < nr_model; i++, n = rb_next(n))
		assert_ptr_equal(n, &model[i]->rb);
	assert_null(n);
	assert_int_equal(rb_check(t, item_less), nr_model);
	/* Height <= 2 log2(n + 1). */
	while (1ull << (most / 2) < (u64)nr_model + 1)
		most += 2;
	assert_true(height(t->root) <= most);
}

static void start(struct rb_tree *t)
{
	*t = (struct rb_tree){ 0 };
	memset(items, 0, sizeof(items));
	nr_model = 0;
}

static void test_random_operations(void **state)
{
	struct rb_tree t;

	(void)state;
	for (u32 keys = 1; keys <= 100000; keys *= 10) {
		start(&t);
		for (int i = 0; i < 6000; i++) {
			struct item *it = &items[random() % NODES];

			/* The tree fills, then empties, then fills again. */
			if (!it->in && (i / 1000 % 2 == 0 || random() % 8 == 0)) {
				it->key = (u32)random() % keys;
				insert(&t, it);
			} else if (it->in && (i / 1000 % 2 || random() % 8 == 0)) {
				erase(&t, it);
			}
			compare(&t);
		}
		while (nr_model) {
			erase(&t, model[random() % nr_model]);
			compare(&t);
		}
		assert_null(t.root);
		assert_null(t.leftmost);
	}
}

/* As a runqueue does it: the first leaves, and returns further right. */
static void test_queue_pattern(void **state)
{
	struct rb_tree t;

	(void)state;
	start(&t);
	for (u32 i = 0; i < 100; i++) {
		items[i].key = i * 10;
		insert(&t, &items[i]);
	}
	for (int i = 0; i < 5000; i++) {
		struct item *it = container_of(rb_first(&t), struct item, rb);

		assert_ptr_equal(it, model[0]);
		erase(&t, it);
		it->key += (u32)(random() % 1500);
		insert(&t, it);
		compare(&t);
	}
}

/* Every way of breaking a sound tree of `count` nodes in one place is noticed. */
static void test_check_notices(void **state)
{
	struct rb_tree t;
	struct item other = { .key = 9999 }; /* in order behind any */

	(void)state;
	for (u32 count = 1; count <= 60; count++) {
		start(&t);
		for (u32 i = 0; i < count; i++) {
			items[i].key = (u32)random() % 1000 * 2;
			insert(&t, &items[i]);
		}
		for (u32 i = 0; i < count; i++) {
			struct rb_node *n = &items[i].rb, good = *n, *leftmost = t.leftmost;

			n->red = !n->red;
			/* Paths through n differ from the others by a black node now;
			 * and the root must be black. */
			assert_int_equal(rb_check(&t, item_less), -1);
			*n = good;
			n->parent = &other.rb;
			assert_int_equal(rb_check(&t, item_less), -1);
			*n = good;
			if (n != t.leftmost) {
				t.leftmost = n;
				assert_int_equal(rb_check(&t, item_less), -1);
				t.leftmost = leftmost;
			}
			if (rb_next(n)) {
				u32 key = items[i].key;

				items[i].key = 5000;
				assert_int_equal(rb_check(&t, item_less), -1);
				items[i].key = key;
			}
			assert_int_equal(rb_check(&t, item_less), count);
		}
	}
	/* A loop must not hang it. */
	t.leftmost->left = t.root;
	assert_int_equal(rb_check(&t, item_less), -1);
}

/* Equal black heights and sound order, but a red node below a red one. */
static void test_check_notices_red_pair(void **state)
{
	struct item *top = &items[0], *mid = &items[1], *low = &items[2];
	struct rb_tree t;

	(void)state;
	start(&t);
	top->key = 3;
	mid->key = 2;
	low->key = 1;
	top->rb.left = &mid->rb;
	mid->rb = (struct rb_node){ .parent = &top->rb, .left = &low->rb, .red = true };
	low->rb.parent = &mid->rb;
	t = (struct rb_tree){ .root = &top->rb, .leftmost = &low->rb };
	low->rb.red = true;
	assert_int_equal(rb_check(&t, item_less), -1);
	/* The pair is what was wrong: without the lower one it is a tree. */
	mid->rb.left = NULL;
	t.leftmost = &mid->rb;
	assert_int_equal(rb_check(&t, item_less), 2);
}

static void test_empty(void **state)
{
	struct rb_tree t = { 0 };

	(void)state;
	assert_null(rb_first(&t));
	assert_int_equal(rb_check(&t, item_less), 0);
	t.leftmost = &items[0].rb;
	assert_int_equal(rb_check(&t, item_less), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_random_operations),
		cmocka_unit_test(test_queue_pattern),
		cmocka_unit_test(test_check_notices),
		cmocka_unit_test(test_check_notices_red_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
