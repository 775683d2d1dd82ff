// SPDX-License-Identifier: GPL-2.0-only
/*
 * Returns codes of ERR() by each way out of the kernel: system calls, io_uring and aio
 * through /dev/ctag_err, see ctag_err.h; netlink through a family; sockets; fanotify. And
 * one code that does leave the kernel, in the register of a child.
 *
 * /sys/kernel/debug/ctag_err/codes has a line for each code that was returned
 * since boot: "NUMBER NAME".
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/errname.h>
#include <linux/errqueue.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fsnotify.h>
#include <linux/if_ether.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/ptrace.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>
#include <linux/sched/task_stack.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include <asm/syscall.h>

#include "ctag_err.h"

static noinline int err_io(void)
{
	return ERR(-EIO);
}

static ssize_t err_read(struct kiocb *iocb, struct iov_iter *to)
{
	return err_io();
}

static ssize_t err_write(struct kiocb *iocb, struct iov_iter *from)
{
	return ERR(-EINVAL);
}

static int err_queue(struct sock *sk)
{
	struct sk_buff *skb = alloc_skb(64, GFP_KERNEL);
	struct sock_exterr_skb *serr;
	int err;

	if (!skb)
		return -ENOMEM;
	skb->protocol = htons(ETH_P_IP);
	skb_reset_network_header(skb);
	serr = SKB_EXT_ERR(skb);
	memset(serr, 0, sizeof(*serr));
	serr->ee.ee_errno = -ERR(-ENETUNREACH);
	serr->ee.ee_origin = SO_EE_ORIGIN_LOCAL;
	err = sock_queue_err_skb(sk, skb);
	if (err)
		kfree_skb(skb);
	return err;
}

static int err_socket(unsigned int cmd, int fd)
{
	struct socket *sock;
	int err = 0;

	sock = sockfd_lookup(fd, &err);
	if (!sock)
		return err;
	if (cmd == CTAG_ERR_SOCKET)
		WRITE_ONCE(sock->sk->sk_err, -ERR(-EHOSTUNREACH));
	else
		err = err_queue(sock->sk);
	sockfd_put(sock);
	return err;
}

static int err_report(int fd)
{
	struct file *file = fget(fd);

	if (!file)
		return -EBADF;
	fsnotify_sb_error(file_inode(file)->i_sb, NULL, ERR(-EUCLEAN));
	fput(file);
	return 0;
}

/*
 * A leak: nothing converts the register of a child. The next child of the task finds a
 * code there.
 */
static struct task_struct *err_parent;
static struct tracepoint *err_fork_tp;

static void err_fork(void *data, struct task_struct *parent, struct task_struct *child)
{
	if (cmpxchg(&err_parent, parent, NULL) == parent)
		syscall_set_return_value(child, task_pt_regs(child), err_io(), 0);
}

static void find_fork(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sched_process_fork"))
		err_fork_tp = tp;
}

static int err_probe_fork(void)
{
	for_each_kernel_tracepoint(find_fork, NULL);
	return err_fork_tp ? tracepoint_probe_register(err_fork_tp, err_fork, NULL) : -ENOENT;
}

static void err_unprobe_fork(void)
{
	tracepoint_probe_unregister(err_fork_tp, err_fork, NULL);
	tracepoint_synchronize_unregister();
}

static long err_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	s32 __user *p = (void __user *)arg;
	int fd;

	switch (cmd) {
	case CTAG_ERR_FAIL:
		return ERR(-EXDEV);
	case CTAG_ERR_CODE:
		return put_user(-err_io(), p);
	case CTAG_ERR_SOCKET:
	case CTAG_ERR_QUEUE:
		return get_user(fd, p) ?: err_socket(cmd, fd);
	case CTAG_ERR_REPORT:
		return get_user(fd, p) ?: err_report(fd);
	case CTAG_ERR_LEAK:
		WRITE_ONCE(err_parent, current);
		return 0;
	default:
		return -ENOTTY;
	}
}

static const struct file_operations err_fops = {
	.owner		= THIS_MODULE,
	.read_iter	= err_read,
	.write_iter	= err_write,
	.unlocked_ioctl	= err_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
};

static struct miscdevice err_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= KBUILD_MODNAME,
	.fops	= &err_fops,
};

static int err_refuse(struct sk_buff *skb, struct genl_info *info)
{
	return ERR(-EDOM);
}

static int err_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return ERR(-ERANGE);
}

static const struct genl_small_ops err_ops[] = {
	{
		.cmd		= CTAG_ERR_REFUSE,
		.validate	= GENL_DONT_VALIDATE_STRICT,
		.doit		= err_refuse,
	},
	{
		.cmd		= CTAG_ERR_DUMP,
		.validate	= GENL_DONT_VALIDATE_STRICT |
				  GENL_DONT_VALIDATE_DUMP,
		.dumpit		= err_dump,
	},
};

static struct genl_family err_family = {
	.name		= CTAG_ERR_FAMILY,
	.version	= 1,
	.module		= THIS_MODULE,
	.small_ops	= err_ops,
	.n_small_ops	= ARRAY_SIZE(err_ops),
	.resv_start_op	= CTAG_ERR_DUMP + 1,
};

static int codes_show(struct seq_file *m, void *unused)
{
	char name[128];
	long err;

	for (err = -ERROR_CODE_FIRST; err >= -MAX_ERRNO; err--) {
		if (!error_is_code(err))
			continue;
		scnprintf(name, sizeof(name), "%pe", ERR_PTR(err));
		seq_printf(m, "%ld %s\n", -err, name);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(codes);

static struct dentry *err_dir;

static int __init err_init(void)
{
	int err = err_probe_fork();

	if (err)
		return err;
	err = misc_register(&err_device);
	if (err)
		goto no_device;
	err = genl_register_family(&err_family);
	if (err)
		goto no_family;
	err_dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("codes", 0400, err_dir, NULL, &codes_fops);
	return 0;

no_family:
	misc_deregister(&err_device);
no_device:
	err_unprobe_fork();
	return err;
}
module_init(err_init);

static void __exit err_exit(void)
{
	debugfs_remove(err_dir);
	genl_unregister_family(&err_family);
	misc_deregister(&err_device);
	err_unprobe_fork();
}
module_exit(err_exit);

MODULE_DESCRIPTION("Error codes at the ways out of the kernel");
MODULE_LICENSE("GPL");
