"""The compiled inner loops. They trust their arguments and never raise; everything is checked before."""
