import json,sys
def load(f):
    d=json.load(open(f))['subpaths']; out={}
    def ex(steps):
        r=[]
        for s in steps:
            if 'times' in s: r+=ex(s['steps'])*s['times']
            else: r.append((s['class'],s['method'],s['descriptor'],s['bci']))
        return r
    for s in d['subpaths']:
        b=ex(s['steps'])
        if len(b)!=s['length']: continue
        k=min(tuple(b[i:]+b[:i]) for i in range(len(b)))
        out[k]=out.get(k,0)+s['share']
    return d,out
de,e=load(sys.argv[1]); ds,s=load(sys.argv[2])
tope=sorted(e,key=e.get,reverse=True)[:10]; tops=sorted([k for k in s],key=s.get,reverse=True)[:10]
print(sys.argv[3],'blocks seen %.2fM of %.1fM'%(ds['blocks']/1e6,de['blocks']/1e6),'ten in common',len(set(tope)&set(tops)),'in exact top20',len(set(sorted(e,key=e.get,reverse=True)[:20])&set(tops)), 'first four err', ' '.join('%+.0f%%'%(100*(s.get(k,0)/e[k]-1)) for k in tope[:4]))
