"""Which members of a class have a place in the reference: public ones that the package itself defines."""


def _is_foreign(member) -> bool:
    function = getattr(member, "__func__", getattr(member, "fget", None) or member)
    return not (getattr(function, "__module__", None) or "probforest").startswith("probforest")


def _skip(app, what, name, member, skip, options):
    return True if name.startswith("_") or _is_foreign(member) else None


def setup(app):
    app.connect("autodoc-skip-member", _skip)
