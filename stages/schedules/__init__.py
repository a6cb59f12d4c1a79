"""What does a learning-rate schedule buy?"""
