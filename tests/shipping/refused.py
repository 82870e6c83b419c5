"""Why there is no archive."""


class Refused(Exception):
    """The text says what was wrong, and what to do."""
