"""Members on other machines."""
