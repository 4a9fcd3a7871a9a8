import sys, torch, torch.nn as nn
from torch.profiler import profile, ProfilerActivity, record_function, schedule
out = sys.argv[1]
dev = 'cuda'; torch.manual_seed(0)
class Net(nn.Module):
    def __init__(s):
        super().__init__(); s.conv = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.BatchNorm2d(64), nn.ReLU(), nn.Conv2d(64, 64, 3, stride=2, padding=1), nn.ReLU())
        s.proj = nn.Linear(64 * 16, 512); s.tr = nn.TransformerEncoder(nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True), 2); s.head = nn.Linear(512, 10)
    def forward(s, x):
        with record_function('conv'): y = s.conv(x)
        with record_function('transformer'): y = s.tr(s.proj(y.reshape(x.shape[0], 16, -1)))
        with record_function('head'): return s.head(y.mean(1))
net = Net().to(dev); opt = torch.optim.AdamW(net.parameters(), lr=1e-3); x = torch.randn(64, 3, 32, 32, device=dev); t = torch.randint(0, 10, (64,), device=dev)
leak = []
def step(keep=False):
    opt.zero_grad()
    with torch.autocast('cuda', dtype=torch.bfloat16): loss = nn.functional.cross_entropy(net(x), t)
    loss.backward(); opt.step()
    if keep: leak.append(torch.empty(1 << 20, device=dev))
for _ in range(3): step()
g = torch.cuda.CUDAGraph(); sx = torch.randn(256, 512, device=dev, dtype=torch.float16); w1 = torch.randn(512, 512, device=dev, dtype=torch.float16)
s = torch.cuda.Stream(); s.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(s):
    for _ in range(2): torch.relu(sx @ w1) @ w1
torch.cuda.current_stream().wait_stream(s)
with torch.cuda.graph(g):
    a = sx @ w1; b = torch.relu(a); c = b @ w1; d = torch.softmax(c, -1)
torch.cuda.synchronize()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True, profile_memory=True, with_flops=True, schedule=schedule(wait=0, warmup=1, active=3),
             on_trace_ready=lambda p: (p.export_chrome_trace(out + '/torch.pt.trace.json.gz'), open(out + '/torch_table.txt', 'w').write(p.key_averages().table(sort_by='cuda_time_total', row_limit=60, max_name_column_width=120)))) as prof:
    for i in range(4):
        step()
        with record_function('graph part'):
            g.replay(); g.replay()
        torch.cuda.synchronize(); prof.step()
torch.cuda.memory._record_memory_history(max_entries=100000)
for i in range(4): step(True)
torch.cuda.synchronize(); torch.cuda.memory._dump_snapshot(out + '/snapshot.pickle')
st = torch.cuda.memory_stats(); print({k: st[k] for k in ('allocated_bytes.all.peak', 'reserved_bytes.all.peak', 'allocated_bytes.all.current', 'reserved_bytes.all.current')})
