"""A message from one queue pair to another with pyverbs (python3-pyverbs), both of this process. Run it with

    mrnic run -- /usr/bin/python3 host-driver/examples/write.py
"""
import pyverbs.enums as e
from pyverbs.addr import AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context, get_device_list
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, SendWR

BYTES = 65536

name = get_device_list()[0].name.decode()
context = Context(name=name)
pd = PD(context)
cq = CQ(context, 16)
source = MR(pd, BYTES, 0)
target = MR(pd, BYTES, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE)
source.write(b"\xa5" * BYTES, BYTES)

cap = QPCap(max_send_wr=4, max_recv_wr=4, max_send_sge=1, max_recv_sge=1)
a, b = (QP(pd, QPInitAttr(qp_type=e.IBV_QPT_RC, scq=cq, rcq=cq, cap=cap, sq_sig_all=1)) for _ in range(2))
for qp, peer in ((a, b), (b, a)):
    attr = QPAttr(port_num=1)
    attr.qp_access_flags = e.IBV_ACCESS_REMOTE_WRITE
    attr.path_mtu = e.IBV_MTU_4096
    attr.dest_qp_num = peer.qp_num
    attr.max_dest_rd_atomic = attr.max_rd_atomic = 1
    attr.min_rnr_timer = 12
    attr.timeout, attr.retry_cnt, attr.rnr_retry = 14, 7, 7
    route = GlobalRoute(dgid=context.query_gid(1, 0), sgid_index=0, hop_limit=64)
    attr.ah_attr = AHAttr(gr=route, is_global=1, port_num=1)
    qp.to_rts(attr)

wr = SendWR(1, opcode=e.IBV_WR_RDMA_WRITE, num_sge=1, sg=[SGE(source.buf, BYTES, source.lkey)])
wr.set_wr_rdma(target.rkey, target.buf)
a.post_send(wr)
count = 0
while count == 0:
    count, completions = cq.poll()
assert completions[0].status == e.IBV_WC_SUCCESS, completions[0]
assert target.read(BYTES, 0) == b"\xa5" * BYTES
print(f"{BYTES} bytes written by {name}")
