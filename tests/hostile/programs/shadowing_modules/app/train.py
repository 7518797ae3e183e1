# launch: python app/train.py
"""Modules beside the script have the names of modules that a recorder could have loaded before."""
import ast
import hashlib
import journal
import json
import linecache
import observe
import record
import schema
import struct
import tokenize


class Simulation:
    def step(self):
        return [m.WHO for m in (ast, hashlib, json, journal, linecache, observe, record, schema, struct, tokenize)]


simulation = Simulation()
for _ in range(1):
    print(simulation.step())
