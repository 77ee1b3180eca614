"""What users type, checked: tables, errors, labels, weights."""
