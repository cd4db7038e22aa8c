"""
To come.
"""
