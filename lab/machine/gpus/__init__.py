"""What only GPUs have: a driver, errors of their own, work that is recorded."""
