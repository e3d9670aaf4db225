/* SPDX-License-Identifier: MIT */
/* Circular doubly linked list, embedded in its members. */
#ifndef LIB_LIST_H
#define LIB_LIST_H

#include "types.h"

struct list {
	struct list *next, *prev;
};

static inline void list_init(struct list *l)
{
	l->next = l->prev = l;
}

static inline bool list_empty(const struct list *l)
{
	return l->next == l;
}

static inline void list_insert_between(struct list *n, struct list *prev, struct list *next)
{
	n->prev = prev;
	n->next = next;
	prev->next = n;
	next->prev = n;
}

static inline void list_add_tail(struct list *head, struct list *n)
{
	list_insert_between(n, head->prev, head);
}

static inline void list_add_head(struct list *head, struct list *n)
{
	list_insert_between(n, head, head->next);
}

/* Leaves the member initialised, so that list_empty() on it says "not queued". */
static inline void list_del(struct list *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	list_init(n);
}

#define list_first(head, type, member) container_of((head)->next, type, member)

#define list_for_each(pos, head) \
	for (struct list *pos = (head)->next; pos != (head); pos = pos->next)

/* The body may remove pos. */
#define list_for_each_safe(pos, tmp, head)                               \
	for (struct list *pos = (head)->next, *tmp = pos->next; pos != (head); \
	     pos = tmp, tmp = pos->next)

#endif
