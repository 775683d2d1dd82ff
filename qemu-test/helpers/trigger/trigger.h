/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TRIGGER_H
#define TRIGGER_H

#include <stddef.h>
#include <stdint.h>

/* Print the error of the last call and exit. */
void __attribute__((noreturn)) die(const char *what);

/* Each does once what makes a known leak lose memory; see qemu-test/leaks. */
void do_cuse(void);
void do_encoded(void);
void do_ipip(void);
void do_llc(void);
void do_packet(void);
void do_sctp(void);
void do_udmabuf(void);
void do_unshare(void);
void do_uring(void);
void do_xfrm(void);

#endif
