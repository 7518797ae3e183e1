# slow
# journals: 1
"""C code that asks the interpreter for __main__ finds the script's own namespace."""
import ctypes
import sys

import torch

api = ctypes.pythonapi
api.PyImport_AddModule.restype = api.PyModule_GetDict.restype = ctypes.py_object
api.PyModule_GetDict.argtypes = [ctypes.py_object]
api.PyEval_GetGlobals.restype = ctypes.py_object
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(3):
    main = api.PyImport_AddModule(b"__main__")
    names = api.PyModule_GetDict(main)
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(names["step"], names is globals(), main is sys.modules["__main__"], sorted(names))
api.PyRun_SimpleString(b"print('from C', step, repr(loss.item()), __name__); added = 1")
print(added, main.added, __import__("__main__") is main, sys._getframe().f_globals is names)
