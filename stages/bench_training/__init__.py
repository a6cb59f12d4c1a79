"""How fast can the notes' loop become?"""
