import sys

sys.started_by.append("usercustomize")
