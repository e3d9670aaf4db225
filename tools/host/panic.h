/* SPDX-License-Identifier: MIT */
#ifndef HOST_PANIC_H
#define HOST_PANIC_H

/* From now on memory faults of the calling thread end in panic(), on a stack of
 * their own, instead of a silent death. Does nothing in a sanitized program. */
void panic_on_faults(void);

#endif
