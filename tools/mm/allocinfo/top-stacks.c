#include "top.h"
void stacks_run(struct top *top, const struct site *site) { (void)top; (void)site; }
