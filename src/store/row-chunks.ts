/** Rows per statement, so that few different texts are prepared. */
const CHUNKS = [64, 16, 4, 1] as const

/** Splits rows, in order, for statements that take several rows at once. */
export const chunkRows = <Row>(rows: readonly Row[]): readonly Row[][] => {
  const chunks: Row[][] = []
  let start = 0
  for (const size of CHUNKS) {
    while (rows.length - start >= size) {
      chunks.push(rows.slice(start, start + size))
      start += size
    }
  }
  return chunks
}
