import json,sys,subprocess
T='trodden'
def keys(d):
    t=d['contexts']['tree']; out=[]
    for i,n in enumerate(t):
        k=(n['class'],n['name'],n['descriptor'],(n.get('site') or {}).get('bci'))
        p=n['parent']; out.append((out[p] if p is not None else ())+(k,))
    return out
for a in sys.argv[1:]:
    for x in 'eb': subprocess.run([T,'report','%s-%s.trodden'%(a,x),'--format','json','--phi','0.0001','--top','1000000','-o','%s%s.json'%(a,x)])
    e=json.load(open(a+'e.json')); b=json.load(open(a+'b.json'))
    ke=keys(e); kb=keys(b); te=e['contexts']['tree']; tb=b['contexts']['tree']; N=e['contexts']['calls']; M=b['contexts']['calls']
    ce={k:(n['calls'] or 0) for k,n in zip(ke,te)}; cb={k:(n['calls'] or 0) for k,n in zip(kb,tb)}
    hot=[k for k in ce if ce[k]>=1e-4*N]; anc={k[:i] for k in hot for i in range(1,len(k)+1)}
    ideal=sum(ce.get(k,0) for k in anc)/N
    print(a,'N',N,'nodes in json',len(te),'hot',len(hot),'hot part of exact has %.2f%%'%(100*ideal),'bursts have (of these) %.2f%%'%(100*sum(ce.get(k,0) for k in set(kb)&anc)/N), 'relative %.2f%%'%(100*sum(ce.get(k,0) for k in set(kb)&anc)/N/ideal),'weights overlap %.2f%%'%(100*sum(min(ce[k]/N,cb.get(k,0)/M) for k in anc)/ideal))
