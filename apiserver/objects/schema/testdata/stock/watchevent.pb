
ADDED
{}