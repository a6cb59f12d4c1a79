"""What makes your own network train faster?"""
