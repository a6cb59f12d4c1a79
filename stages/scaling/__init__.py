"""What does an all-reduce cost a step, and what hides it?"""
