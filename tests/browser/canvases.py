"""What can be asked of a canvas that a test has on the page."""

# How many colours are on it.
PAINTED = """canvas => {
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  const seen = new Set();
  for (let at = 0; at < data.length; at += 4) if (data[at + 3]) seen.add(`${data[at]},${data[at + 1]},${data[at + 2]}`);
  return seen.size;
}"""
