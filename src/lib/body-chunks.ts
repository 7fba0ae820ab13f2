// The chunks in which a body arrives. Each costs microseconds, whatever its size, and the sender chooses the sizes.

const CHUNKS_FREE = 1_000
const CHUNK_BYTES_MIN = 256

/** Whether a body arrives in more chunks than its bytes are worth. */
export const isFragmented = (chunks: number, bytes: number): boolean => chunks > CHUNKS_FREE + bytes / CHUNK_BYTES_MIN
