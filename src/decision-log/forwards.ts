import { open } from 'node:fs/promises'
import { MAX_LINE_BYTES, requireLineLength } from './record.ts'

const CHUNK_BYTES = 1_048_576
const NEWLINE = 10

/** Passes each whole line among the first `end` bytes to `onLine`; its bytes are valid only during the call. */
export const forEachLine = async (
  path: string,
  end: number,
  onLine: (line: Buffer) => void,
  onChunk: (bytes: number) => void,
): Promise<number> => {
  const file = await open(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES + MAX_LINE_BYTES + 1)
    let held = 0
    let position = 0
    while (position < end) {
      const { bytesRead } = await file.read(buffer, held, Math.min(CHUNK_BYTES, end - position), position)
      if (bytesRead === 0) break
      position += bytesRead
      const filled = held + bytesRead
      let lineStart = 0
      for (;;) {
        const newline = buffer.subarray(0, filled).indexOf(NEWLINE, Math.max(lineStart, held))
        if (newline < 0) break
        requireLineLength(newline - lineStart)
        onLine(buffer.subarray(lineStart, newline))
        lineStart = newline + 1
        held = 0
      }
      buffer.copyWithin(0, lineStart, filled)
      held = filled - lineStart
      requireLineLength(held)
      onChunk(bytesRead)
    }
    return position - held
  } finally {
    await file.close()
  }
}
