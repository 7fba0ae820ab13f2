// Format for large data on standard input and output: one line of JSON that describes the bytes, then the bytes.
const NEWLINE = 10

export const withHead = (head: unknown, pieces: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...pieces])

/** @throws SyntaxError if the first line isn't JSON */
export const headOf = <Memory extends ArrayBufferLike>(
  bytes: Uint8Array<Memory>,
): { readonly head: unknown; readonly rest: Uint8Array<Memory> } => {
  const end = bytes.indexOf(NEWLINE)
  return { head: JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))), rest: bytes.subarray(end + 1) }
}
