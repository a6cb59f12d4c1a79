"""Does compiling make a network faster, and when does it pay off?"""
