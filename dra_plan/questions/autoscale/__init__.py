"""In which order nodes can be drained and given back."""
