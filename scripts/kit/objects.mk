# SPDX-License-Identifier: GPL-2.0-only
#
# Print the objects that kbuild compiles in a folder and below it, without compiling:
#
#   make -rRs -I <kernel> -f objects.mk obj=<folder> need-builtin=1 config=<.config> srctree=<kernel> SRCARCH=<arch>
#
# The beginning of scripts/Makefile.build of the kernel reads a folder in the same way.  If a
# folder is entered for modules alone, need-builtin is empty there, and kbuild leaves out what
# is built in.

src := $(obj)
objtree := .
CONFIG_SHELL := sh

.PHONY: objects
objects:

obj-y :=
obj-m :=
lib-y :=
lib-m :=
always-y :=
always-m :=
targets :=
subdir-y :=
subdir-m :=

include $(config)
include $(srctree)/scripts/Kbuild.include
include $(srctree)/scripts/Makefile.compiler
include $(or $(wildcard $(srctree)/$(obj)/Kbuild),$(srctree)/$(obj)/Makefile)
include $(srctree)/scripts/Makefile.lib

.PHONY: $(subdir-ym)
objects: $(subdir-ym)
	@:$(foreach object,$(if $(need-builtin),$(real-obj-y)) $(real-obj-m) $(lib-y),$(info $(object)))

$(subdir-ym):
	@$(MAKE) -f $(firstword $(MAKEFILE_LIST)) obj=$@ need-builtin=$(if $(filter $@/built-in.a,$(real-obj-y)),1)
