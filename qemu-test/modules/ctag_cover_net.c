// SPDX-License-Identifier: GPL-2.0-only
/*
 * Socket buffers and other memory that the network code allocates for its callers,
 * each function on a line of its own. See ctag_cover.h.
 *
 * ctag_cover_frag has the allocations from caches of page fragments.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bottom_half.h>
#include <linux/etherdevice.h>
#include <linux/in.h>
#include <linux/netdevice.h>
#include <linux/ptr_ring.h>
#include <linux/skb_array.h>
#include <linux/skbuff.h>
#include <net/genetlink.h>
#include <net/netlink.h>
#include <net/sock.h>

#include "ctag_cover.h"

#define HEAD		"skbuff_head_cache"
#define FCLONE		"skbuff_fclone_cache"
#define LARGE		(PAGE_SIZE + 1000)	/* larger than a fragment */

static struct socket *sock;
static struct sk_buff *model;
static struct napi_struct napi;

/* Memory of no site, which a site replaces or takes over. */
static struct sk_buff *other_skb(void)
{
	return alloc_skb(500, GFP_KERNEL);
}

static struct sk_buff *other_clone(void)
{
	return skb_clone(model, GFP_KERNEL);
}

static void *other_data(void)
{
	return kmalloc(2048, GFP_KERNEL);
}

static void costs_data(struct cover *c, const struct sk_buff *skb)
{
	costs_kmalloc(c, ksize(skb->head));
}

static void drop_skb(void *p)
{
	kfree_skb(p);
}

static void drop_napi(void *p)
{
	local_bh_disable();
	napi_consume_skb(p, 1);
	local_bh_enable();
}

/* A new buffer */
#define MAKE_SKB(_name, _cache, _call)					\
static void *make_##_name(struct cover *c)				\
{									\
	struct sk_buff *skb;						\
									\
	HERE(c); skb = (_call);						\
	if (!skb)							\
		return NULL;						\
	costs_object(c, _cache);					\
	costs_data(c, skb);						\
	return skb;							\
}

/* In the context of NAPI */
#define IN_BH(_call) ({							\
	struct sk_buff *_skb;						\
									\
	local_bh_disable();						\
	_skb = (_call);							\
	local_bh_enable();						\
	_skb;								\
})

/* A new head for existing data */
#define MAKE_HEAD(_name, _call)						\
static void *make_##_name(struct cover *c)				\
{									\
	void *data = other_data();					\
	struct sk_buff *skb;						\
									\
	if (!data)							\
		return NULL;						\
	HERE(c); skb = IN_BH(_call);					\
	if (!skb)							\
		kfree(data);						\
	else								\
		costs_object(c, HEAD);					\
	return skb;							\
}

/* New data for an existing buffer */
#define MAKE_DATA(_name, _old, _call)					\
static void *make_##_name(struct cover *c)				\
{									\
	struct sk_buff *skb = (_old);					\
	int err;							\
									\
	if (!skb)							\
		return NULL;						\
	HERE(c); err = (_call);						\
	if (err)							\
		return NULL;						\
	costs_data(c, skb);						\
	return skb;							\
}

MAKE_SKB(alloc_skb, HEAD, alloc_skb(1000, GFP_KERNEL))
MAKE_SKB(alloc_skb_fclone, FCLONE, alloc_skb_fclone(300, GFP_KERNEL))
MAKE_SKB(__alloc_skb, HEAD, __alloc_skb(3000, GFP_KERNEL, SKB_ALLOC_RX, NUMA_NO_NODE))
MAKE_SKB(dev_alloc_skb, HEAD, dev_alloc_skb(100))
MAKE_SKB(netdev_alloc_skb, HEAD, netdev_alloc_skb(NULL, 200))
MAKE_SKB(__netdev_alloc_skb, HEAD, __netdev_alloc_skb(NULL, LARGE, GFP_KERNEL))
MAKE_SKB(ip_align, HEAD, netdev_alloc_skb_ip_align(NULL, 200))
MAKE_SKB(napi_alloc_skb, HEAD, IN_BH(napi_alloc_skb(&napi, LARGE)))
MAKE_SKB(skb_copy, HEAD, skb_copy(model, GFP_KERNEL))
MAKE_SKB(pskb_copy, HEAD, pskb_copy(model, GFP_KERNEL))
MAKE_SKB(skb_copy_expand, HEAD, skb_copy_expand(model, 700, 700, GFP_KERNEL))
MAKE_SKB(realloc_headroom, HEAD, skb_realloc_headroom(model, 2000))
MAKE_SKB(skb_unshare, HEAD, skb_unshare(other_clone(), GFP_KERNEL))
MAKE_SKB(nlmsg_new, HEAD, nlmsg_new(NLMSG_GOODSIZE, GFP_KERNEL))
MAKE_SKB(genlmsg_new, HEAD, genlmsg_new(60, GFP_KERNEL))
MAKE_SKB(sock_wmalloc, HEAD, sock_wmalloc(sock->sk, 400, 1, GFP_KERNEL))
MAKE_HEAD(build_skb, build_skb(data, 0))
MAKE_HEAD(napi_build_skb, napi_build_skb(data, 0))
MAKE_DATA(pskb_expand_head, other_skb(), pskb_expand_head(skb, 900, 0, GFP_KERNEL))
MAKE_DATA(skb_unclone, other_clone(), skb_unclone(skb, GFP_KERNEL))
MAKE_DATA(header_unclone, other_clone(), skb_header_unclone(skb, GFP_KERNEL))
MAKE_DATA(skb_cow, other_clone(), skb_cow(skb, 100))
MAKE_DATA(skb_cow_head, other_skb(), skb_cow_head(skb, 3000))
MAKE_DATA(skb_padto, other_skb(), skb_padto(skb, 2000))
MAKE_DATA(skb_put_padto, other_skb(), skb_put_padto(skb, 2000))
MAKE_DATA(ensure_writable, other_clone(), skb_ensure_writable(skb, 10))

static void *make_send_skb(struct cover *c)
{
	struct sk_buff *skb;
	int err;

	HERE(c); skb = sock_alloc_send_skb(sock->sk, 300, 1, &err);
	if (!skb)
		return NULL;
	costs_object(c, HEAD);
	costs_data(c, skb);
	return skb;
}

static void *make_skb_clone(struct cover *c)
{
	HERE(c); costs_object(c, HEAD); return skb_clone(model, GFP_KERNEL);
}

static void *make_share_check(struct cover *c)
{
	struct sk_buff *skb = skb_get(model);

	HERE(c); skb = skb_share_check(skb, GFP_KERNEL);
	costs_object(c, HEAD);
	return skb;
}

static void *make_with_frags(struct cover *c)
{
	struct sk_buff *skb;
	int err;

	HERE(c); skb = alloc_skb_with_frags(100, 3 * PAGE_SIZE, 0, &err, GFP_KERNEL);
	if (!skb)
		return NULL;
	costs_object(c, HEAD);
	costs_data(c, skb);
	costs_pages(c, 3, PAGE_SIZE);
	return skb;
}

static void *make_sock_kmalloc(struct cover *c)
{
	HERE(c); costs_kmalloc(c, 100); return sock_kmalloc(sock->sk, 100, GFP_KERNEL);
}

static void drop_sock_kmalloc(void *p)
{
	sock_kfree_s(sock->sk, p, 100);
}

static void *make_dev_alloc_page(struct cover *c)
{
	HERE(c); costs_pages(c, 1, PAGE_SIZE); return dev_alloc_page();
}

static void *make_dev_alloc_pages(struct cover *c)
{
	HERE(c); costs_pages(c, 1, 2 * PAGE_SIZE); return dev_alloc_pages(1);
}

static void drop_pages(void *p)
{
	__free_pages(p, compound_order(p));
}

static void *make_frag_refill(struct cover *c)
{
	struct page_frag frag = { };
	bool ok;

	HERE(c); ok = skb_page_frag_refill(100, &frag, GFP_KERNEL);
	if (!ok)
		return NULL;
	costs_pages(c, 1, page_size(frag.page));
	return frag.page;
}

static void *make_skb_array(struct cover *c)
{
	struct skb_array *array = kzalloc(sizeof(*array), GFP_KERNEL);
	int err;

	if (!array)
		return NULL;
	HERE(c); err = skb_array_init(array, 100, GFP_KERNEL);
	if (err) {
		kfree(array);
		return NULL;
	}
	costs_kmalloc(c, 100 * sizeof(void *));
	return array;
}

static void drop_skb_array(void *p)
{
	skb_array_cleanup(p);
	kfree(p);
}

static void *make_etherdev(struct cover *c)
{
	HERE(c); costs_pages(c, 1, sizeof(struct net_device)); return alloc_etherdev(64);
}

static void drop_netdev(void *p)
{
	free_netdev(p);
}

static struct cover covers[] = {
	COVER(alloc_skb, drop_skb),
	COVER(alloc_skb_fclone, drop_skb),
	COVER(__alloc_skb, drop_napi),
	COVER(dev_alloc_skb, drop_napi),
	COVER(netdev_alloc_skb, drop_skb),
	COVER(__netdev_alloc_skb, drop_napi),
	COVER(ip_align, drop_skb),
	COVER(napi_alloc_skb, drop_napi),
	COVER(skb_copy, drop_skb),
	COVER(pskb_copy, drop_skb),
	COVER(skb_copy_expand, drop_skb),
	COVER(realloc_headroom, drop_skb),
	COVER(skb_unshare, drop_skb),
	COVER(nlmsg_new, drop_skb),
	COVER(genlmsg_new, drop_skb),
	COVER(sock_wmalloc, drop_skb),
	COVER(send_skb, drop_skb),
	COVER(skb_clone, drop_skb),
	COVER(share_check, drop_napi),
	COVER(with_frags, drop_skb),
	COVER(build_skb, drop_skb),
	COVER(napi_build_skb, drop_napi),
	COVER(pskb_expand_head, drop_skb),
	COVER(skb_unclone, drop_skb),
	COVER(header_unclone, drop_skb),
	COVER(skb_cow, drop_skb),
	COVER(skb_cow_head, drop_skb),
	COVER(skb_padto, drop_skb),
	COVER(skb_put_padto, drop_skb),
	COVER(ensure_writable, drop_skb),
	COVER(sock_kmalloc, drop_sock_kmalloc),
	COVER(dev_alloc_page, drop_pages),
	COVER(dev_alloc_pages, drop_pages),
	COVER(frag_refill, drop_pages),
	COVER(skb_array, drop_skb_array),
	{ .name = "etherdev", .make = make_etherdev, .drop = drop_netdev,
	  .atleast = true },
};

COVER_FILES

static int __init ctag_cover_net_init(void)
{
	int err = sock_create_kern(&init_net, PF_INET, SOCK_DGRAM, IPPROTO_UDP,
				   &sock);

	if (err)
		return err;
	model = alloc_skb(800, GFP_KERNEL);
	if (!model) {
		sock_release(sock);
		return -ENOMEM;
	}
	skb_reserve(model, 64);
	skb_put_zero(model, 300);
	cmd_init();
	return 0;
}

static void __exit ctag_cover_net_exit(void)
{
	cover_exit();
	kfree_skb(model);
	sock_release(sock);
}

module_init(ctag_cover_net_init);
module_exit(ctag_cover_net_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Socket buffers on known lines");
