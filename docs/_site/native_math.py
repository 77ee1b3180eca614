"""Equations as MathML, which browsers draw themselves: no script from elsewhere is loaded."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def _inline(translator, node):
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _block(translator, node):
    translator.body.append(f'<div class="equation">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("native", inline_renderers=(_inline, None), block_renderers=(_block, None))
