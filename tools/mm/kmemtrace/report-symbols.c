// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names for call sites, see report-symbols.h.
 *
 * There are three sources. A tag is the best one: the recorded kernel wrote it, and it has
 * the line, even for a call site in a module. vmlinux has lines as well, but the user may
 * pass that of a different kernel. kallsyms has functions and no lines.
 *
 * A call site is the return address of a call. This address may belong to the next line or
 * even to the next function, so the byte before it is looked up. Many functions of the
 * allocators are inlined from headers. A line of a header does not help the reader, so the
 * search continues with the function into which the code was inlined, until a line is in a
 * file that is not a header.
 *
 * vmlinux has the addresses that the kernel was linked for. The symbols _stext or _text
 * of the trace show where it ran.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report-symbols.h"
#include "util.h"

/* Data */

struct symbolizer {
	const struct trace_header *header;
	Dwfl *dwfl;
	Dwfl_Module *module;
	uint64_t moved;		/* address in the trace - address in vmlinux */
};

/* Symbols at the beginning of the kernel, the more reliable one first. */
static const char * const anchors[] = { "_stext", "_text" };

/* Internals */

static char *clean_copy(const char *text, size_t len)
{
	char *copy = need_memory(len + 1, 1), *c;

	memcpy(copy, text, len);
	for (c = copy; *c; c++) {
		if (*c < ' ' || *c > '~')
			*c = '?';
	}
	return copy;
}

static char *clean(const char *text)
{
	return clean_copy(text, strlen(text));
}

/* "name [module]" */
static void split_module(const char *text, char **name, char **module)
{
	const char *open = strstr(text, " ["), *close;

	close = open ? strchr(open, ']') : NULL;
	if (!close) {
		*name = clean(text);
		return;
	}
	*name = clean_copy(text, open - text);
	*module = clean_copy(open + 2, close - open - 2);
}

/* "mm/foo.c:12 [module]" */
static void from_tag(const struct trace_tag *tag, struct place *place)
{
	char *colon;

	split_module(tag->where, &place->file, &place->module);
	colon = strrchr(place->file, ':');
	if (colon) {
		place->line = strtoul(colon + 1, NULL, 10);
		*colon = '\0';
	}
	if (tag->function)
		place->function = clean(tag->function);
}

static bool from_kallsyms(const struct symbolizer *symbolizer, uint64_t call_site,
			  struct place *place)
{
	const struct trace_symbol *symbol;
	uint64_t offset;

	symbol = trace_symbol(symbolizer->header, call_site - 1, &offset);
	if (!symbol)
		return false;
	split_module(symbol->name, &place->function, &place->module);
	place->offset = offset + 1;
	place->has_offset = true;
	return true;
}

static bool is_header(const char *file)
{
	size_t len = strlen(file);

	return len > 2 && !strcmp(file + len - 2, ".h");
}

/* Make a path relative to the source tree. */
static char *source_path(Dwarf_Die *cu, const char *file)
{
	Dwarf_Attribute attr;
	const char *dir = dwarf_formstring(dwarf_attr(cu, DW_AT_comp_dir,
						      &attr));
	size_t len = dir ? strlen(dir) : 0;

	if (len && !strncmp(file, dir, len) && file[len] == '/')
		file += len + 1;
	while (!strncmp(file, "./", 2))
		file += 2;
	return clean(file);
}

/* Returns the file that calls @die, an inlined function, and sets the line of the call. */
static const char *called_from(Dwarf_Die *cu, Dwarf_Die *die,
			       unsigned int *line)
{
	Dwarf_Word nr_file, nr_line;
	Dwarf_Attribute attr;
	Dwarf_Files *files;

	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attr), &nr_file) ||
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attr), &nr_line) ||
	    dwarf_getsrcfiles(cu, &files, NULL))
		return NULL;
	*line = nr_line;
	return dwarf_filesrc(files, nr_file, NULL, NULL);
}

static bool is_function(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

/* Find the innermost scope at @addr and all scopes around it. */
static int scopes_at(Dwarf_Die *cu, Dwarf_Addr addr, Dwarf_Die **scopes)
{
	Dwarf_Die *innermost;
	int nr = dwarf_getscopes(cu, addr, &innermost);

	if (nr <= 0)
		return 0;
	nr = dwarf_getscopes_die(innermost, scopes);
	free(innermost);
	return nr;
}

/*
 * Go outwards from the innermost function at @addr while the line is in a header and there
 * is another function around it.
 */
static const char *leave_headers(Dwarf_Die *cu, Dwarf_Addr addr,
				 const char *file, unsigned int *line,
				 char **function)
{
	Dwarf_Die *scopes = NULL;
	int i, nr = scopes_at(cu, addr, &scopes);
	const char *outer, *name = NULL;

	for (i = 0; i < nr; i++) {
		if (!is_function(&scopes[i]))
			continue;
		name = dwarf_diename(&scopes[i]);
		if (!is_header(file) ||
		    dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
			break;
		outer = called_from(cu, &scopes[i], line);
		if (!outer)
			break;
		file = outer;
	}
	if (name)
		*function = clean(name);
	free(scopes);
	return file;
}

static void from_line(Dwfl_Module *module, Dwarf_Addr addr, Dwfl_Line *at,
		      struct place *place)
{
	Dwarf_Addr bias;
	Dwarf_Die *cu = dwfl_module_addrdie(module, addr, &bias);
	int line = 0;
	const char *file = dwfl_lineinfo(at, NULL, &line, NULL, NULL, NULL);

	if (!cu || !file)
		return;
	place->line = line;
	file = leave_headers(cu, addr - bias, file, &place->line,
			     &place->function);
	place->file = source_path(cu, file);
}

static bool from_vmlinux(const struct symbolizer *symbolizer, uint64_t call_site,
			 struct place *place)
{
	Dwarf_Addr addr = call_site - symbolizer->moved - 1;
	Dwfl_Line *line;
	const char *name;
	GElf_Off offset;
	GElf_Sym sym;

	if (!symbolizer->module ||
	    dwfl_addrmodule(symbolizer->dwfl, addr) != symbolizer->module)
		return false;
	line = dwfl_module_getsrc(symbolizer->module, addr);
	if (line)
		from_line(symbolizer->module, addr, line, place);
	name = dwfl_module_addrinfo(symbolizer->module, addr, &offset, &sym, NULL,
				    NULL, NULL);
	if (name) {
		if (!place->function)
			place->function = clean(name);
		place->offset = offset + 1;
		place->has_offset = !strcmp(place->function, name);
	}
	return place->function;
}

static bool in_trace(const struct trace_header *header, const char *name,
		     uint64_t *addr)
{
	size_t i;

	for (i = 0; i < header->nr_symbols; i++) {
		if (!strcmp(header->symbols[i].name, name)) {
			*addr = header->symbols[i].addr;
			return true;
		}
	}
	return false;
}

static bool in_vmlinux(Dwfl_Module *module, const char *name, uint64_t *addr)
{
	int i, nr = dwfl_module_getsymtab(module);
	GElf_Addr value;
	const char *at;
	GElf_Sym sym;

	for (i = 0; i < nr; i++) {
		at = dwfl_module_getsym_info(module, i, &sym, &value, NULL,
					     NULL, NULL);
		if (at && !strcmp(at, name)) {
			*addr = value;
			return true;
		}
	}
	return false;
}

static bool find_moved(struct symbolizer *symbolizer)
{
	uint64_t ran, linked;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(anchors); i++) {
		if (in_trace(symbolizer->header, anchors[i], &ran) &&
		    in_vmlinux(symbolizer->module, anchors[i], &linked)) {
			symbolizer->moved = ran - linked;
			return true;
		}
	}
	return false;
}

/* Use only debug information in the file itself: never ask a server. */
static int no_debuginfo(Dwfl_Module *module, void **user, const char *name,
			Dwarf_Addr base, const char *file,
			const char *link, GElf_Word crc, char **debug_file)
{
	(void)module;
	(void)user;
	(void)name;
	(void)base;
	(void)file;
	(void)link;
	(void)crc;
	(void)debug_file;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = no_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static bool open_vmlinux(struct symbolizer *symbolizer, const char *vmlinux,
			 const struct complainer *to)
{
	symbolizer->dwfl = dwfl_begin(&callbacks);
	if (symbolizer->dwfl) {
		dwfl_report_begin(symbolizer->dwfl);
		symbolizer->module = dwfl_report_elf(symbolizer->dwfl, "vmlinux",
						     vmlinux, -1, 0, true);
		dwfl_report_end(symbolizer->dwfl, NULL, NULL);
	}
	if (!symbolizer->module) {
		complain(to, vmlinux, 0, "%s", dwfl_errmsg(-1));
		return false;
	}
	if (!find_moved(symbolizer))
		complain(to, vmlinux, 0,
			 "no _stext or _text here or in the trace: the kernel counts as not moved");
	return true;
}

/* Interface */

/**
 * symbolizer_new - prepare to name call sites
 * @header: header of the trace, used until symbolizer_free()
 * @vmlinux: the kernel with debug information, or NULL
 * @to: receives complaints about @vmlinux
 *
 * Return: the symbolizer, or NULL after a complaint if @vmlinux cannot be used.
 */
struct symbolizer *symbolizer_new(const struct trace_header *header,
				  const char *vmlinux, const struct complainer *to)
{
	struct symbolizer *symbolizer = need_memory(1, sizeof(*symbolizer));

	symbolizer->header = header;
	if (vmlinux && !open_vmlinux(symbolizer, vmlinux, to)) {
		symbolizer_free(symbolizer);
		return NULL;
	}
	return symbolizer;
}

/**
 * symbolizer_free - free a symbolizer
 * @symbolizer: from symbolizer_new()
 */
void symbolizer_free(struct symbolizer *symbolizer)
{
	if (symbolizer->dwfl)
		dwfl_end(symbolizer->dwfl);
	free(symbolizer);
}

/**
 * symbolizer_place - name a call site
 * @symbolizer: from symbolizer_new()
 * @call_site: return address
 * @tag: code tag, 0 for none
 * @place: result, for place_free(); empty if nothing is known
 */
void symbolizer_place(struct symbolizer *symbolizer, uint64_t call_site, uint16_t tag,
		      struct place *place)
{
	const struct trace_header *header = symbolizer->header;

	*place = (struct place){ 0 };
	if (tag && tag < header->nr_tags && header->tags[tag].where) {
		from_tag(&header->tags[tag], place);
		return;
	}
	if (!call_site || from_vmlinux(symbolizer, call_site, place))
		return;
	place_free(place);
	from_kallsyms(symbolizer, call_site, place);
}

/**
 * place_free - free the strings of a place
 * @place: from symbolizer_place(); empty afterwards
 */
void place_free(struct place *place)
{
	free(place->function);
	free(place->file);
	free(place->module);
	*place = (struct place){ 0 };
}
