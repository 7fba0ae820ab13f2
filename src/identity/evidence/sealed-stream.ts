// Encrypts documents in chunks (STREAM with AES-256-GCM). Each nonce contains the chunk's number and whether it is the
// last, so changes, reordering and truncation are detected. Source: Hoang, Reyhanitabar, Rogaway, Vizár, "Online
// Authenticated-Encryption and its Nonce-Reuse Misuse-Resistance", §8.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { EvidenceUnreadableError } from './errors.ts'

/** Format identifier, authenticated with every chunk. */
const MAGIC = Buffer.from('CSE1')
const PREFIX_BYTES = 7
const HEADER_BYTES = MAGIC.length + PREFIX_BYTES
const TAG_BYTES = 16
export const CHUNK_BYTES = 65_536
const COUNTER_MAX = 2 ** 32 - 1

const nonceOf = (header: Uint8Array, counter: number, last: boolean): Uint8Array => {
  if (counter > COUNTER_MAX) throw new RangeError('too many chunks for one key')
  const nonce = Buffer.alloc(12)
  nonce.set(header.subarray(MAGIC.length))
  nonce.writeUInt32BE(counter, PREFIX_BYTES)
  nonce[11] = last ? 1 : 0
  return nonce
}

/** All pieces have `size` bytes except the last. An empty source yields one empty piece. */
async function* inPieces(source: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<[Uint8Array, boolean]> {
  let pending: Uint8Array[] = []
  let length = 0
  for await (const bytes of source) {
    pending.push(bytes)
    length += bytes.length
    if (length <= size) continue
    const joined = Buffer.concat(pending, length)
    let start = 0
    for (; length - start > size; start += size) yield [joined.subarray(start, start + size), false]
    pending = [joined.subarray(start)]
    length -= start
  }
  yield [Buffer.concat(pending, length), true]
}

/** Yields header (11) ‖ chunk ‖ tag (16) ‖ … Use each key for one stream only. */
export async function* sealStream(
  key: Uint8Array,
  source: AsyncIterable<Uint8Array>,
  context: string,
): AsyncGenerator<Uint8Array> {
  const header = Buffer.concat([MAGIC, randomBytes(PREFIX_BYTES)])
  const authenticated = Buffer.concat([header, Buffer.from(context)])
  yield header
  let counter = 0
  for await (const [piece, last] of inPieces(source, CHUNK_BYTES)) {
    const cipher = createCipheriv('aes-256-gcm', key, nonceOf(header, counter++, last))
    cipher.setAAD(authenticated)
    yield Buffer.concat([cipher.update(piece), cipher.final(), cipher.getAuthTag()])
  }
}

const openPiece = (key: Uint8Array, nonce: Uint8Array, authenticated: Uint8Array, piece: Uint8Array): Uint8Array => {
  if (piece.length < TAG_BYTES) throw new EvidenceUnreadableError()
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAAD(authenticated)
  decipher.setAuthTag(piece.subarray(piece.length - TAG_BYTES))
  try {
    const plaintext = decipher.update(piece.subarray(0, piece.length - TAG_BYTES))
    decipher.final()
    return plaintext
  } catch (error) {
    throw new EvidenceUnreadableError(error)
  }
}

const splitHeader = async (source: AsyncIterable<Uint8Array>) => {
  const iterator = source[Symbol.asyncIterator]()
  let head: Uint8Array = new Uint8Array()
  while (head.length < HEADER_BYTES) {
    const { done, value } = await iterator.next()
    if (done === true) throw new EvidenceUnreadableError()
    head = Buffer.concat([head, value])
  }
  if (!MAGIC.equals(head.subarray(0, MAGIC.length))) {
    await iterator.return?.()
    throw new EvidenceUnreadableError()
  }
  async function* rest(): AsyncGenerator<Uint8Array> {
    try {
      yield head.subarray(HEADER_BYTES)
      for (;;) {
        const { done, value } = await iterator.next()
        if (done === true) return
        yield value
      }
    } finally {
      await iterator.return?.()
    }
  }
  return { header: head.subarray(0, HEADER_BYTES), rest: rest() }
}

/** A reader that stops early can't know whether the data is complete. @throws EvidenceUnreadableError */
export async function* openStream(
  key: Uint8Array,
  source: AsyncIterable<Uint8Array>,
  context: string,
): AsyncGenerator<Uint8Array> {
  const { header, rest } = await splitHeader(source)
  const authenticated = Buffer.concat([header, Buffer.from(context)])
  let counter = 0
  for await (const [piece, last] of inPieces(rest, CHUNK_BYTES + TAG_BYTES)) {
    const plaintext = openPiece(key, nonceOf(header, counter++, last), authenticated, piece)
    if (plaintext.length > 0) yield plaintext
  }
}

export const collect = async (source: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const pieces: Uint8Array[] = []
  for await (const piece of source) pieces.push(piece)
  return Buffer.concat(pieces)
}
