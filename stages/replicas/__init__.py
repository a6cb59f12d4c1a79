"""Do replicas stay one network?"""
