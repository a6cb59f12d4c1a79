"""How fast can LeNet train once you apply everything?"""
