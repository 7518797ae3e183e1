"""Pressure tests: does an agent keep to the cause, when somebody in a hurry wants a fix?"""
