"""What runs inside of the sealed child: the only part of the check that imports torch."""
