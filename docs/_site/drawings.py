def setup(app):
    pass
