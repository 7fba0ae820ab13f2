// What processes send over standard input and output when it is large: one line of JSON that describes the bytes, then
// the bytes.
const NEWLINE = 10

export const withHead = (head: unknown, pieces: readonly Uint8Array[]): Uint8Array =>
  Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...pieces])

/** @throws SyntaxError when the first line is not JSON */
export const headOf = <Memory extends ArrayBufferLike>(
  bytes: Uint8Array<Memory>,
): { readonly head: unknown; readonly rest: Uint8Array<Memory> } => {
  const end = bytes.indexOf(NEWLINE)
  return { head: JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))), rest: bytes.subarray(end + 1) }
}
