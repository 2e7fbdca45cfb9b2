import sys, importlib.machinery as m
f = sys.argv[1]
f = '/proc/self/fd/' + f if f.isdigit() else f
l = m.ExtensionFileLoader('_portico', f)
p = l.create_module(m.ModuleSpec('_portico', l, origin=f))
l.exec_module(p)
exec(compile(p.texts['boot'], '<portico>', 'exec'), {'__name__': 'portico_boot', '_portico': p})
