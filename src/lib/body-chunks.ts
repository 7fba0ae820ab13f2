// Limits the number of chunks of a request body. Each chunk costs microseconds regardless of its size, and the sender
// chooses the sizes.

const CHUNKS_FREE = 1_000
const CHUNK_BYTES_MIN = 256

export const isFragmented = (chunks: number, bytes: number): boolean => chunks > CHUNKS_FREE + bytes / CHUNK_BYTES_MIN
