"""What limits a network: arithmetic or memory?"""
