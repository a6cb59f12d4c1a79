"""Which sentences of the notes hold on this machine?"""
