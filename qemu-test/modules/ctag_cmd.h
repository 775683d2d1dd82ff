/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files of a test module: /sys/kernel/debug/MODULE/cmd accepts one command per
 * write, and "table" shows the memory that should be live. One user at a time,
 * process context.
 *
 * Nothing here allocates, so that each line of a module is in its own source file.
 */
#ifndef CTAG_CMD_H
#define CTAG_CMD_H

#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#define CMD_MAX		96	/* bytes of a command with its terminating NUL */

/**
 * struct cmd - a command and its function
 * @name: the command
 * @run: its function
 */
struct cmd {
	const char *name;
	int (*run)(void);
};

static DEFINE_MUTEX(cmd_lock);
static struct dentry *cmd_dir;

/**
 * command() - run the command that was written, with cmd_lock held
 * @line: without the newline; may be written to
 *
 * Each module has one.
 *
 * Return: 0, or the error of the write.
 */
static int command(char *line);

/**
 * show_table() - print the file "table", with cmd_lock held
 * @m: the file
 *
 * Each module has one.
 */
static void show_table(struct seq_file *m);

/**
 * cmd_run() - run a command of a table
 * @cmds: the table
 * @nr: number of its entries
 * @name: of the command
 *
 * Return: the result of the command, -EINVAL if there is none of that name.
 */
static int __maybe_unused cmd_run(const struct cmd *cmds, size_t nr,
				  const char *name)
{
	int err = -EINVAL;
	size_t i;

	for (i = 0; i < nr; i++)
		if (!strcmp(name, cmds[i].name))
			err = cmds[i].run();
	if (err)
		pr_info("%s: %d\n", name, err);
	return err;
}

static ssize_t cmd_write(struct file *file, const char __user *buf,
			 size_t len, loff_t *pos)
{
	char line[CMD_MAX];
	int err;

	if (len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = '\0';

	mutex_lock(&cmd_lock);
	err = command(strim(line));
	mutex_unlock(&cmd_lock);
	return err ?: len;
}

static const struct file_operations cmd_fops = {
	.owner	= THIS_MODULE,
	.write	= cmd_write,
};

static int table_show(struct seq_file *m, void *unused)
{
	mutex_lock(&cmd_lock);
	show_table(m);
	mutex_unlock(&cmd_lock);
	return 0;
}

/* The module has DEFINE_SHOW_ATTRIBUTE(table) itself, because opening a file allocates. */
static const struct file_operations table_fops;

/**
 * cmd_init() - create the files, at the end of a module's init
 *
 * Sets cmd_dir to their folder. The module's exit begins with debugfs_remove() of it.
 */
static void cmd_init(void)
{
	cmd_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("cmd", 0200, cmd_dir, NULL, &cmd_fops);
	debugfs_create_file("table", 0400, cmd_dir, NULL, &table_fops);
}

#endif /* CTAG_CMD_H */
