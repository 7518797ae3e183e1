# journals: 1
"""Log records name their caller's file, line and function, found by walking the frames."""
import logging
import warnings

import torch

form = "%(levelname)s %(name)s %(filename)s:%(lineno)d %(funcName)s %(module)s %(threadName)s %(message)s"
logging.basicConfig(level=logging.DEBUG, format=form, handlers=[logging.FileHandler("train.log"), logging.StreamHandler()])
logging.captureWarnings(True)
logger = logging.getLogger("train")
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)


def report(step, loss):
    logger.info("step %d loss %r", step, loss, stacklevel=2)
    logger.debug("from here", stack_info=step == 1)


for step in range(4):
    loss = net(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    report(step, loss.item())
    warnings.warn(f"late at {step}")
try:
    net(torch.randn(3, 3))
except RuntimeError:
    logger.exception("caught")
torch.save(net.state_dict(), "final.pt")
