"""pytest: a failing test gets a diagnosis, and a marked one limits on its gradients and on what outlives it."""
