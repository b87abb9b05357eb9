"""What is raised where this machine lacks something that guests take: the text says what, and what to do."""


class Missing(Exception):
    pass
