/* A message from one queue pair to another, with the verbs API as on any NIC: both queue pairs are of this process, so that no second
 * program is needed. Build and run:
 *   gcc -o build/write host-driver/examples/write.c -libverbs && mrnic run -- build/write
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 65536

static void need(int good, const char *what)
{
    if (!good) {
        perror(what);
        exit(1);
    }
}

/* RESET to RTS, connected with queue pair `peer` of the port with address `gid`. */
static void connect_qp(struct ibv_qp *qp, const union ibv_gid *gid, uint32_t peer)
{
    struct ibv_qp_attr init = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };
    need(!ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
    struct ibv_qp_attr rtr = { .qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_4096, .dest_qp_num = peer, .rq_psn = 1,
                               .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
                               .ah_attr = { .is_global = 1, .grh = { .dgid = *gid, .hop_limit = 64 }, .port_num = 1 } };
    need(!ibv_modify_qp(qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), "RTR");
    struct ibv_qp_attr rts = { .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .sq_psn = 1, .max_rd_atomic = 1 };
    need(!ibv_modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                      IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
}

int main(void)
{
    int count = 0;
    struct ibv_device **devices = ibv_get_device_list(&count);
    need(devices && count > 0, "device list");
    struct ibv_context *context = ibv_open_device(devices[0]);
    need(context != NULL, "open");
    struct ibv_pd *pd = ibv_alloc_pd(context);
    struct ibv_cq *cq = ibv_create_cq(context, 16, NULL, NULL, 0);
    char *from = malloc(BYTES), *to = calloc(1, BYTES);
    need(pd && cq && from && to, "objects");
    memset(from, 0xa5, BYTES);
    struct ibv_mr *source = ibv_reg_mr(pd, from, BYTES, 0);
    struct ibv_mr *target = ibv_reg_mr(pd, to, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    need(source && target, "memory regions");

    struct ibv_qp_init_attr attr = { .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .sq_sig_all = 1,
                                     .cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 } };
    struct ibv_qp *a = ibv_create_qp(pd, &attr), *b = ibv_create_qp(pd, &attr);
    need(a && b, "queue pairs");
    union ibv_gid gid;
    need(!ibv_query_gid(context, 1, 0, &gid), "GID");
    connect_qp(a, &gid, b->qp_num);
    connect_qp(b, &gid, a->qp_num);

    struct ibv_sge sge = { .addr = (uintptr_t)from, .length = BYTES, .lkey = source->lkey };
    struct ibv_send_wr wr = { .wr_id = 1, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
                              .wr.rdma = { .remote_addr = (uintptr_t)to, .rkey = target->rkey } }, *bad;
    need(!ibv_post_send(a, &wr, &bad), "post");
    struct ibv_wc wc;
    int polled;
    while ((polled = ibv_poll_cq(cq, 1, &wc)) == 0)
        ;
    need(polled == 1, "poll");
    if (wc.status != IBV_WC_SUCCESS || memcmp(from, to, BYTES)) {
        fprintf(stderr, "the message did not arrive: %s\n", ibv_wc_status_str(wc.status));
        return 1;
    }
    printf("%d bytes written by %s\n", BYTES, ibv_get_device_name(devices[0]));
    ibv_destroy_qp(a);
    ibv_destroy_qp(b);
    ibv_dereg_mr(source);
    ibv_dereg_mr(target);
    ibv_destroy_cq(cq);
    ibv_dealloc_pd(pd);
    ibv_close_device(context);
    ibv_free_device_list(devices);
    free(from);
    free(to);
    return 0;
}
