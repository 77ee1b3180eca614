"""Grown trees and what they are grown on."""
